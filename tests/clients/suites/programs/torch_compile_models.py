"""torch.compile on parts of models, forward and backward, in several types, compared with torch on the host: what
Inductor makes Triton kernels of (torch's own kernels and cuBLAS are machine code alone)."""

import unittest

import torch
import torch.nn.functional as F


def to_device(values):
    return [each.cuda() if isinstance(each, torch.Tensor) else each for each in values]


class Compiled(unittest.TestCase):
    def setUp(self):
        torch.manual_seed(1)
        torch._dynamo.reset()

    def check(self, function, *inputs, rtol=1e-4, atol=1e-5, **how):
        found = torch.compile(function, **how)(*to_device(inputs))
        wanted = function(*inputs)
        pairs = zip(found, wanted, strict=True) if isinstance(wanted, tuple) else [(found, wanted)]
        for one, other in pairs:
            torch.testing.assert_close(one.cpu(), other, rtol=rtol, atol=atol)

    def check_gradients(self, function, *inputs, rtol=1e-4, atol=1e-5):
        """Of all inputs, from a gradient that is made on the host."""

        def gradients(place, run):
            mine = [each.detach().to(place).requires_grad_() for each in inputs]
            out = run(*mine)
            return out, torch.autograd.grad(out, mine, grad_outputs=given.to(place))

        given = torch.randn_like(function(*inputs))
        found, of_inputs = gradients("cuda", torch.compile(function))
        wanted, wanted_of_inputs = gradients("cpu", function)
        for one, other in zip((found, *of_inputs), (wanted, *wanted_of_inputs), strict=True):
            torch.testing.assert_close(one.detach().cpu(), other.detach(), rtol=rtol, atol=atol)

    def test_root_mean_square_norm(self):
        def norm(x, w):
            return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + 1e-6) * w

        self.check_gradients(norm, torch.randn(40, 256), torch.randn(256))

    def test_layer_norm_backward(self):
        def norm(x, w, b):
            return F.layer_norm(x, (300,), w, b)

        self.check_gradients(norm, torch.randn(32, 300), torch.randn(300), torch.randn(300), rtol=1e-3, atol=1e-4)

    def test_softmax_backward(self):
        self.check_gradients(lambda x: torch.log_softmax(x, -1), torch.randn(20, 1000))

    def test_activations_backward(self):
        def gated(x, y):
            return F.silu(x) * y + F.gelu(y) - F.softplus(x) + F.leaky_relu(x, 0.1) * torch.tanh(y)

        self.check_gradients(gated, torch.randn(33, 77), torch.randn(33, 77))

    def test_cross_entropy(self):
        def loss(x, target):  # F.cross_entropy makes a scalar by a kernel of torch's own
            return -torch.log_softmax(x, -1).gather(1, target.unsqueeze(1)).squeeze(1)

        self.check(loss, torch.randn(50, 300), torch.randint(0, 300, (50,)))

    def test_rotary_embedding(self):
        def rotate(x, cos, sin):
            first, second = x.chunk(2, -1)
            return x * cos + torch.cat((-second, first), -1) * sin

        self.check(rotate, torch.randn(2, 4, 30, 64), torch.randn(30, 64), torch.randn(30, 64))

    def test_embedding(self):
        self.check(lambda w, i: F.embedding(i, w) * 2, torch.randn(100, 48), torch.randint(0, 100, (7, 30)))

    def test_batch_norm_and_pooling(self):
        def part(x, mean, variance, w, b):
            x = F.relu(F.batch_norm(x, mean, variance, w, b))
            return F.max_pool2d(x, 2), F.avg_pool2d(x, 3, 2)

        numbers = torch.randn(8), torch.rand(8) + 0.5, torch.randn(8), torch.randn(8)
        self.check(part, torch.randn(2, 8, 16, 20), *numbers)

    def test_resizing_and_padding(self):
        def part(x):
            return F.interpolate(x, scale_factor=2, mode="nearest"), F.pad(x, (1, 2, 3, 0), mode="reflect"), x.flip(-1)

        self.check(part, torch.randn(2, 3, 9, 12))

    def test_reductions_of_every_kind(self):
        def part(x):
            variance, mean = torch.var_mean(x, 1)
            return variance, mean, x.argmax(1), x.argmin(1), x.amin((0, 1)), x.prod(1), (x > 1).any(1), (x > -9).all(0)

        self.check(part, torch.randn(40, 333) * 0.2 + 1, rtol=1e-3)

    def test_reductions_over_everything(self):
        self.check(lambda x: (x.sum(), x.square().mean().sqrt(), x.max()), torch.randn(300, 1000), rtol=1e-3, atol=1e-2)

    def test_scans(self):
        self.check(
            lambda x: (x.cumsum(0), torch.logcumsumexp(x, 1), x.cumprod(1)), torch.rand(64, 200), rtol=1e-3, atol=1e-3
        )

    def test_indexing(self):
        def part(x, rows, columns):
            return x[rows][:, columns], torch.gather(x, 1, columns.expand(x.shape[0], -1)), x.index_select(0, rows)

        self.check(part, torch.randn(50, 60), torch.randint(0, 50, (20,)), torch.randint(0, 60, (9,)))

    def test_scattering(self):
        def part(x, rows, values):
            return torch.index_add(x, 0, rows, values), torch.index_put(x, (rows,), values, accumulate=True)

        self.check(part, torch.zeros(30, 40), torch.randint(0, 30, (100,)), torch.randn(100, 40))

    def test_masks_and_triangles(self):
        def part(x, i):  # torch.tril makes a scalar by a kernel of torch's own
            lower = i[:, None] >= i[None, :]
            return torch.where(lower, x, x * 0.5), torch.where(lower & (x > 0.5), x, -x), x.roll(3, 1)

        self.check(part, torch.randn(60, 60), torch.arange(60))

    def test_integers_and_bits(self):
        def part(x, y):
            return x // 7 + y % 5, (x & y) ^ (x << 2), x.to(torch.int8), torch.bitwise_not(y) >> 1, x.clamp(-10, 10) * y

        self.check(part, torch.randint(-(10**6), 10**6, (999,)), torch.randint(1, 100, (999,)))

    def test_half_types(self):
        for kind in (torch.float16, torch.bfloat16):
            torch._dynamo.reset()
            inputs = torch.randn(64, 256).to(kind), torch.randn(256).to(kind)
            self.check(lambda x, w: torch.softmax(x.float() * w, -1).to(x.dtype) + x, *inputs, rtol=2e-2, atol=2e-2)

    def test_float8(self):
        def round_trip(x):
            scale = x.abs().amax() / 448
            return (x / scale).to(torch.float8_e4m3fn).to(torch.float32) * scale

        self.check(round_trip, torch.randn(64, 128), rtol=0.07, atol=1e-2)

    def test_doubles(self):
        def part(x, y):
            return torch.erf(x) + torch.lgamma(y) * torch.atan2(x, y) - torch.expm1(x).log1p() + y.pow(1.3)

        self.check(part, torch.rand(500, dtype=torch.float64), torch.rand(500, dtype=torch.float64) + 1, rtol=1e-9)

    def test_attention_of_pieces(self):
        """Products that Inductor writes as sums, since their shapes are small."""

        def attention(q, k, v):
            scores = (q.unsqueeze(-2) * k.unsqueeze(-3)).sum(-1) / 4
            return (torch.softmax(scores, -1).unsqueeze(-1) * v.unsqueeze(-3)).sum(-2)

        self.check(attention, torch.randn(4, 24, 16), torch.randn(4, 24, 16), torch.randn(4, 24, 16))

    def test_shapes_that_change(self):
        compiled = torch.compile(lambda x: F.relu(x).sum(-1) * 2, dynamic=True)
        for rows, columns in ((5, 100), (17, 33), (64, 257)):
            x = torch.randn(rows, columns)
            torch.testing.assert_close(compiled(x.cuda()).cpu(), F.relu(x).sum(-1) * 2, rtol=1e-4, atol=1e-4)

    def test_an_optimizer_step(self):
        def adam(p, g, m, v):
            m, v = m * 0.9 + g * 0.1, v * 0.999 + g * g * 0.001
            return p - 0.01 * (m / 0.1) / ((v / 0.001).sqrt() + 1e-8), m, v

        self.check(adam, torch.randn(4097), torch.randn(4097), torch.zeros(4097), torch.zeros(4097))

    def test_kernels_of_the_users(self):
        """A kernel in Triton inside what is compiled."""
        import triton
        import triton.language as tl

        @triton.jit
        def add_scaled(x, y, out, n, BLOCK: tl.constexpr):
            i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
            tl.store(out + i, tl.load(x + i, mask=i < n) * 3 + tl.load(y + i, mask=i < n), mask=i < n)

        @torch.compile(fullgraph=True)
        def part(x, y):
            out = torch.empty_like(x)
            add_scaled[(triton.cdiv(x.numel(), 256),)](x, y, out, x.numel(), BLOCK=256)
            return out.sin()

        x, y = torch.randn(1000), torch.randn(1000)
        torch.testing.assert_close(part(x.cuda(), y.cuda()).cpu(), (x * 3 + y).sin(), rtol=1e-4, atol=1e-5)


if __name__ == "__main__":
    unittest.main()
