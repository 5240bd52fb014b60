"""Helion's kernels, which it writes as Triton, and Liger's, which are Triton: on tensors made on the host, compared
with torch on the host."""

import unittest

import helion
import helion.language as hl
import torch
from liger_kernel.ops.geglu import LigerGELUMulFunction
from liger_kernel.ops.softmax import LigerSoftmaxFunction
from liger_kernel.ops.swiglu import LigerSiLUMulFunction


@helion.kernel(config=helion.Config(block_sizes=[16, 32]))
def sine(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    out = torch.empty_like(x)
    for tile in hl.tile(x.size()):
        out[tile] = x[tile] * 2 + torch.sin(y[tile])
    return out


@helion.kernel(config=helion.Config(block_sizes=[16, 16, 16]))
def product(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    m, k = x.size()
    k, n = y.size()
    out = torch.empty([m, n], dtype=x.dtype, device=x.device)
    for tile_m, tile_n in hl.tile([m, n]):
        sums = hl.zeros([tile_m, tile_n], dtype=torch.float32)
        for tile_k in hl.tile(k):
            sums = torch.addmm(sums, x[tile_m, tile_k], y[tile_k, tile_n])
        out[tile_m, tile_n] = sums
    return out


@helion.kernel(config=helion.Config(block_sizes=[1]))
def softmax(x: torch.Tensor) -> torch.Tensor:
    n, _ = x.size()
    out = torch.empty_like(x)
    for tile in hl.tile(n):
        out[tile, :] = torch.nn.functional.softmax(x[tile, :], dim=1)
    return out


class Programs(unittest.TestCase):
    def setUp(self):
        torch.manual_seed(0)

    def compare(self, found, wanted, atol=1e-5):
        torch.testing.assert_close(found.detach().cpu(), wanted.detach(), atol=atol, rtol=1e-5)

    def with_gradients(self, function, wanted, *arguments):
        device = [each.cuda().requires_grad_() for each in arguments]
        host = [each.clone().requires_grad_() for each in arguments]
        found, expected = function(*device), wanted(*host)
        self.compare(found, expected)
        gradient = torch.randn_like(expected)
        found.backward(gradient.cuda())
        expected.backward(gradient)
        for mine, theirs in zip(device, host):
            self.compare(mine.grad, theirs.grad)

    def test_helion(self):
        x, y = torch.randn(70, 90), torch.randn(70, 90)
        self.compare(sine(x.cuda(), y.cuda()), 2 * x + y.sin())
        self.compare(softmax(x.cuda()), x.softmax(1))
        self.compare(product(x.cuda(), y.T.contiguous().cuda()), x @ y.T, atol=0.1)  # of numbers rounded to TF32

    def test_liger(self):
        x, y = torch.randn(6, 7, 256), torch.randn(6, 7, 256)
        functional = torch.nn.functional
        self.with_gradients(LigerSiLUMulFunction.apply, lambda a, b: functional.silu(a) * b, x, y)
        self.with_gradients(LigerGELUMulFunction.apply, lambda a, b: functional.gelu(a, approximate="tanh") * b, x, y)
        self.with_gradients(LigerSoftmaxFunction.apply, lambda a: a.softmax(-1), x)


if __name__ == "__main__":
    unittest.main()
