"""PyCUDA beyond its first programs: kinds of memory and copies, structures, C++ sources, linking, texture and surface
references (in PTX, since CUDA 13's compilers know none), contexts and threads, reductions of structures, cuRAND's
generators; compared with NumPy."""

import threading
import unittest
from pathlib import Path

import numpy as np
import nvidia
import pycuda.autoinit  # noqa: F401
import pycuda.driver as driver
from pycuda import characterize, cumath, gpuarray, tools
from pycuda.compiler import DynamicSourceModule, SourceModule
from pycuda.elementwise import ElementwiseKernel
from pycuda.reduction import ReductionKernel, get_sum_kernel
from pycuda.scan import ExclusiveScanKernel, InclusiveScanKernel

rng = np.random.default_rng(3)
equal = np.testing.assert_allclose

DOUBLING = "__global__ void twice(float *x) { x[blockIdx.x * blockDim.x + threadIdx.x] *= 2; }"

# What texture<float, 2> and surface<void, 2> were: a kernel reads a texture of 8 by 4 elements at (x + dx, y + dy),
# and another adds 1 to what a surface has.
REFERENCES = b"""
.version 7.0
.target sm_70
.address_size 64
.global .texref image;
.global .surfref canvas;
.visible .entry sample(.param .u64 out, .param .f32 dx, .param .f32 dy) {
  .reg .b32 %r<8>;
  .reg .f32 %f<10>;
  .reg .b64 %d<3>;
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, %tid.y;
  cvt.rn.f32.u32 %f1, %r1;
  cvt.rn.f32.u32 %f2, %r2;
  ld.param.f32 %f3, [dx];
  ld.param.f32 %f4, [dy];
  add.f32 %f1, %f1, %f3;
  add.f32 %f2, %f2, %f4;
  tex.2d.v4.f32.f32 {%f5, %f6, %f7, %f8}, [image, {%f1, %f2}];
  ld.param.u64 %d1, [out];
  mad.lo.u32 %r3, %r2, 8, %r1;
  mad.wide.u32 %d2, %r3, 4, %d1;
  st.global.f32 [%d2], %f5;
  ret;
}
.visible .entry paint() {
  .reg .b32 %r<4>;
  .reg .f32 %f1;
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, %tid.y;
  shl.b32 %r1, %r1, 2;
  suld.b.2d.b32.trap {%r3}, [canvas, {%r1, %r2}];
  mov.b32 %f1, %r3;
  add.f32 %f1, %f1, 0f3F800000;
  mov.b32 %r3, %f1;
  sust.b.2d.b32.trap [canvas, {%r1, %r2}], {%r3};
  ret;
}
\0"""


class Memory(unittest.TestCase):
    def setUp(self):
        self.twice = SourceModule(DOUBLING).get_function("twice")

    def test_managed_memory(self):
        x = driver.managed_empty(256, np.float32, mem_flags=driver.mem_attach_flags.GLOBAL)
        x[:] = np.arange(256)
        self.twice(x, block=(256, 1, 1))
        driver.Context.synchronize()
        equal(x, np.arange(256) * 2)

    def test_host_memory_that_the_device_sees(self):
        x = driver.pagelocked_empty(256, np.float32, mem_flags=driver.host_alloc_flags.DEVICEMAP)
        x[:] = np.arange(256)  # PyCUDA 2026.1 itself crashes where memory is registered that NumPy 2 has
        self.twice(np.intp(x.base.get_device_pointer()), block=(256, 1, 1))
        driver.Context.synchronize()
        equal(x, np.arange(256) * 2)

    def test_pools(self):
        pool, pinned = tools.DeviceMemoryPool(), tools.PageLockedMemoryPool()
        host = pinned.allocate((1000,), np.float32)
        host[:] = 1
        for _ in range(3):
            x = gpuarray.GPUArray(1000, np.float32, allocator=pool.allocate)
            x.set(host)
            equal((x + 2).get(), np.full(1000, 3))
            del x
        self.assertGreater(pool.held_blocks, 0)
        pool.stop_holding()
        self.assertEqual(pool.held_blocks, 0)

    def test_pitched_copies(self):
        a = rng.random((30, 50)).astype(np.float32)
        memory, pitch = driver.mem_alloc_pitch(50 * 4, 30, 4)
        there = driver.Memcpy2D()
        there.set_src_host(a)
        there.set_dst_device(memory)
        there.src_pitch, there.dst_pitch, there.width_in_bytes, there.height = 200, pitch, 200, 30
        there(aligned=True)
        back, b = driver.Memcpy2D(), np.zeros((10, 20), np.float32)
        back.set_src_device(memory)
        back.set_dst_host(b)
        back.src_x_in_bytes, back.src_y, back.src_pitch = 12, 5, pitch
        back.dst_pitch, back.width_in_bytes, back.height = 80, 80, 10
        back(aligned=True)
        equal(b, a[5:15, 3:23])

    def test_copies_of_cubes(self):
        a = rng.random((4, 5, 8)).astype(np.float32)
        shape = driver.ArrayDescriptor3D()
        shape.width, shape.height, shape.depth = 8, 5, 4
        shape.format, shape.num_channels, shape.flags = driver.dtype_to_array_format(a.dtype), 1, 0
        array, b = driver.Array(shape), np.zeros_like(a)
        for to_array in (True, False):
            copy = driver.Memcpy3D()
            copy.set_src_host(a) if to_array else copy.set_src_array(array)
            copy.set_dst_array(array) if to_array else copy.set_dst_host(b)
            copy.width_in_bytes = copy.src_pitch = copy.dst_pitch = 32
            copy.src_height = copy.dst_height = copy.height = 5
            copy.depth = 4
            copy()
        equal(b, a)

    def test_fills_and_asynchronous_copies(self):
        memory, stream = driver.mem_alloc(1024), driver.Stream()
        driver.memset_d32(memory, 0x01020304, 256)
        driver.memset_d8(int(memory) + 512, 0xFF, 512)
        host = driver.pagelocked_empty(256, np.uint32)
        driver.memcpy_dtoh_async(host, memory, stream)
        stream.synchronize()
        equal(host, [0x01020304] * 128 + [0xFFFFFFFF] * 128)
        other = driver.mem_alloc(1024)
        driver.memcpy_dtod(other, memory, 1024)
        equal(driver.from_device(other, 256, np.uint32), host)

    def test_free_memory_and_attributes(self):
        free, total = driver.mem_get_info()
        self.assertTrue(0 < free <= total)
        device = driver.Context.get_device()
        self.assertEqual(device.get_attribute(driver.device_attribute.WARP_SIZE), 32)
        self.assertGreater(tools.OccupancyRecord(tools.DeviceData(), 128, 1024, 16).occupancy, 0)
        self.assertEqual(characterize.sizeof("long long"), 8)


class References(unittest.TestCase):
    def setUp(self):
        self.module = driver.module_from_buffer(REFERENCES)
        self.picture = rng.random((4, 8)).astype(np.float32)

    def sample(self, texture, dx=0.5, dy=0.5):
        out = np.zeros((4, 8), np.float32)
        sample = self.module.get_function("sample")
        sample(driver.Out(out), np.float32(dx), np.float32(dy), block=(8, 4, 1), texrefs=[texture])
        return out

    def test_textures(self):
        texture = self.module.get_texref("image")
        driver.matrix_to_texref(self.picture, texture, order="C")
        equal(self.sample(texture), self.picture)
        texture.set_address_mode(0, driver.address_mode.CLAMP)
        texture.set_address_mode(1, driver.address_mode.CLAMP)
        equal(self.sample(texture, dx=2.5), self.picture[:, np.minimum(np.arange(8) + 2, 7)])
        texture.set_filter_mode(driver.filter_mode.LINEAR)
        between = self.picture[:, np.minimum(np.arange(8) + 1, 7)]
        equal(self.sample(texture, dx=1.0), (self.picture + between) / 2, rtol=1e-2)

    def test_textures_of_arrays_on_the_device(self):
        texture = self.module.get_texref("image")
        driver.bind_array_to_texref(driver.gpuarray_to_array(gpuarray.to_gpu(self.picture), "C"), texture)
        equal(self.sample(texture), self.picture)

    def test_surfaces(self):
        array = driver.gpuarray_to_array(gpuarray.to_gpu(self.picture), "C", allowSurfaceBind=True)
        self.module.get_surfref("canvas").set_array(array)
        self.module.get_function("paint")(block=(8, 4, 1))
        out, copy = np.zeros_like(self.picture), driver.Memcpy2D()
        copy.set_src_array(array)
        copy.set_dst_host(out)
        copy.width_in_bytes = copy.dst_pitch = 32
        copy.height = 4
        copy(aligned=True)
        equal(out, self.picture + 1)


class Sources(unittest.TestCase):
    def test_templates_and_half_floats(self):
        module = SourceModule(
            """
            #include <cuda_fp16.h>
            template <typename T> __device__ T square(T x) { return x * x; }
            extern "C" __global__ void squares(const __half *in, __half *out) {
              out[threadIdx.x] = square(in[threadIdx.x]);
            }""",
            no_extern_c=True,
            options=["-std=c++17"],
        )
        a, out = (rng.random(64) * 8).astype(np.float16), np.zeros(64, np.float16)
        module.get_function("squares")(driver.In(a), driver.Out(out), block=(64, 1, 1))
        equal(out, a * a)

    def test_structures(self):
        kind = np.dtype([("id", np.int32), ("at", np.float32, 3), ("weight", np.float64)], align=True)
        module = SourceModule(
            """
            struct particle { int id; float at[3]; double weight; };
            __global__ void move(particle *all, int n) {
              int i = threadIdx.x;
              if (i >= n) return;
              for (int k = 0; k < 3; ++k) all[i].at[k] += all[i].id;
              all[i].weight *= 2;
            }"""
        )
        some = np.zeros(20, kind)
        some["id"], some["weight"] = np.arange(20), rng.random(20)
        weights = some["weight"].copy()
        module.get_function("move")(driver.InOut(some), np.int32(20), block=(32, 1, 1))
        equal(some["at"], np.repeat(np.arange(20.0)[:, None], 3, 1))
        equal(some["weight"], weights * 2)

    def test_linking(self):
        toolkit = Path(nvidia.__path__[0]) / "cu13"
        module = DynamicSourceModule(
            """
            __device__ int half_of(int x) { return x / 2; }
            extern "C" __global__ void halves(int *x) { x[threadIdx.x] = half_of(x[threadIdx.x]); }""",
            no_extern_c=True,
            cuda_libdir=str(toolkit / "lib"),
        )
        a = np.arange(64, dtype=np.int32)
        module.get_function("halves")(driver.InOut(a), block=(64, 1, 1))
        equal(a, np.arange(64) // 2)

    def test_shared_memory_of_the_launch(self):
        module = SourceModule("""
            __global__ void turn(const int *in, int *out) {
              extern __shared__ int room[];
              room[threadIdx.x] = in[threadIdx.x];
              __syncthreads();
              out[threadIdx.x] = room[blockDim.x - 1 - threadIdx.x];
            }""")
        turn = module.get_function("turn")
        turn.set_cache_config(driver.func_cache.PREFER_SHARED)
        a, out = rng.integers(0, 99, 128).astype(np.int32), np.zeros(128, np.int32)
        turn(driver.In(a), driver.Out(out), block=(128, 1, 1), shared=512)
        equal(out, a[::-1])
        seconds = turn(driver.In(a), driver.Out(out), block=(128, 1, 1), shared=512, time_kernel=True)
        self.assertGreaterEqual(seconds, 0)

    def test_what_does_not_compile_is_told(self):
        with self.assertRaises(driver.CompileError) as caught:
            SourceModule("__global__ void broken() { no_such_function(); }")
        self.assertIn("no_such_function", str(caught.exception))

    def test_what_does_not_fit_is_told(self):
        with self.assertRaises(driver.LogicError):
            SourceModule(DOUBLING).get_function("thrice")
        with self.assertRaises(driver.LogicError):
            SourceModule(DOUBLING).get_function("twice")(np.intp(0), block=(2048, 1, 1))


class Streams(unittest.TestCase):
    def test_streams_wait_for_events(self):
        twice = SourceModule(DOUBLING).get_function("twice")
        first, second, done = driver.Stream(), driver.Stream(), driver.Event()
        host = driver.pagelocked_empty(1024, np.float32)
        host[:] = np.arange(1024)
        x = gpuarray.to_gpu_async(host, stream=first)
        twice(x, block=(128, 1, 1), grid=(8, 1), stream=first)
        done.record(first)
        second.wait_for_event(done)
        twice(x, block=(128, 1, 1), grid=(8, 1), stream=second)
        back = x.get_async(stream=second)
        second.synchronize()
        self.assertTrue(done.query() and second.is_done())
        equal(back, np.arange(1024) * 4)

    def test_threads_have_contexts(self):
        found = {}

        def work(number):
            context = driver.Device(0).make_context()
            try:
                x = gpuarray.to_gpu(np.full(100, number, np.float32))
                found[number] = (x * x).get()
                del x
            finally:
                context.pop()
                context.detach()

        threads = [threading.Thread(target=work, args=(number,)) for number in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for number in range(3):
            equal(found[number], np.full(100, number**2))


class Arrays(unittest.TestCase):
    def test_strides_and_shapes(self):
        a = rng.random((12, 20)).astype(np.float32)
        x = gpuarray.to_gpu(a)
        equal(x.T.get(), a.T)
        equal(gpuarray.transpose(x).get(), a.T)
        equal(gpuarray.concatenate((x, x), axis=0).get(), np.concatenate((a, a)))
        equal(x[2:9, 3:5].get(), a[2:9, 3:5])
        equal(x.reshape(3, -1).get(), a.reshape(3, -1))
        equal(gpuarray.zeros_like(x).get(), 0 * a)

    def test_types_and_comparisons(self):
        a = rng.integers(1, 50, 999).astype(np.int32)
        x = gpuarray.to_gpu(a)
        for kind in (np.float64, np.int64, np.uint8, np.complex128):
            equal(x.astype(kind).get(), a.astype(kind))
        for other in (25, gpuarray.to_gpu(a[::-1].copy())):
            b = other if isinstance(other, int) else other.get()
            for found, wanted in ((x < other, a < b), (x >= other, a >= b), (x == other, a == b), (x != other, a != b)):
                np.testing.assert_array_equal(found.get().astype(bool), wanted)
        self.assertTrue((x > 0).all().get() and not (x > 60).any().get())

    def test_complex_numbers(self):
        for kind in (np.complex64, np.complex128):
            a = (rng.random(500) + 1j * rng.random(500)).astype(kind)
            x = gpuarray.to_gpu(a)
            equal((x * x.conj() + x / (x + 1)).get(), a * a.conj() + a / (a + 1), rtol=1e-4)
            equal(x.real.get(), a.real)
            equal(x.imag.get(), a.imag)
            equal(abs(x).get(), abs(a), rtol=1e-5)
            equal(cumath.exp(x).get(), np.exp(a), rtol=1e-4)
            equal(gpuarray.sum(x).get(), a.sum(), rtol=1e-4)

    def test_mathematics_of_doubles(self):
        a = rng.random(1000) * 0.9 + 0.05
        names = {"acos": "arccos", "asin": "arcsin", "atan": "arctan"}
        for name in ("sinh", "cosh", "tanh", "log10", "acos", "asin", "atan", "exp", "log", "sqrt", "fabs"):
            equal(getattr(cumath, name)(gpuarray.to_gpu(a)).get(), getattr(np, names.get(name, name))(a), rtol=1e-12)
        equal((gpuarray.to_gpu(a) ** 2.5).get(), a**2.5)

    def test_parts_of_numbers(self):
        a = (rng.random(1000) * 90 + 1).astype(np.float32)
        b = (rng.random(1000) + 1).astype(np.float32)
        x, y = gpuarray.to_gpu(a), gpuarray.to_gpu(b)  # these PyCUDA has for single precision alone
        equal(cumath.fmod(x, y).get(), np.fmod(a, b))
        mantissa, exponent = cumath.frexp(x)
        equal(cumath.ldexp(mantissa, exponent).get(), a)
        for found, wanted in zip(cumath.modf(x), np.modf(a), strict=True):
            equal(found.get(), wanted)

    def test_vectors(self):
        kind = gpuarray.vec.float4
        a = rng.random((64, 4)).astype(np.float32)
        kernel = ElementwiseKernel(
            [tools.VectorArg(kind, "v"), tools.VectorArg(np.float32, "out")],
            "out[i] = v[i].x * v[i].y + v[i].z - v[i].w",
            "of_vectors",
        )
        x, out = gpuarray.to_gpu(a.view(kind).reshape(64)), gpuarray.empty(64, np.float32)
        kernel(x, out)
        equal(out.get(), a[:, 0] * a[:, 1] + a[:, 2] - a[:, 3], rtol=1e-5)

    def test_parts_of_arrays(self):
        kernel = ElementwiseKernel("float *x, float by", "x[i] += by", "of_parts")
        x = gpuarray.zeros(1000, np.float32)
        kernel(x, 2, slice=slice(10, 700, 3))
        kernel(x, 1, range=slice(0, 5, 1))
        wanted = np.zeros(1000)
        wanted[10:700:3] += 2
        wanted[:5] += 1
        equal(x.get(), wanted)


class ReductionsAndScans(unittest.TestCase):
    def test_reductions_of_structures(self):
        kind = np.dtype([("least", np.int32), ("most", np.int32)])
        tools.get_or_register_dtype("both_ends", kind)
        kernel = ReductionKernel(
            kind,
            neutral="start()",
            reduce_expr="join(a, b)",
            map_expr="of(x[i])",
            arguments="int *x",
            preamble="""
            struct both_ends {
              int least, most;
              __device__ both_ends() {}
              __device__ both_ends(const both_ends &o) : least(o.least), most(o.most) {}
              __device__ both_ends(const volatile both_ends &o) : least(o.least), most(o.most) {}
              __device__ void operator=(const both_ends &o) { least = o.least; most = o.most; }
              __device__ void operator=(const both_ends &o) volatile { least = o.least; most = o.most; }
            };
            __device__ both_ends start() { both_ends e; e.least = 1 << 30; e.most = -(1 << 30); return e; }
            __device__ both_ends of(int x) { both_ends e; e.least = x; e.most = x; return e; }
            __device__ both_ends join(both_ends a, both_ends b) {
              a.least = min(a.least, b.least); a.most = max(a.most, b.most); return a; }""",
        )
        for size in (1, 100, 70_001):
            a = rng.integers(-(10**6), 10**6, size).astype(np.int32)
            found = kernel(gpuarray.to_gpu(a)).get()
            self.assertEqual((found["least"], found["most"]), (a.min(), a.max()))

    def test_reductions_of_every_type(self):
        for kind in (np.int8, np.uint16, np.int64, np.float32, np.complex128):
            a = rng.integers(0, 100, 12_345).astype(kind)
            out = np.float64 if np.dtype(kind).kind == "f" else kind if np.dtype(kind).kind == "c" else np.int64
            equal(get_sum_kernel(np.dtype(out), np.dtype(kind))(gpuarray.to_gpu(a)).get(), a.astype(out).sum())

    def test_scans_of_products(self):
        a = rng.uniform(0.9, 1.1, 5003)
        x = gpuarray.to_gpu(a)
        ExclusiveScanKernel(np.float64, "a * b", neutral="1")(x)
        equal(x.get(), np.append(1, np.cumprod(a)[:-1]))

    def test_largest_so_far(self):
        a = rng.random(4097)
        x = gpuarray.to_gpu(a)
        InclusiveScanKernel(np.float64, "a > b ? a : b", neutral="-1")(x)
        equal(x.get(), np.maximum.accumulate(a))


class RandomNumbers(unittest.TestCase):
    """What cuRAND has in headers; pycuda.curandom needs its library, which is machine code."""

    def drawn(self, generator, of, first, skipped):
        module = SourceModule(
            f"""
            #include <curand_kernel.h>
            extern "C" __global__ void draw({of} *out, int first, int skipped) {{
              curandState{generator}_t state;
              curand_init(99, first + threadIdx.x, skipped, &state);
              for (int i = 0; i < 100; ++i)
                out[threadIdx.x * 100 + i] = curand{"_normal" if of == "float" else ""}(&state);
            }}""",
            no_extern_c=True,
        )
        out = np.zeros((64, 100), np.float32 if of == "float" else np.uint32)
        module.get_function("draw")(driver.Out(out), np.int32(first), np.int32(skipped), block=(64, 1, 1))
        return out

    def test_generators_skip_and_differ(self):
        for generator in ("XORWOW", "Philox4_32_10", "MRG32k3a"):
            numbers = self.drawn(generator, "unsigned", 0, 0)
            equal(self.drawn(generator, "unsigned", 8, 0)[:-8], numbers[8:])
            equal(self.drawn(generator, "unsigned", 0, 40)[:, :60], numbers[:, 40:])
            self.assertGreater(len(np.unique(numbers)), 6395)
            self.assertLess(abs(numbers.mean() / 2**32 - 0.5), 0.02)

    def test_normal_numbers(self):
        numbers = self.drawn("Philox4_32_10", "float", 0, 0)
        self.assertLess(abs(numbers.mean()), 0.05)
        self.assertLess(abs(numbers.std() - 1), 0.05)

    def test_philox_is_philox(self):
        def rounds(counter, key):
            for _ in range(10):
                first, second = counter[0] * 0xD2511F53, counter[2] * 0xCD9E8D57
                low = 0xFFFFFFFF
                counter = [
                    second >> 32 ^ counter[1] ^ key[0],
                    second & low,
                    first >> 32 ^ counter[3] ^ key[1],
                    first & low,
                ]
                key = [(key[0] + 0x9E3779B9) & low, (key[1] + 0xBB67AE85) & low]
            return counter

        numbers = self.drawn("Philox4_32_10", "unsigned", 0, 0)
        for sequence in (0, 5):
            np.testing.assert_array_equal(numbers[sequence, 4:8], rounds([1, 0, sequence, 0], [99, 0]))


if __name__ == "__main__":
    unittest.main()
