"""numba-cuda-mlir, compared with NumPy: Numba's language for kernels, compiled by MLIR and NVIDIA's NVVM."""

import math
import unittest

import numpy as np
from numba_cuda_mlir import cuda

rng = np.random.default_rng(11)


class Programs(unittest.TestCase):
    def test_elementwise_of_all_types(self):
        @cuda.jit
        def combine(a, b, out):
            i = cuda.grid(1)
            if i < out.size:
                out[i] = a[i] * b[i] + a[i]

        for kind in ("i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f4", "f8", "c8", "c16"):
            a, b = (rng.integers(0, 10, 1000).astype(kind) for _ in range(2))
            out = np.zeros_like(a)
            with self.subTest(kind=kind):
                combine[8, 128](a, b, out)
                np.testing.assert_array_equal(out, a * b + a)

    def test_mathematics(self):
        @cuda.jit
        def functions(a, out):
            i = cuda.grid(1)
            if i < a.size:
                out[0, i] = math.sin(a[i])
                out[1, i] = math.exp(a[i])
                out[2, i] = math.log(a[i])
                out[3, i] = math.sqrt(a[i])
                out[4, i] = math.atan2(a[i], 2.0)
                out[5, i] = a[i] ** 3.5

        for kind, tolerance in (("f4", 1e-5), ("f8", 1e-12)):
            a = (rng.random(500) + 0.1).astype(kind)
            out = np.zeros((6, 500), kind)
            functions[4, 128](a, out)
            wanted = [np.sin(a), np.exp(a), np.log(a), np.sqrt(a), np.arctan2(a, 2), a**3.5]
            np.testing.assert_allclose(out, wanted, rtol=tolerance, atol=tolerance)

    def test_sums_in_shared_memory(self):
        @cuda.jit
        def total(a, out):
            part = cuda.shared.array(128, "float64")
            t, i = cuda.threadIdx.x, cuda.grid(1)
            part[t] = a[i] if i < a.size else 0.0
            cuda.syncthreads()
            distance = 64
            while distance > 0:
                if t < distance:
                    part[t] += part[t + distance]
                cuda.syncthreads()
                distance //= 2
            if t == 0:
                cuda.atomic.add(out, 0, part[0])

        a, out = rng.random(5000), np.zeros(1)
        total[40, 128](a, out)
        np.testing.assert_allclose(out[0], a.sum(), rtol=1e-12)

    def test_atomic_operations(self):
        @cuda.jit
        def count(values, bins, largest):
            i = cuda.grid(1)
            if i < values.size:
                cuda.atomic.add(bins, values[i], 1)
                cuda.atomic.max(largest, 0, values[i])

        values = rng.integers(0, 37, 10000).astype(np.int32)
        bins, largest = np.zeros(37, np.int32), np.zeros(1, np.int32)
        count[80, 128](values, bins, largest)
        np.testing.assert_array_equal(bins, np.bincount(values, minlength=37))
        self.assertEqual(largest[0], values.max())

    def test_two_dimensions_and_views(self):
        @cuda.jit
        def transpose(a, out):
            i, j = cuda.grid(2)
            if i < a.shape[0] and j < a.shape[1]:
                out[j, i] = a[i, j]

        whole = rng.random((90, 100))
        out = np.zeros((50, 45))
        transpose[(4, 4), (16, 16)](np.ascontiguousarray(whole[::2, 1::2]), out)
        np.testing.assert_array_equal(out, whole[::2, 1::2].T)

    def test_functions_of_the_device(self):
        @cuda.jit(device=True)
        def steps(n):
            count = 0
            while n != 1:
                n = n // 2 if n % 2 == 0 else 3 * n + 1
                count += 1
            return count

        @cuda.jit
        def all_steps(out):
            i = cuda.grid(1)
            if i < out.size:
                out[i] = steps(i + 1)

        def on_the_host(n):
            return 0 if n == 1 else 1 + on_the_host(n // 2 if n % 2 == 0 else 3 * n + 1)

        out = np.zeros(700, np.int64)
        all_steps[6, 128](out)
        np.testing.assert_array_equal(out, [on_the_host(i + 1) for i in range(700)])

    def test_arrays_on_the_device_and_streams(self):
        @cuda.jit
        def double(a):
            i = cuda.grid(1)
            if i < a.size:
                a[i] *= 2

        a, stream = rng.random(3000), cuda.stream()
        there = cuda.to_device(a, stream=stream)
        for _ in range(3):
            double[24, 128, stream](there)
        found = there.copy_to_host(stream=stream)
        stream.synchronize()
        np.testing.assert_array_equal(found, a * 8)


if __name__ == "__main__":
    unittest.main()
