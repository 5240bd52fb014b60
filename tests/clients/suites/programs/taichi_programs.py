"""Taichi on its CUDA back end, compared with NumPy: Taichi's own compiler writes the PTX and loads it by the driver."""

import unittest

import numpy as np
import taichi as ti

ti.init(arch=ti.cuda, offline_cache=False, log_level=ti.ERROR, random_seed=1)
rng = np.random.default_rng(1)


class Programs(unittest.TestCase):
    def test_the_device_is_cuda(self):
        self.assertEqual(ti.lang.impl.current_cfg().arch, ti.cuda)

    def test_elementwise_of_all_types(self):
        for kind in (ti.i8, ti.i16, ti.i32, ti.i64, ti.u8, ti.u16, ti.u32, ti.u64, ti.f32, ti.f64):

            @ti.kernel
            def twice(a: ti.types.ndarray(dtype=kind, ndim=2), b: ti.types.ndarray(dtype=kind, ndim=2)):
                for i, j in a:
                    b[i, j] = a[i, j] * 2 + ti.cast(1, kind)

            a = rng.integers(0, 50, (33, 17)).astype(ti.lang.util.to_numpy_type(kind))
            b = np.zeros_like(a)
            twice(a, b)
            np.testing.assert_array_equal(b, a * 2 + 1)

    def test_half_floats(self):
        a, b = ti.field(ti.f16, shape=300), ti.field(ti.f16, shape=300)

        @ti.kernel
        def add():
            for i in a:
                b[i] = a[i] * 0.5 + 1.0

        host = rng.random(300).astype(np.float16)
        a.from_numpy(host)
        add()
        np.testing.assert_allclose(b.to_numpy(), host * np.float16(0.5) + np.float16(1), rtol=2e-3)

    def test_mathematics(self):
        @ti.kernel
        def functions(a: ti.types.ndarray(), out: ti.types.ndarray()):
            for i in range(a.shape[0]):
                x = a[i]
                out[0, i], out[1, i], out[2, i], out[3, i] = ti.sin(x), ti.exp(x), ti.log(x), ti.sqrt(x)
                out[4, i], out[5, i], out[6, i], out[7, i] = ti.tanh(x), ti.atan2(x, 2.0), x**3.5, ti.floor(x * 9)

        for kind, tolerance in ((np.float32, 1e-5), (np.float64, 1e-12)):
            a = (rng.random(1000) + 0.1).astype(kind)
            out = np.zeros((8, 1000), kind)
            functions(a, out)
            wanted = [
                np.sin(a),
                np.exp(a),
                np.log(a),
                np.sqrt(a),
                np.tanh(a),
                np.arctan2(a, 2),
                a**3.5,
                np.floor(a * 9),
            ]
            for row, (found, good) in enumerate(zip(out, wanted)):
                np.testing.assert_allclose(found, good, rtol=tolerance, atol=tolerance, err_msg=str(row))

    def test_loops_of_different_lengths(self):
        @ti.kernel
        def steps(a: ti.types.ndarray(dtype=ti.i32, ndim=1)):
            for i in a:
                n, count = i + 1, 0
                while n != 1:
                    if n % 2 == 0:
                        n //= 2
                    else:
                        n = 3 * n + 1
                    count += 1
                a[i] = count

        def collatz(n):
            count = 0
            while n != 1:
                n, count = (n // 2 if n % 2 == 0 else 3 * n + 1), count + 1
            return count

        found = np.zeros(3000, np.int32)
        steps(found)
        np.testing.assert_array_equal(found, [collatz(i + 1) for i in range(3000)])

    def test_reductions_and_atomics(self):
        host = rng.integers(0, 1000, 20_011).astype(np.int32)

        @ti.kernel
        def all_of(a: ti.types.ndarray(dtype=ti.i32, ndim=1), bins: ti.types.ndarray(dtype=ti.i32, ndim=1)) -> ti.i64:
            total = ti.i64(0)
            for i in a:
                total += a[i]
                bins[a[i] % 16] += 1
            return total

        @ti.kernel
        def most(a: ti.types.ndarray(dtype=ti.i32, ndim=1)) -> ti.i32:
            found = -1
            for i in a:
                ti.atomic_max(found, a[i])
            return found

        bins = np.zeros(16, np.int32)
        self.assertEqual(all_of(host, bins), host.sum())
        np.testing.assert_array_equal(bins, np.bincount(host % 16, minlength=16))
        self.assertEqual(most(host), host.max())

    def test_sorts_and_scans(self):
        keys, values = ti.field(ti.i32, 1000), ti.field(ti.i32, 1000)
        host = rng.permutation(1000).astype(np.int32)
        keys.from_numpy(host)
        values.from_numpy(host * 3)
        ti.algorithms.parallel_sort(keys, values)
        np.testing.assert_array_equal(keys.to_numpy(), np.arange(1000))
        np.testing.assert_array_equal(values.to_numpy(), np.arange(1000) * 3)
        for size in (100, 1025, 5000):
            numbers = ti.field(ti.i32, size)
            host = rng.integers(0, 9, size).astype(np.int32)
            numbers.from_numpy(host)
            ti.algorithms.PrefixSumExecutor(size).run(numbers)
            np.testing.assert_array_equal(numbers.to_numpy(), host.cumsum())

    def test_shared_memory_and_warps(self):
        @ti.kernel
        def turned(a: ti.types.ndarray(dtype=ti.f32, ndim=1), out: ti.types.ndarray(dtype=ti.f32, ndim=1)):
            ti.loop_config(block_dim=128)
            for i in range(1024):
                kept = ti.simt.block.SharedArray((128,), ti.f32)
                kept[i % 128] = a[i]
                ti.simt.block.sync()
                near = ti.simt.warp.shfl_down_f32(ti.u32(0xFFFFFFFF), a[i], 1)
                out[i] = kept[127 - i % 128] + near

        host, out = rng.random(1024).astype(np.float32), np.zeros(1024, np.float32)
        turned(host, out)
        near = np.where(np.arange(1024) % 32 == 31, host, np.roll(host, -1))
        np.testing.assert_allclose(out, host.reshape(8, 128)[:, ::-1].ravel() + near, rtol=1e-6)

    def test_sparse_structures(self):
        y, found = ti.field(ti.i32), ti.field(ti.i32)
        ti.root.pointer(ti.i, 16).bitmasked(ti.i, 16).place(y)
        ti.root.dynamic(ti.i, 4096, chunk_size=64).place(found)

        @ti.kernel
        def fill():
            for i in range(256):
                if i % 5 == 0:
                    y[i] = i

        @ti.kernel
        def collect() -> ti.i32:
            total = 0
            for i in y:
                total += y[i]
                ti.append(found.parent(), [], y[i])
            return total

        fill()
        self.assertEqual(collect(), sum(range(0, 256, 5)))

        @ti.kernel
        def length() -> ti.i32:
            return ti.length(found.parent(), [])

        self.assertEqual(length(), len(range(0, 256, 5)))

    def test_gradients(self):
        w, loss = ti.field(ti.f32, shape=50, needs_grad=True), ti.field(ti.f32, shape=(), needs_grad=True)

        @ti.kernel
        def losses():
            for i in w:
                loss[None] += ti.sin(w[i]) * i

        host = rng.random(50).astype(np.float32)
        w.from_numpy(host)
        with ti.ad.Tape(loss):
            losses()
        np.testing.assert_allclose(w.grad.to_numpy(), np.cos(host) * np.arange(50), rtol=1e-4)

    def test_matrices(self):
        @ti.kernel
        def inverses(
            a: ti.types.ndarray(dtype=ti.math.mat3, ndim=1), out: ti.types.ndarray(dtype=ti.math.mat3, ndim=1)
        ):
            for i in a:
                out[i] = a[i].inverse() @ a[i].transpose()

        host = (rng.random((200, 3, 3)) + 2 * np.eye(3)).astype(np.float32)
        a, out = ti.Matrix.ndarray(3, 3, ti.f32, shape=200), ti.Matrix.ndarray(3, 3, ti.f32, shape=200)
        a.from_numpy(host)
        inverses(a, out)
        wanted = np.linalg.inv(host) @ host.transpose(0, 2, 1)
        np.testing.assert_allclose(out.to_numpy(), wanted, rtol=1e-3, atol=1e-4)

    def test_a_simulation(self):
        """Springs in a ring, as particles that pull each other, for some hundred steps."""
        n = 64
        x, v = ti.Vector.field(2, ti.f64, n), ti.Vector.field(2, ti.f64, n)

        @ti.kernel
        def pull():
            for i in x:
                v[i] += 0.0078125 * ((x[(i + 1) % n] - x[i]) + (x[(i + n - 1) % n] - x[i]))

        @ti.kernel
        def move():
            for i in x:
                x[i] += 0.0078125 * v[i]

        where, speed = rng.random((n, 2)), np.zeros((n, 2))
        x.from_numpy(where)
        v.from_numpy(speed)
        for _ in range(300):
            pull()
            move()
            speed = speed + 0.0078125 * (np.roll(where, -1, 0) - where + np.roll(where, 1, 0) - where)
            where = where + 0.0078125 * speed
        np.testing.assert_allclose(x.to_numpy(), where, rtol=1e-9)


if __name__ == "__main__":
    unittest.main()
