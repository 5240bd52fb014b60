"""PyCUDA: arrays and their reductions, kernels made of expressions, modules from source, scans, streams; compared with
NumPy. Its random numbers, which are cuRAND's machine code and headers, are not here."""

import unittest

import numpy as np
import pycuda.autoinit  # noqa: F401
import pycuda.driver as driver
from pycuda import cumath, gpuarray
from pycuda.compiler import SourceModule
from pycuda.elementwise import ElementwiseKernel
from pycuda.reduction import ReductionKernel
from pycuda.scan import ExclusiveScanKernel, InclusiveScanKernel

rng = np.random.default_rng(1)
equal = np.testing.assert_allclose


class Arrays(unittest.TestCase):
    def test_arithmetic(self):
        for kind in (np.float32, np.float64, np.int32, np.complex64):
            a, b = ((rng.random(5000) * 50 + 1).astype(kind) for _ in range(2))
            x, y = gpuarray.to_gpu(a), gpuarray.to_gpu(b)
            equal((x + y).get(), a + b, rtol=1e-5)
            equal((x * y - 3 * x).get(), a * b - 3 * a, rtol=1e-3)
            equal((-x).get(), -a)
            if kind != np.int32:
                equal((x / y).get(), a / b, rtol=1e-5)

    def test_shapes_and_indices(self):
        a = rng.random((30, 40)).astype(np.float32)
        x = gpuarray.to_gpu(a)
        equal(x.reshape(40, 30).get(), a.reshape(40, 30))
        equal(x[5:10].get(), a[5:10])
        equal(gpuarray.arange(0, 100, 3, dtype=np.int32).get(), np.arange(0, 100, 3))
        b = x.copy()
        b.fill(2)
        equal(gpuarray.if_positive(x - 0.5, x, b).get(), np.where(a > 0.5, a, 2))
        equal(gpuarray.maximum(x, 0.5).get(), np.maximum(a, 0.5))

    def test_taking(self):
        a, places = rng.random(1200).astype(np.float32), rng.integers(0, 1200, 64).astype(np.int32)
        equal(gpuarray.take(gpuarray.to_gpu(a), gpuarray.to_gpu(places)).get(), a[places])

    def test_mathematics(self):
        a = (rng.random(1000) * 0.9 + 0.05).astype(np.float32)
        for name in ("sin", "cos", "tan", "exp", "log", "sqrt", "floor", "ceil", "tanh", "asin"):
            wanted = getattr(np, {"asin": "arcsin"}.get(name, name))(a)
            equal(getattr(cumath, name)(gpuarray.to_gpu(a)).get(), wanted, rtol=1e-5)

    def test_reductions(self):
        for size in (1, 31, 1000, 100_003):
            a, b = rng.random(size), rng.random(size)
            x, y = gpuarray.to_gpu(a), gpuarray.to_gpu(b)
            equal(gpuarray.sum(x).get(), a.sum())
            equal(gpuarray.dot(x, y).get(), a @ b)
            equal(gpuarray.max(x).get(), a.max())
            equal(gpuarray.min(x).get(), a.min())
            equal(gpuarray.subset_dot(gpuarray.to_gpu(np.arange(size, dtype=np.int32)), x, y).get(), a @ b)


class Kernels(unittest.TestCase):
    def test_elementwise(self):
        kernel = ElementwiseKernel("float a, float *x, float *y, float *z", "z[i] = a * x[i] + y[i]", "programs_axpy")
        a = rng.random(5000).astype(np.float32)
        x, z = gpuarray.to_gpu(a), gpuarray.empty(5000, np.float32)
        kernel(3, x, x, z)
        equal(z.get(), 4 * a, rtol=1e-6)

    def test_reduction(self):
        kernel = ReductionKernel(np.float64, "0", "a + b", "x[i] * y[i]", "double *x, double *y", "programs_dot")
        a = rng.random(12_345)
        equal(kernel(gpuarray.to_gpu(a), gpuarray.to_gpu(a)).get(), a @ a)

    def test_scans(self):
        a = rng.integers(0, 9, 10_007).astype(np.int32)
        x = gpuarray.to_gpu(a)
        InclusiveScanKernel(np.int32, "a + b")(x)
        equal(x.get(), np.cumsum(a))
        x = gpuarray.to_gpu(a)
        ExclusiveScanKernel(np.int32, "a + b", 0)(x)
        equal(x.get(), np.cumsum(a) - a)

    def test_source_module(self):
        module = SourceModule("""
            #include <stdint.h>
            __constant__ float factors[2];
            __global__ void transpose(const float *in, float *out, int n) {
              __shared__ float tile[16][17];
              int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
              tile[threadIdx.y][threadIdx.x] = in[y * n + x] * factors[y & 1];
              __syncthreads();
              x = blockIdx.y * 16 + threadIdx.x, y = blockIdx.x * 16 + threadIdx.y;
              out[y * n + x] = tile[threadIdx.x][threadIdx.y];
            }""")
        driver.memcpy_htod(module.get_global("factors")[0], np.array([1, 2], np.float32))
        a = rng.random((64, 64)).astype(np.float32)
        out = np.empty_like(a)
        transpose = module.get_function("transpose")
        transpose(driver.In(a), driver.Out(out), np.int32(64), block=(16, 16, 1), grid=(4, 4))
        a[1::2] *= 2
        equal(out, a.T)
        self.assertGreater(transpose.num_regs, 0)

    def test_prepared_calls_streams_and_events(self):
        module = SourceModule("__global__ void twice(float *x) { x[blockIdx.x * blockDim.x + threadIdx.x] *= 2; }")
        twice = module.get_function("twice").prepare("P")
        stream, x = driver.Stream(), gpuarray.to_gpu(np.arange(1024, dtype=np.float32))
        before, after = driver.Event(), driver.Event()
        before.record(stream)
        for _ in range(3):
            twice.prepared_async_call((8, 1), (128, 1, 1), stream, x.gpudata)
        after.record(stream)
        after.synchronize()
        self.assertGreaterEqual(before.time_till(after), 0)
        equal(x.get(), np.arange(1024) * 8)


if __name__ == "__main__":
    unittest.main()
