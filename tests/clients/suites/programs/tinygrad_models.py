"""tinygrad on its CUDA device beyond single operations: attention, norms, pooling, gradients of a network beside finite
differences, steps of an optimizer, random numbers, small types, integers, views; compared with NumPy."""

import unittest

import numpy as np
from tinygrad import Tensor, TinyJit, dtypes

rng = np.random.default_rng(4)


def tensor(array):
    return Tensor(array, device="CUDA")


def equal(found, wanted, **tolerances):
    np.testing.assert_allclose(found.numpy(), wanted, **(tolerances or {"rtol": 1e-4, "atol": 1e-5}))


def normal(*shape):
    return rng.standard_normal(shape).astype(np.float32)


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


class Networks(unittest.TestCase):
    def test_attention(self):
        q, k, v = normal(2, 4, 20, 16), normal(2, 4, 20, 16), normal(2, 4, 20, 16)
        scores = q @ k.transpose(0, 1, 3, 2) / 4
        equal(tensor(q).scaled_dot_product_attention(tensor(k), tensor(v)), softmax(scores) @ v, rtol=1e-3, atol=1e-4)
        scores[..., ~np.tri(20, dtype=bool)] = -np.inf
        found = tensor(q).scaled_dot_product_attention(tensor(k), tensor(v), is_causal=True)
        equal(found, softmax(scores) @ v, rtol=1e-3, atol=1e-4)

    def test_norms(self):
        x, w = normal(6, 8, 10), normal(10)
        centred = x - x.mean(-1, keepdims=True)
        equal(
            tensor(x).layernorm() * tensor(w),
            centred / np.sqrt(x.var(-1, keepdims=True) + 1e-5) * w,
            rtol=1e-3,
            atol=1e-4,
        )
        groups = x.reshape(6, 2, 40)
        wanted = (groups - groups.mean(-1, keepdims=True)) / np.sqrt(groups.var(-1, keepdims=True) + 1e-5)
        found = tensor(x).reshape(6, 2, 40).layernorm().reshape(6, 8, 10)
        equal(found, wanted.reshape(x.shape), rtol=1e-3, atol=1e-4)

    def test_pooling_and_strided_convolutions(self):
        x, w = normal(2, 4, 12, 12), normal(6, 2, 3, 3)
        windows = x.reshape(2, 4, 6, 2, 6, 2)
        equal(tensor(x).max_pool2d(2), windows.max((3, 5)))
        equal(tensor(x).avg_pool2d(2), windows.mean((3, 5)))
        found = tensor(x).conv2d(tensor(w), groups=2, stride=2, padding=1).numpy()
        padded = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
        view = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), (2, 3))[:, :, ::2, ::2]
        wanted = np.concatenate(
            [np.einsum("nchwij,ocij->nohw", view[:, 2 * g : 2 * g + 2], w[3 * g : 3 * g + 3]) for g in range(2)], 1
        )
        np.testing.assert_allclose(found, wanted, rtol=1e-3, atol=1e-4)

    def test_gradients_of_a_network(self):
        x, w1, w2, wanted = normal(16, 8), normal(8, 12) * 0.3, normal(12, 3) * 0.3, rng.integers(0, 3, 16)

        def loss_of(first, second):
            scores = np.tanh(x.astype(np.float64) @ first) @ second
            return -np.log(softmax(scores)[np.arange(16), wanted]).mean()

        first, second = tensor(w1), tensor(w2)
        loss = (
            (tensor(x) @ first).tanh().matmul(second).sparse_categorical_crossentropy(tensor(wanted.astype(np.int32)))
        )
        self.assertAlmostEqual(float(loss.numpy()), loss_of(w1, w2), places=4)
        for found, n in zip(loss.gradient(first, second), range(2), strict=True):
            weights = [w1.astype(np.float64), w2.astype(np.float64)]
            gradient = np.zeros_like(weights[n])
            for place in np.ndindex(gradient.shape):
                sides = []
                for step in (1e-5, -1e-5):
                    moved = [each.copy() for each in weights]
                    moved[n][place] += step
                    sides.append(loss_of(*moved))
                gradient[place] = (sides[0] - sides[1]) / 2e-5
            equal(found, gradient, rtol=1e-3, atol=1e-4)

    def test_steps_of_adam(self):
        x, w, weight, mean, square = normal(64, 5), normal(5, 1), *np.zeros((3, 5, 1), np.float32)
        here = [tensor(each) for each in (weight, mean, square)]
        for _ in range(10):
            gradient = 2 / 64 * x.T @ (x @ weight - x @ w)
            mean, square = mean * 0.9 + gradient * 0.1, square * 0.99 + gradient**2 * 0.01
            weight = weight - 0.1 * mean / (np.sqrt(square) + 1e-3)
            found = (tensor(x) @ here[0] - tensor(x @ w)).square().mean().gradient(here[0])[0]
            m, s = here[1] * 0.9 + found * 0.1, here[2] * 0.99 + found.square() * 0.01
            here = [each.realize() for each in (here[0] - 0.1 * m / (s.sqrt() + 1e-3), m, s)]
        equal(here[0], weight, rtol=1e-2, atol=1e-3)

    def test_a_jitted_step(self):
        x, weight = normal(32, 10), tensor(np.zeros((10, 4), np.float32))

        @TinyJit
        def step(inputs):
            return (inputs @ (weight + 1)).relu().sum(0).realize()

        for i in range(5):
            equal(step(tensor(x * i)), np.maximum(x * i @ np.ones((10, 4)), 0).sum(0), rtol=1e-3, atol=1e-3)


class Operations(unittest.TestCase):
    def test_random_numbers(self):
        Tensor.manual_seed(7)
        x = Tensor.rand(20_000, device="CUDA").numpy()
        self.assertTrue(x.min() >= 0 and x.max() < 1 and abs(x.mean() - 0.5) < 0.01)
        self.assertGreater(len(np.unique(x)), 19_000)
        y = Tensor.randn(20_000, device="CUDA").numpy()
        self.assertTrue(abs(y.mean()) < 0.03 and abs(y.std() - 1) < 0.03)
        Tensor.manual_seed(7)
        np.testing.assert_array_equal(Tensor.rand(20_000, device="CUDA").numpy(), x)

    def test_small_types(self):
        a, b = normal(32, 48), normal(48, 16)
        for kind, tolerance in ((dtypes.float16, 2e-2), (dtypes.bfloat16, 1e-1)):
            found = (tensor(a).cast(kind) @ tensor(b).cast(kind)).cast(dtypes.float32)
            equal(found, a @ b, rtol=tolerance, atol=tolerance * 4)
        c, d = rng.integers(-9, 9, (20, 30)).astype(np.int8), rng.integers(-9, 9, (30, 10)).astype(np.int8)
        equal(tensor(c).cast(dtypes.int32) @ tensor(d).cast(dtypes.int32), c.astype(np.int32) @ d.astype(np.int32))

    def test_integers_and_bits(self):
        a, b = rng.integers(1, 10**6, 700).astype(np.int32), rng.integers(1, 100, 700).astype(np.int32)
        x, y = tensor(a), tensor(b)
        for found, wanted in ((x // y, a // b), (x % y, a % b), (x & y, a & b), (x | y, a | b), (x ^ y, a ^ b)):
            equal(found, wanted)
        equal((x << 3) - (x >> 2), (a << 3) - (a >> 2))
        equal(x.maximum(y * 1000).minimum(5000), np.minimum(np.maximum(a, b * 1000), 5000))

    def test_scatters_and_gathers(self):
        a, places = normal(20, 30), rng.integers(0, 30, (20, 7)).astype(np.int32)
        equal(tensor(a).gather(1, tensor(places)), np.take_along_axis(a, places, 1))
        equal(tensor(a)[:, tensor(places[0])], a[:, places[0]])
        rows, counts = rng.integers(0, 9, 50), np.zeros(9, np.float32)
        np.add.at(counts, rows, 1)
        equal(tensor(rows.astype(np.int32)).one_hot(9).sum(0), counts)

    def test_scans_and_orders(self):
        a = normal(15, 40)
        equal(tensor(a).cumsum(0), np.cumsum(a, 0), rtol=1e-3, atol=1e-4)
        equal(tensor(a).cummax(1)[0], np.maximum.accumulate(a, 1))
        equal(tensor(a).argsort(1), np.argsort(a, 1, kind="stable"))
        equal(tensor(a).argmin(0), a.argmin(0))
        equal(tensor(a).logsumexp(1), np.log(np.exp(a.astype(np.float64)).sum(1)))

    def test_views(self):
        a = normal(4, 6, 8)
        x = tensor(a)
        equal(x[1:3, ::-1, ::2].contiguous() + 1, a[1:3, ::-1, ::2] + 1)
        equal(x.reshape(24, 8).T.contiguous(), a.reshape(24, 8).T)
        equal(x.unsqueeze(1).expand(4, 3, 6, 8).sum(1), a * 3)
        equal(x.roll(2, 1), np.roll(a, 2, 1))
        equal(x.repeat(1, 2, 1), np.tile(a, (1, 2, 1)))
        for found, wanted in zip(x.split(2, 1), np.split(a, 3, 1), strict=True):
            equal(found, wanted)
        equal(x.reshape(24, 8).tril(), np.tril(a.reshape(24, 8)))

    def test_mathematics(self):
        a = rng.uniform(0.1, 2, 500).astype(np.float32)
        x = tensor(a)
        for name in (
            "exp2",
            "log2",
            "cos",
            "tan",
            "sinh",
            "cosh",
            "arctan",
            "floor",
            "ceil",
            "round",
            "trunc",
            "square",
        ):
            found = getattr(x, {"arctan": "atan"}.get(name, name))()
            equal(found, getattr(np, name)(a), rtol=1e-3, atol=1e-4)
        equal(x.pow(2.5), a**2.5, rtol=1e-3)
        equal(x.rsqrt() + x.reciprocal() + x.sigmoid(), 1 / np.sqrt(a) + 1 / a + 1 / (1 + np.exp(-a)), rtol=1e-3)

    def test_large_angles(self):
        a = (rng.standard_normal(300) * 1e4).astype(np.float32)
        equal(tensor(a).sin(), np.sin(a.astype(np.float64)), rtol=1e-3, atol=1e-3)


if __name__ == "__main__":
    unittest.main()
