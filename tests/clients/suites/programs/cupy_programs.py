"""CuPy over its main operations, compared with NumPy: what CuPy compiles by NVRTC runs on the CPU device. What calls
cuBLAS, cuFFT, cuSOLVER and their like is not here: those are machine code alone."""

import unittest

import cupy
import numpy as np

rng = np.random.default_rng(1)


def equal(device, host, **tolerances):
    np.testing.assert_allclose(cupy.asnumpy(device), host, **(tolerances or {"rtol": 1e-5, "atol": 1e-6}))


class Arrays(unittest.TestCase):
    def test_first_command(self):
        self.assertEqual(int(cupy.arange(10).sum()), 45)

    def test_making(self):
        equal(cupy.linspace(0, 1, 17), np.linspace(0, 1, 17))
        equal(cupy.eye(5, k=1), np.eye(5, k=1))
        equal(cupy.tri(4, 6), np.tri(4, 6))
        equal(cupy.full((3, 4), 7, np.int16), np.full((3, 4), 7))
        for device, host in zip(cupy.meshgrid(cupy.arange(3), cupy.arange(4)), np.meshgrid(range(3), range(4))):
            equal(device, host)

    def test_shapes(self):
        host = rng.random((4, 5, 6), np.float32)
        device = cupy.asarray(host)
        equal(device.transpose(2, 0, 1), host.transpose(2, 0, 1))
        equal(cupy.concatenate([device, device[::-1]], axis=1), np.concatenate([host, host[::-1]], axis=1))
        equal(cupy.stack([device, device * 2]), np.stack([host, host * 2]))
        equal(cupy.tile(device, (2, 1, 1)), np.tile(host, (2, 1, 1)))
        equal(cupy.repeat(device, 3, axis=2), np.repeat(host, 3, axis=2))
        equal(cupy.roll(device, 2, axis=1), np.roll(host, 2, axis=1))
        equal(cupy.pad(device, 1, mode="edge"), np.pad(host, 1, mode="edge"))
        equal(cupy.flip(device, 0), np.flip(host, 0))

    def test_indices(self):
        host = rng.integers(0, 100, (40, 30))
        device = cupy.asarray(host)
        rows, columns = rng.integers(0, 40, 25), rng.integers(0, 30, 25)
        equal(device[cupy.asarray(rows), cupy.asarray(columns)], host[rows, columns])
        equal(device[device > 50], host[host > 50])
        equal(cupy.take(device, cupy.asarray(columns), axis=1), np.take(host, columns, axis=1))
        equal(cupy.where(device > 50, device, -device), np.where(host > 50, host, -host))
        device[device % 2 == 0] = -1
        host[host % 2 == 0] = -1
        equal(device, host)
        for found, wanted in zip(cupy.nonzero(device > 90), np.nonzero(host > 90)):
            equal(found, wanted)
        counts = cupy.zeros(30, np.int64)
        cupy.add.at(counts, cupy.asarray(columns), 1)
        equal(counts, np.bincount(columns, minlength=30))

    def test_all_types(self):
        for kind in "?bBhHiIlLqQefdFD":
            host = (rng.random(1000) * 50).astype(kind)
            device = cupy.asarray(host)
            equal(device + device, host + host, rtol=1e-3)
            equal(device.astype(np.float32), host.astype(np.float32) if kind not in "FD" else host.real, rtol=1e-3)


class Mathematics(unittest.TestCase):
    def test_universal_functions(self):
        host = rng.random(3001).astype(np.float32) * 0.9 + 0.05
        device = cupy.asarray(host)
        for name in ("sin", "cos", "tan", "arcsin", "arctan", "sinh", "tanh", "exp", "expm1", "log", "log1p", "log2"):
            equal(getattr(cupy, name)(device), getattr(np, name)(host), rtol=2e-5, atol=1e-6)
        for name in ("sqrt", "cbrt", "square", "reciprocal", "floor", "ceil", "rint", "sign", "isnan", "negative"):
            equal(getattr(cupy, name)(device), getattr(np, name)(host), rtol=2e-6)
        for name in ("power", "arctan2", "hypot", "fmod", "maximum", "copysign", "nextafter", "logaddexp"):
            equal(getattr(cupy, name)(device, device[::-1]), getattr(np, name)(host, host[::-1]), rtol=2e-5)

    def test_integers(self):
        a, b = rng.integers(-1000, 1000, 500), rng.integers(1, 50, 500)
        for name in ("floor_divide", "remainder", "bitwise_xor", "left_shift", "gcd", "lcm"):
            second = b % 8 if name == "left_shift" else b
            equal(getattr(cupy, name)(cupy.asarray(a), cupy.asarray(second)), getattr(np, name)(a, second))

    def test_complex(self):
        host = rng.random(500) + 1j * rng.random(500)
        device = cupy.asarray(host)
        for name in ("exp", "sqrt", "log", "conj", "angle", "abs", "sin"):
            equal(getattr(cupy, name)(device), getattr(np, name)(host), rtol=1e-10)

    def test_fusion(self):
        @cupy.fuse()
        def fused(x, y):
            return cupy.sqrt(x * x + y * y) + 1

        host = rng.random(1000)
        equal(fused(cupy.asarray(host), cupy.asarray(host[::-1].copy())), np.sqrt(host**2 + host[::-1] ** 2) + 1)


class Reductions(unittest.TestCase):
    def test_sums_and_their_like(self):
        host = rng.random((37, 1001)) + 0.5
        device = cupy.asarray(host)
        for name in ("sum", "mean", "var", "std", "min", "max", "argmin", "argmax", "any", "all", "ptp"):
            for axis in (None, 0, 1):
                equal(getattr(cupy, name)(device, axis=axis), getattr(np, name)(host, axis=axis), rtol=1e-9)
        equal(cupy.prod(device[:, :20], axis=1), np.prod(host[:, :20], axis=1), rtol=1e-9)
        equal(cupy.percentile(device, 30), np.percentile(host, 30), rtol=1e-9)
        equal(cupy.count_nonzero(device > 1), np.count_nonzero(host > 1))
        equal(cupy.nansum(device), np.nansum(host))

    def test_medians(self):
        host = rng.random((37, 1001)) + 0.5
        for axis in (None, 0, 1):
            equal(cupy.median(cupy.asarray(host), axis=axis), np.median(host, axis=axis), rtol=1e-9)

    def test_scans(self):
        host = rng.random(10_001)
        equal(cupy.cumsum(cupy.asarray(host)), np.cumsum(host), rtol=1e-9)
        equal(cupy.cumprod(cupy.asarray(host[:30] + 0.5)), np.cumprod(host[:30] + 0.5), rtol=1e-9)
        equal(cupy.diff(cupy.asarray(host)), np.diff(host))

    def test_histograms(self):
        host = rng.random(5000)
        for found, wanted in zip(cupy.histogram(cupy.asarray(host), bins=20), np.histogram(host, bins=20)):
            equal(found, wanted)
        whole = rng.integers(0, 40, 5000)
        equal(cupy.bincount(cupy.asarray(whole)), np.bincount(whole))
        equal(cupy.digitize(cupy.asarray(host), cupy.linspace(0, 1, 9)), np.digitize(host, np.linspace(0, 1, 9)))


class Order(unittest.TestCase):
    def test_sorting(self):
        host = rng.permutation(5000).astype(np.float32)
        device = cupy.asarray(host)
        equal(cupy.sort(device), np.sort(host))
        equal(cupy.argsort(device), np.argsort(host))
        equal(cupy.partition(device, 100)[:100].max(), 99)
        rows = host.reshape(50, 100)
        equal(cupy.sort(cupy.asarray(rows), axis=0), np.sort(rows, axis=0))
        keys = np.stack([host % 7, host])
        equal(cupy.lexsort(cupy.asarray(keys)), np.lexsort(keys))

    def test_partitions(self):
        for kind in (np.int16, np.int64, np.float32, np.float64):
            for size in (100, 1000, 20_000, 100_000):
                host = rng.permutation(size).astype(kind)
                device, ordered = cupy.asarray(host), np.sort(host)
                for first in (0, 10, size // 3):
                    places = cupy.argpartition(device, first).get()
                    for parts in (cupy.partition(device, first).get(), host[places]):
                        equal(parts[first], ordered[first])
                        equal(np.sort(parts[:first]), ordered[:first])
                        equal(np.sort(parts), ordered)
        equal(cupy.percentile(device, [1, 50, 99.5]), np.percentile(host, [1, 50, 99.5]), rtol=1e-9)

    def test_sets(self):
        host = rng.integers(0, 200, 1000)
        equal(cupy.unique(cupy.asarray(host)), np.unique(host))
        places = np.sort(host)
        equal(cupy.searchsorted(cupy.asarray(places), cupy.arange(200)), np.searchsorted(places, np.arange(200)))
        equal(cupy.isin(cupy.asarray(host), cupy.arange(50)), np.isin(host, np.arange(50)))


class Products(unittest.TestCase):
    def test_of_whole_numbers(self):
        a, b = rng.integers(-9, 9, (33, 47)), rng.integers(-9, 9, (47, 21))
        equal(cupy.asarray(a) @ cupy.asarray(b), a @ b)
        equal(cupy.matmul(cupy.asarray(a), cupy.asarray(b)), np.matmul(a, b))

    def test_by_summing(self):
        a, b = rng.random((20, 30)), rng.random((30, 10))
        equal((cupy.asarray(a)[:, :, None] * cupy.asarray(b)[None]).sum(axis=1), a @ b)
        equal(cupy.outer(cupy.asarray(a[0, :10]), cupy.asarray(b[0])), np.outer(a[0, :10], b[0]))
        equal(cupy.convolve(cupy.arange(50), cupy.arange(7)), np.convolve(np.arange(50), np.arange(7)))


class OwnKernels(unittest.TestCase):
    def test_elementwise(self):
        kernel = cupy.ElementwiseKernel(
            "T x, raw T y, T a", "T z", "z = a * x + y[_ind.size() - 1 - i]", "programs_axpy"
        )
        host = rng.random(1000).astype(np.float32)
        equal(kernel(cupy.asarray(host), cupy.asarray(host), np.float32(2)), 2 * host + host[::-1])

    def test_reduction(self):
        kernel = cupy.ReductionKernel("T x", "T y", "x * x", "a + b", "y = sqrt(a)", "0", "programs_norm")
        host = rng.random((40, 300))
        equal(kernel(cupy.asarray(host), axis=1), np.linalg.norm(host, axis=1))

    def test_raw_kernel(self):
        source = r"""extern "C" __global__ void reverse(const float* in, float* out, int n) {
            __shared__ float tile[128];
            int first = blockIdx.x * blockDim.x, i = first + threadIdx.x;
            if (i < n) tile[threadIdx.x] = in[i];
            __syncthreads();
            int size = min((int)blockDim.x, n - first);
            if (i < n) out[i] = tile[size - 1 - threadIdx.x];
        }"""
        host = rng.random(1000).astype(np.float32)
        out = cupy.empty(1000, np.float32)
        cupy.RawKernel(source, "reverse")((8,), (128,), (cupy.asarray(host), out, 1000))
        wanted = np.concatenate([host[first : first + 128][::-1] for first in range(0, 1000, 128)])
        equal(out, wanted)

    def test_raw_module(self):
        source = r"""
        __constant__ float factors[4];
        template <typename T> __global__ void scale(T* data, int n) {
            int i = blockIdx.x * blockDim.x + threadIdx.x;
            if (i < n) data[i] = data[i] * (T)factors[i % 4];
        }"""
        names = ("scale<float>", "scale<double>")
        module = cupy.RawModule(code=source, options=("-std=c++17",), name_expressions=names)
        factors = np.array([1, 2, 3, 4], np.float32)
        place = cupy.ndarray(4, np.float32, module.get_global("factors"))
        place[...] = cupy.asarray(factors)
        for name, kind in zip(names, (np.float32, np.float64)):
            data = cupy.ones(1000, kind)
            module.get_function(name)((8,), (128,), (data, np.int32(1000)))
            equal(data, np.tile(factors, 250))

    def test_jit(self):
        from cupyx import jit

        @jit.rawkernel()
        def twice(x, y, size):
            tid = jit.blockIdx.x * jit.blockDim.x + jit.threadIdx.x
            if tid < size:
                y[tid] = x[tid] * 2

        x = cupy.arange(1000, dtype=cupy.float32)
        y = cupy.empty_like(x)
        twice((8,), (128,), (x, y, cupy.uint32(1000)))
        equal(y, np.arange(1000) * 2)


class Streams(unittest.TestCase):
    def test_streams_events_and_graphs(self):
        stream, x = cupy.cuda.Stream(non_blocking=True), cupy.arange(1000, dtype=cupy.float32)
        cupy.cuda.Device().synchronize()
        with stream:
            before, after = cupy.cuda.Event(), cupy.cuda.Event()
            before.record()
            y = x * 2 + 1
            after.record()
        after.synchronize()
        self.assertGreaterEqual(cupy.cuda.get_elapsed_time(before, after), 0)
        equal(y, np.arange(1000) * 2 + 1)
        with stream:
            stream.begin_capture()
            cupy.multiply(y, 2, out=y)
            graph = stream.end_capture()
            for _ in range(3):
                graph.launch()
        stream.synchronize()
        equal(y, (np.arange(1000) * 2 + 1) * 8)

    def test_pools_and_pinned_memory(self):
        for allocator in (cupy.cuda.MemoryPool().malloc, cupy.cuda.MemoryAsyncPool().malloc):
            with cupy.cuda.using_allocator(allocator):
                equal(cupy.ones(1000).sum(), 1000)
        pinned = cupy.cuda.alloc_pinned_memory(800)
        host = np.frombuffer(pinned, np.float64, 100)
        host[...] = 3
        equal(cupy.asarray(host) * 2, np.full(100, 6))
        with cupy.cuda.using_allocator(cupy.cuda.malloc_managed):
            equal(cupy.arange(10) ** 2, np.arange(10) ** 2)


class RandomNumbers(unittest.TestCase):
    def test_generators(self):
        for make in (cupy.random.XORWOW, cupy.random.MRG32k3a, cupy.random.Philox4x3210):
            generator = cupy.random.Generator(make(7))
            again = cupy.random.Generator(make(7))
            numbers = generator.random(20_000)
            equal(numbers, cupy.asnumpy(again.random(20_000)))
            self.assertLess(abs(float(numbers.mean()) - 0.5), 0.02)
            self.assertLess(abs(float(generator.standard_normal(20_000).std()) - 1), 0.03)
            whole = generator.integers(0, 10, 20_000)
            self.assertEqual((int(whole.min()), int(whole.max())), (0, 9))
            self.assertLess(abs(float(generator.exponential(size=20_000).mean()) - 1), 0.05)


class Images(unittest.TestCase):
    def test_filters(self):
        import scipy.ndimage
        from cupyx.scipy import ndimage

        host = rng.random((40, 50))
        device = cupy.asarray(host)
        equal(ndimage.gaussian_filter(device, 1.5), scipy.ndimage.gaussian_filter(host, 1.5))
        equal(ndimage.median_filter(device, 3), scipy.ndimage.median_filter(host, 3))
        equal(ndimage.sobel(device), scipy.ndimage.sobel(host))
        equal(ndimage.rotate(device, 30, order=1), scipy.ndimage.rotate(host, 30, order=1), rtol=1e-5, atol=1e-5)
        labels, count = ndimage.label(device > 0.7)
        wanted, wanted_count = scipy.ndimage.label(host > 0.7)
        self.assertEqual(count, wanted_count)
        equal(labels > 0, wanted > 0)

    def test_special_functions(self):
        import scipy.special
        from cupyx.scipy import special

        host = rng.random(500) * 5 + 0.1
        for name in ("gamma", "gammaln", "erf", "erfc", "j0", "i0", "digamma", "expit"):
            equal(getattr(special, name)(cupy.asarray(host)), getattr(scipy.special, name)(host), rtol=1e-7)


if __name__ == "__main__":
    unittest.main()
