"""SlangPy on its CUDA device, compared with NumPy: functions over arrays, structures, generics, gradients, atomics,
shared memory, waves, textures, command encoders. Slang is compiled to CUDA by the library, to PTX by NVRTC, and
launched through the driver."""

import unittest

import numpy as np
import slangpy as spy

device = spy.create_device(type=spy.DeviceType.cuda)
rng = np.random.default_rng(8)


def module(source):
    module.number += 1
    return spy.Module(device.load_module_from_source(f"m{module.number}", source))


module.number = 0


def equal(found, wanted, rtol=1e-5, atol=1e-6):
    np.testing.assert_allclose(found, wanted, rtol=rtol, atol=atol)


class Functions(unittest.TestCase):
    def test_the_device_is_cuda(self):
        self.assertEqual(device.info.type, spy.DeviceType.cuda)

    def test_scalars_and_arrays(self):
        m = module("float f(float a, float b) { return sin(a) * b + exp(-a) + pow(a + 1, 0.3); }")
        a = rng.random((40, 30), np.float32)
        equal(m.f(a, 2.0, _result="numpy"), np.sin(a) * 2 + np.exp(-a) + (a + 1) ** 0.3, rtol=1e-4)
        equal(m.f(a, a[0], _result="numpy"), np.sin(a) * a[0] + np.exp(-a) + (a + 1) ** 0.3, rtol=1e-4)

    def test_integers(self):
        m = module(
            """
            uint f(uint a) { return countbits(a) + firstbithigh(a | 1) * 100 + reversebits(a) % 7; }
            int64_t g(int64_t a, int64_t b) { return a / b + (a % b) * 3 - (a >> 5); }
            """
        )
        a = rng.integers(
            0, 2**31, 1000, dtype=np.uint32
        )  # firstbithigh of Slang's CUDA prelude takes larger ones for negative
        wanted = [bin(v).count("1") + (int(v | 1).bit_length() - 1) * 100 + int(f"{v:032b}"[::-1], 2) % 7 for v in a]
        equal(m.f(a, _result="numpy"), wanted, rtol=0)
        x, y = rng.integers(0, 2**62, 500), rng.integers(1, 2**31, 500)
        equal(m.g(x, y, _result="numpy"), x // y + x % y * 3 - (x >> 5), rtol=0)

    def test_halves_and_doubles(self):
        m = module("half f(half a) { return a * a + half(1); } double g(double a) { return sqrt(a) / 3 + 1; }")
        a = rng.random(500)
        equal(m.f(a.astype(np.float16), _result="numpy"), a.astype(np.float16) ** 2 + 1, rtol=2e-3)
        equal(m.g(a, _result="numpy"), np.sqrt(a) / 3 + 1, rtol=1e-12)

    def test_vectors_and_matrices(self):
        m = module("float3 f(float3x3 m, float3 v) { return mul(m, v) + cross(v, float3(1, 2, 3)) + normalize(v); }")
        v = rng.random((100, 3), np.float32) + 0.1
        matrix = rng.random((3, 3), np.float32)
        found = m.f(spy.float3x3(matrix), v, _result="numpy")
        wanted = v @ matrix.T + np.cross(v, [1, 2, 3]) + v / np.linalg.norm(v, axis=1, keepdims=True)
        equal(found.reshape(wanted.shape), wanted, rtol=1e-4)

    def test_structures_and_generics(self):
        m = module(
            """
            struct Pair { float a; int b; float sum() { return a + b; } };
            interface IShape { float area(); }
            struct Square : IShape { float side; float area() { return side * side; } }
            struct Circle : IShape { float radius; float area() { return 3.0f * radius * radius; } }
            float twice<T : IShape>(T shape) { return 2 * shape.area(); }
            float f(Pair p) { Square s = { p.a }; Circle c = { p.b }; return p.sum() + twice(s) + twice(c); }
            """
        )
        a = rng.random(50, np.float32)
        equal(m.f({"a": a, "b": 3}, _result="numpy"), a + 3 + 2 * a * a + 54, rtol=1e-5)

    def test_gradients(self):
        m = module("[Differentiable] float f(float a, float b) { return sin(a) * b + a * a * a; }")
        a, b = rng.random(200, np.float32), rng.random(200, np.float32)
        x = spy.Tensor.from_numpy(device, a).with_grads(zero=True)
        y = spy.Tensor.from_numpy(device, b).with_grads(zero=True)
        result = m.f(x, y, _result="tensor").with_grads(zero=True)
        result.grad_in.copy_from_numpy(np.ones(200, np.float32)) if result.grad_in else None
        m.f.bwds(x, y, result)
        equal(x.grad.to_numpy(), np.cos(a) * b + 3 * a * a, rtol=1e-4)
        equal(y.grad.to_numpy(), np.sin(a), rtol=1e-4)


class Kernels(unittest.TestCase):
    def run_kernel(self, code, threads, **arguments):
        m = device.load_module_from_source(f"k{module.number}", code)
        module.number += 1
        kernel = device.create_compute_kernel(device.link_program([m], [m.entry_point("kernel")]))
        kernel.dispatch(thread_count=threads, vars=arguments)

    def buffer(self, array):
        return device.create_buffer(
            data=array,
            struct_size=array.itemsize,
            element_count=array.size,
            usage=spy.BufferUsage.shader_resource | spy.BufferUsage.unordered_access,
        )

    def test_shared_memory_and_barriers(self):
        a = rng.random(2048, np.float32)
        source, sums = self.buffer(a), self.buffer(np.zeros(16, np.float32))
        self.run_kernel(
            """
            StructuredBuffer<float> source; RWStructuredBuffer<float> sums;
            groupshared float cells[128];
            [shader("compute")] [numthreads(128, 1, 1)]
            void kernel(uint3 id : SV_DispatchThreadID, uint3 group : SV_GroupID, uint t : SV_GroupIndex) {
                cells[t] = source[id.x];
                GroupMemoryBarrierWithGroupSync();
                for (uint s = 64; s > 0; s >>= 1) {
                    if (t < s) cells[t] += cells[t + s];
                    GroupMemoryBarrierWithGroupSync();
                }
                if (t == 0) sums[group.x] = cells[0];
            }""",
            [2048, 1, 1],
            source=source,
            sums=sums,
        )
        equal(sums.to_numpy().view(np.float32), a.reshape(16, 128).sum(1), rtol=1e-4)

    def test_atomics(self):
        bins = self.buffer(np.zeros(10, np.uint32))
        a = rng.integers(0, 10, 5000).astype(np.uint32)
        self.run_kernel(
            """
            StructuredBuffer<uint> source; RWStructuredBuffer<uint> bins;
            [shader("compute")] [numthreads(64, 1, 1)]
            void kernel(uint3 id : SV_DispatchThreadID) {
                if (id.x < 5000) InterlockedAdd(bins[source[id.x]], 1);
            }""",
            [5000, 1, 1],
            source=self.buffer(a),
            bins=bins,
        )
        equal(bins.to_numpy().view(np.uint32), np.bincount(a, minlength=10), rtol=0)

    def test_waves(self):
        out = self.buffer(np.zeros(128, np.uint32))
        self.run_kernel(
            """
            RWStructuredBuffer<uint> result;
            [shader("compute")] [numthreads(64, 1, 1)]
            void kernel(uint3 id : SV_DispatchThreadID) {
                uint sum = WaveActiveSum(id.x), before = WavePrefixSum(1u);
                result[id.x] = sum * 100 + before + WaveReadLaneAt(id.x, 3) * 100000;
            }""",
            [128, 1, 1],
            result=out,
        )
        i = np.arange(128)
        equal(
            out.to_numpy().view(np.uint32),
            i.reshape(4, 32).sum(1)[i // 32] * 100 + i % 32 + (i // 32 * 32 + 3) * 100000,
        )

    def test_textures(self):
        a = rng.random((16, 32), np.float32)
        texture = device.create_texture(
            width=32,
            height=16,
            format=spy.Format.r32_float,
            usage=spy.TextureUsage.shader_resource | spy.TextureUsage.unordered_access,
            data=a,
        )
        out = self.buffer(np.zeros(512, np.float32))
        self.run_kernel(
            """
            Texture2D<float> texture; RWStructuredBuffer<float> result;
            [shader("compute")] [numthreads(8, 8, 1)]
            void kernel(uint3 id : SV_DispatchThreadID) {
                result[id.y * 32 + id.x] = texture.Load(int3(id.xy, 0)) * 2;
            }""",
            [32, 16, 1],
            texture=texture,
            result=out,
        )
        equal(out.to_numpy().view(np.float32).reshape(16, 32), a * 2)
        equal(texture.to_numpy(), a)

    def test_an_encoder(self):
        a = np.arange(1000, dtype=np.float32)
        first, second = self.buffer(a), self.buffer(np.zeros_like(a))
        encoder = device.create_command_encoder()
        encoder.copy_buffer(second, 0, first, 400, 2000)
        encoder.clear_buffer(first)
        device.submit_command_buffer(encoder.finish())
        device.wait()
        equal(second.to_numpy().view(np.float32)[:500], a[100:600])
        equal(first.to_numpy().view(np.float32), np.zeros(1000))


if __name__ == "__main__":
    unittest.main()
