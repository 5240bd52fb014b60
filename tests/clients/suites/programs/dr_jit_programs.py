"""Dr.Jit's CUDA backend, compared with NumPy: traced arithmetic, reductions, gathers and scatters, recorded loops,
branches and calls, gradients, textures, half and double precision, random numbers, functions that are frozen. Dr.Jit
writes PTX itself and gives it to the driver, with no NVRTC."""

import math
import unittest

import drjit as dr
import drjit.cuda as dc
import drjit.cuda.ad as da
import drjit.scalar as drs
import numpy as np

rng = np.random.default_rng(3)


def equal(found, wanted, rtol=1e-5, atol=1e-6):
    np.testing.assert_allclose(np.array(found), wanted, rtol=rtol, atol=atol)


@dr.syntax
def steps(n):
    count = dr.zeros(dc.UInt, dr.width(n))
    while n != 1:
        if n & 1 == 0:
            n //= 2
        else:
            n = 3 * n + 1
        count += 1
    return count


class Arrays(unittest.TestCase):
    def test_elementwise(self):
        for count in (1, 33, 5000):
            a = rng.random(count, np.float32) + 0.1
            x = dc.Float(a)
            equal(dr.fma(x, 2, 1), a * 2 + 1)
            for name in ("exp", "log", "sqrt", "sin", "cos", "tan", "tanh", "exp2", "log2"):
                equal(getattr(dr, name)(x), getattr(np, name)(a), rtol=2e-5, atol=1e-5)
            for name, of_numpy in (("asin", np.arcsin), ("acos", np.arccos), ("atan", np.arctan)):
                equal(getattr(dr, name)(x * 0.9), of_numpy(a * np.float32(0.9)), rtol=1e-4)
            equal(dr.rcp(x), 1 / a)
            equal(dr.rsqrt(x), 1 / np.sqrt(a))
            equal(dr.select(x > 0.5, x, -x), np.where(a > 0.5, a, -a))
            equal(dr.erf(x), [math.erf(v) for v in a], rtol=1e-4)

    def test_integers(self):
        a = rng.integers(-(2**31), 2**31, 3000).astype(np.int32)
        b = rng.integers(1, 1000, 3000).astype(np.int32)
        x, y = dc.Int(a), dc.Int(b)
        with np.errstate(over="ignore"):
            equal(x * y + x, a * b + a, rtol=0)
        equal(x & y, a & b, rtol=0)
        equal(x >> 3, a >> 3, rtol=0)
        equal(x // y, np.trunc(a.astype(np.float64) / b), rtol=0)  # towards zero, as in C
        equal(dr.mul_hi(x, y), (a.astype(np.int64) * b) >> 32, rtol=0)
        u = dc.UInt(a.view(np.uint32))
        equal(dr.popcnt(u), [bin(v).count("1") for v in a.view(np.uint32)], rtol=0)
        equal(dr.lzcnt(u), [32 - int(v).bit_length() for v in a.view(np.uint32)], rtol=0)
        equal(dr.brev(u), [int(f"{v:032b}"[::-1], 2) for v in a.view(np.uint32)], rtol=0)
        long = rng.integers(1, 2**62, 1000)
        equal(dc.Int64(long) // 12345678901, long // 12345678901, rtol=0)
        equal(dc.UInt64(long) % 977, long % 977, rtol=0)

    def test_types(self):
        a = rng.random(2000) * 100
        for kind, of_numpy in (
            (dc.Float16, np.float16),
            (dc.Float64, np.float64),
            (dc.Int, np.int32),
            (dc.UInt64, np.uint64),
        ):
            equal(dc.Float64(kind(dc.Float64(a))), a.astype(of_numpy).astype(np.float64), rtol=1e-6)
        equal(dr.sin(dc.Float64(a)), np.sin(a), rtol=1e-12, atol=1e-12)
        half = a.astype(np.float16)
        equal(dc.Float16(half) * dc.Float16(2) + dc.Float16(1), half * np.float16(2) + np.float16(1), rtol=2e-3)
        equal(
            dr.reinterpret_array(dc.UInt, dc.Float(a.astype(np.float32))), a.astype(np.float32).view(np.uint32), rtol=0
        )

    def test_reductions(self):
        for count in (1, 31, 1000, 70001):
            a = rng.random(count, np.float32) + 0.5
            x = dc.Float(a)
            equal(dr.sum(x), [a.sum()], rtol=1e-4)
            equal(dr.max(x), [a.max()])
            equal(dr.min(x), [a.min()])
            equal(dr.mean(x), [a.mean()], rtol=1e-4)
            equal(dr.cumsum(x), np.cumsum(a, dtype=np.float64), rtol=1e-4)
            equal(dr.prefix_sum(dc.UInt(a * 10)), np.cumsum((a * 10).astype(np.uint32)) - (a * 10).astype(np.uint32))
            mask = x > 1
            self.assertEqual(dr.count(mask)[0], (a > 1).sum())
            equal(dr.compress(mask), np.nonzero(a > 1)[0], rtol=0)
            self.assertEqual(dr.any(x > 1.4)[0], bool((a > 1.4).any()))
            self.assertEqual(dr.all(x > 0.4), True)
        equal(dr.prod(dc.Float64([1.5, 2.5, 3.5])), [1.5 * 2.5 * 3.5])
        b = rng.random((40, 50), np.float32)
        equal(dr.block_sum(dc.Float(b.ravel()), 50), b.sum(1), rtol=1e-4)

    def test_gathers_and_scatters(self):
        a = rng.random(1000, np.float32)
        index = rng.permutation(1000).astype(np.uint32)
        equal(dr.gather(dc.Float, dc.Float(a), dc.UInt(index)), a[index])
        out = dr.zeros(dc.Float, 1000)
        dr.scatter(out, dc.Float(a), dc.UInt(index))
        wanted = np.zeros(1000, np.float32)
        wanted[index] = a
        equal(out, wanted)
        bins = rng.integers(0, 17, 20000).astype(np.uint32)
        for kind in (dc.UInt, dc.Float, dc.Float64, dc.UInt64):
            counts = dr.zeros(kind, 17)
            dr.scatter_add(counts, kind(1), dc.UInt(bins))
            equal(counts, np.bincount(bins, minlength=17), rtol=0)
        for operation, of_numpy in ((dr.ReduceOp.Max, np.maximum), (dr.ReduceOp.Min, np.minimum)):
            values = rng.integers(0, 1 << 30, 20000).astype(np.uint32)
            found = dr.full(dc.UInt, 1 << 15, 17)
            dr.scatter_reduce(operation, found, dc.UInt(values), dc.UInt(bins))
            wanted = np.full(17, 1 << 15, np.uint32)
            of_numpy.at(wanted, bins, values)
            equal(found, wanted, rtol=0)
        counter = dc.UInt(0)
        slot = dr.scatter_inc(counter, dr.zeros(dc.UInt, 5000), dr.arange(dc.UInt, 5000) % 3 == 0)
        dr.eval(slot)
        self.assertEqual(counter[0], 1667)
        taken = np.array(slot)[np.arange(5000) % 3 == 0]
        np.testing.assert_array_equal(np.sort(taken), np.arange(1667))

    def test_packets(self):
        a = rng.random((500, 4), np.float32)
        index = rng.permutation(500).astype(np.uint32)
        found = dr.gather(dc.Array4f, dc.Float(a.ravel()), dc.UInt(index))
        equal(found, a[index].T)
        out = dr.zeros(dc.Float, 2000)
        dr.scatter(out, found, dc.UInt(index))
        equal(out, a.ravel())

    def test_tensors(self):
        a = rng.random((5, 6, 7), np.float32)
        x = dc.TensorXf(a)
        equal(x[1:4, ::2, None, 3], a[1:4, ::2, None, 3])
        equal(dr.sum(x, axis=1), a.sum(1), rtol=1e-5)
        equal(x + dc.TensorXf(a[:, :1, :]), a + a[:, :1, :])
        equal(dr.max(x, axis=(0, 2)), a.max((0, 2)))
        equal(dr.concat([x, x], axis=1), np.concatenate([a, a], 1))


class Control(unittest.TestCase):
    def test_recorded_loops(self):
        start = rng.integers(1, 10000, 3000).astype(np.uint32)

        def plain(n):
            count = 0
            while n != 1:
                n, count = (n // 2 if n % 2 == 0 else 3 * n + 1), count + 1
            return count

        equal(steps(dc.UInt(start)), [plain(int(n)) for n in start], rtol=0)

    def test_a_fractal(self):
        size = 64
        x, y = dr.meshgrid(dr.linspace(dc.Float, -2, 1, size), dr.linspace(dc.Float, -1, 1, size))
        z, c, i = dc.Complex2f(0), dc.Complex2f(x, y), dr.zeros(dc.UInt, size * size)
        z, i = dr.while_loop((z, i), lambda z, i: (dr.squared_norm(z) < 4) & (i < 50), lambda z, i: (z * z + c, i + 1))
        r, m = np.meshgrid(np.linspace(-2, 1, size), np.linspace(-1, 1, size))
        at, wanted, value = r + 1j * m, np.zeros((size, size), int), np.zeros((size, size), complex)
        for _ in range(50):
            inside = abs(value) < 2
            value[inside] = value[inside] ** 2 + at[inside]
            wanted += inside
        self.assertGreater((np.array(i).reshape(size, size) == wanted).mean(), 0.99)

    def test_local_memory(self):
        count = 300

        def body(i, local):
            local[i] = dc.Float(i * i)
            return i + 1, local

        local = dr.alloc_local(dc.Float, 16, value=dr.zeros(dc.Float, count))
        _, local = dr.while_loop((dr.zeros(dc.UInt, count), local), lambda i, _: i < 16, body)
        equal(local[dr.arange(dc.UInt, count) % 16], (np.arange(count) % 16) ** 2)

    def test_switches_and_calls(self):
        index = rng.integers(0, 3, 2000).astype(np.uint32)
        a = rng.random(2000, np.float32)
        functions = [lambda x: x + 1, lambda x: dr.sin(x), lambda x: x * x * 3]
        found = dr.switch(dc.UInt(index), functions, dc.Float(a))
        equal(found, np.choose(index, [a + 1, np.sin(a), a * a * 3]), rtol=1e-5)

    def test_a_frozen_function(self):
        @dr.freeze
        def f(x, y):
            return dr.sum(x * y) + x

        for count in (10, 10, 400):
            a, b = rng.random(count, np.float32), rng.random(count, np.float32)
            equal(f(dc.Float(a), dc.Float(b)), a @ b + a, rtol=1e-4)


class Rest(unittest.TestCase):
    def test_gradients(self):
        a = rng.random(500, np.float32) + 0.5
        x = da.Float(a)
        dr.enable_grad(x)
        dr.backward(dr.sum(dr.sin(x) * x + dr.log(x)))
        equal(dr.grad(x), np.cos(a) * a + np.sin(a) + 1 / a, rtol=1e-4)
        index = rng.integers(0, 500, 3000).astype(np.uint32)
        x = da.Float(a)
        dr.enable_grad(x)
        dr.backward(dr.sum(dr.square(dr.gather(da.Float, x, da.UInt(index)))))
        equal(dr.grad(x), 2 * a * np.bincount(index, minlength=500), rtol=1e-4)
        x = da.Float(a)
        dr.enable_grad(x)
        dr.set_grad(x, 1)
        equal(dr.forward_to(x * x * x), 3 * a * a, rtol=1e-4)

    def test_training(self):
        a = rng.random((300, 3), np.float32)
        wanted = a @ np.array([1, -2, 0.5], np.float32)
        weights = da.Array3f(0)
        for _ in range(100):
            dr.enable_grad(weights)
            dr.backward(dr.mean(dr.square(dr.dot(weights, da.Array3f(a.T)) - da.Float(wanted))))
            weights = da.Array3f(dr.detach(weights) - 0.5 * dr.grad(weights))
            dr.make_opaque(weights)
        equal(weights, [[1], [-2], [0.5]], rtol=0.1, atol=0.1)

    def test_textures(self):
        a = rng.random((8, 9, 3), np.float32)
        at = rng.random((2, 1000), np.float32)
        for filter_mode in (dr.FilterMode.Linear, dr.FilterMode.Nearest):
            for wrap in (dr.WrapMode.Clamp, dr.WrapMode.Repeat, dr.WrapMode.Mirror):
                results = []
                for accelerated in (True, False):
                    texture = dc.Texture2f(
                        dc.TensorXf(a), use_accel=accelerated, filter_mode=filter_mode, wrap_mode=wrap
                    )
                    results.append(np.array(texture.eval(dc.Array2f(at * 3 - 1))))
                bad = ~np.isclose(results[0], results[1], atol=0.02)
                self.assertLess(bad.mean(), 0.01, f"{filter_mode} {wrap}")
        line = dc.Texture1f(dc.TensorXf(a[0]), filter_mode=dr.FilterMode.Nearest)
        equal(line.eval(dc.Array1f((np.arange(9, dtype=np.float32) + 0.5)[None] / 9)), a[0].T)
        box = dc.Texture3f(dc.TensorXf(rng.random((4, 5, 6, 1), np.float32)), filter_mode=dr.FilterMode.Linear)
        self.assertEqual(np.array(box.eval(dc.Array3f(rng.random((3, 10), np.float32)))).shape, (1, 10))

    def test_matrices(self):
        a = rng.random((100, 3, 3), np.float32) + 2 * np.eye(3, dtype=np.float32)
        m = dc.Matrix3f(a.transpose(1, 2, 0))
        equal(np.array(dr.rcp(m)).transpose(2, 0, 1), np.linalg.inv(a), rtol=1e-3, atol=1e-4)
        equal(dr.det(m), np.linalg.det(a), rtol=1e-3)

    def test_random_numbers(self):
        from_cuda = dc.PCG32(size=1000)
        first = np.array(from_cuda.next_float32())
        self.assertTrue((first >= 0).all() and (first < 1).all())
        self.assertLess(abs(first.mean() - 0.5), 0.05)
        scalar = drs.PCG32(1)
        self.assertAlmostEqual(float(np.array(dc.PCG32(1).next_float32())[0]), scalar.next_float32(), places=6)

    def test_the_host(self):
        x = dr.arange(dc.Float, 100) * 2
        equal(dc.TensorXf(x, (10, 10)), np.arange(100).reshape(10, 10) * 2)
        x[3] = 5
        self.assertEqual(x[7], 14)


if __name__ == "__main__":
    unittest.main()
