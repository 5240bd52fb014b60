"""torch.compile: what Inductor makes Triton kernels of, compared with torch on the host. Tensors are made on the host
and copied, for torch's own kernels are machine code alone."""

import unittest

import torch


class Compiled(unittest.TestCase):
    def check(self, function, *shapes, **tolerances):
        torch.manual_seed(1)
        host = [torch.rand(shape) + 0.1 for shape in shapes]
        found = torch.compile(function)(*(each.cuda() for each in host))
        torch.testing.assert_close(found.cpu(), function(*host), **(tolerances or {"rtol": 1e-4, "atol": 1e-5}))

    def test_pointwise(self):
        self.check(lambda x, y: torch.sin(x) * y + torch.exp(-x).sqrt(), (1000, 37), (1000, 37))

    def test_broadcasts(self):
        self.check(lambda x, y: torch.where(x > y, x, y * 2).relu(), (300, 40), (40,))

    def test_sum(self):
        self.check(lambda x: x.sum(1), (64, 1500))

    def test_largest(self):
        self.check(lambda x: x.amax(0), (1500, 64))

    def test_softmax(self):
        self.check(lambda x: torch.softmax(x, -1), (64, 1000))

    def test_layer_norm(self):
        self.check(lambda x, w, b: torch.nn.functional.layer_norm(x, (512,), w, b), (64, 512), (512,), (512,))

    def test_scan(self):
        self.check(lambda x: torch.cumsum(x, 1), (16, 1000), rtol=1e-3, atol=1e-3)

    def test_gelu(self):
        self.check(lambda x: torch.nn.functional.gelu(x, approximate="tanh"), (5000,))

    def test_transpose(self):
        self.check(lambda x: (x.t() + 1).contiguous(), (100, 130))


if __name__ == "__main__":
    unittest.main()
