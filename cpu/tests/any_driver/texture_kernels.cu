// Kernels of texture_test.cpp; texture_kernels.ptx is this file through NVRTC for compute_80. Each thread reads one
// place and writes what it found.
extern "C" {

#define SAMPLER(name, type, expression)                                                              \
  __global__ void name(cudaTextureObject_t t, const float4* where, type* out, int n) {              \
    const int i = blockIdx.x * blockDim.x + threadIdx.x;                                            \
    if (i >= n) return;                                                                             \
    const float4 p = where[i];                                                                      \
    out[i] = expression;                                                                            \
  }

SAMPLER(fetch_float, float, tex1Dfetch<float>(t, (int)p.x))
SAMPLER(fetch_float4, float4, tex1Dfetch<float4>(t, (int)p.x))
SAMPLER(fetch_uint4, uint4, tex1Dfetch<uint4>(t, (int)p.x))
SAMPLER(fetch_int4, int4, tex1Dfetch<int4>(t, (int)p.x))
SAMPLER(tex_1d, float, tex1D<float>(t, p.x))
SAMPLER(tex_2d, float, tex2D<float>(t, p.x, p.y))
SAMPLER(tex_2d_float4, float4, tex2D<float4>(t, p.x, p.y))
SAMPLER(tex_2d_uint4, uint4, tex2D<uint4>(t, p.x, p.y))
SAMPLER(tex_2d_int4, int4, tex2D<int4>(t, p.x, p.y))
SAMPLER(tex_3d, float, tex3D<float>(t, p.x, p.y, p.z))
SAMPLER(tex_1d_layered, float, tex1DLayered<float>(t, p.x, (int)p.w))
SAMPLER(tex_2d_layered, float, tex2DLayered<float>(t, p.x, p.y, (int)p.w))
SAMPLER(tex_cubemap, float, texCubemap<float>(t, p.x, p.y, p.z))
SAMPLER(tex_cubemap_layered, float, texCubemapLayered<float>(t, p.x, p.y, p.z, (int)p.w))
SAMPLER(tex_2d_lod, float, tex2DLod<float>(t, p.x, p.y, p.z))
SAMPLER(tex_2d_grad, float, tex2DGrad<float>(t, p.x, p.y, make_float2(p.z, 0), make_float2(0, p.w)))
SAMPLER(gather_red, float4, tex2Dgather<float4>(t, p.x, p.y, 0))
SAMPLER(gather_green, float4, tex2Dgather<float4>(t, p.x, p.y, 1))

__global__ void tex_2d_offset(cudaTextureObject_t t, const float4* where, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float4 p = where[i];
  float4 v;
  asm volatile("tex.2d.v4.f32.f32 {%0, %1, %2, %3}, [%4, {%5, %6}], {%7, %8};"
               : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w)
               : "l"(t), "f"(p.x), "f"(p.y), "r"(1), "r"(-1));
  out[i] = v.x;
}

// The bits of four halves, and of two pairs of them.
__global__ void tex_2d_half(cudaTextureObject_t t, const float4* where, uint4* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float4 p = where[i];
  unsigned short x, y, z, w;
  unsigned int low, high;
  asm volatile("tex.2d.v4.f16.f32 {%0, %1, %2, %3}, [%4, {%5, %6}];"
               : "=h"(x), "=h"(y), "=h"(z), "=h"(w) : "l"(t), "f"(p.x), "f"(p.y));
  asm volatile("tex.2d.v2.f16x2.f32 {%0, %1}, [%2, {%3, %4}];" : "=r"(low), "=r"(high) : "l"(t), "f"(p.x), "f"(p.y));
  out[i] = make_uint4(x | (unsigned int)y << 16, z | (unsigned int)w << 16, low, high);
}

__global__ void describe_texture(cudaTextureObject_t t, int* out) {
  asm volatile("txq.width.b32 %0, [%1];" : "=r"(out[0]) : "l"(t));
  asm volatile("txq.height.b32 %0, [%1];" : "=r"(out[1]) : "l"(t));
  asm volatile("txq.depth.b32 %0, [%1];" : "=r"(out[2]) : "l"(t));
}

__global__ void describe_levels(cudaTextureObject_t t, int* out) {
  asm volatile("txq.num_mipmap_levels.b32 %0, [%1];" : "=r"(out[0]) : "l"(t));
}

__global__ void describe_surface(cudaSurfaceObject_t s, int* out) {
  asm volatile("suq.width.b32 %0, [%1];" : "=r"(out[0]) : "l"(s));
  asm volatile("suq.height.b32 %0, [%1];" : "=r"(out[1]) : "l"(s));
  asm volatile("suq.depth.b32 %0, [%1];" : "=r"(out[2]) : "l"(s));
}

__global__ void surface_1d(cudaSurfaceObject_t from, cudaSurfaceObject_t to, int width) {
  const int x = threadIdx.x;
  unsigned char value;
  surf1Dread(&value, from, x);
  if (x < width) surf1Dwrite((unsigned char)(value + 1), to, x);
}

__global__ void surface_2d_transpose(cudaSurfaceObject_t from, cudaSurfaceObject_t to) {
  const int x = threadIdx.x, y = threadIdx.y;
  float4 value;
  surf2Dread(&value, from, x * (int)sizeof(float4), y);
  surf2Dwrite(value, to, y * (int)sizeof(float4), x);
}

__global__ void surface_3d(cudaSurfaceObject_t to) {
  const int x = threadIdx.x, y = threadIdx.y, z = threadIdx.z;
  surf3Dwrite((short)(x + 10 * y + 100 * z), to, x * 2, y, z);
}

__global__ void surface_layered(cudaSurfaceObject_t to) {
  const int x = threadIdx.x, y = threadIdx.y, layer = threadIdx.z;
  surf2DLayeredwrite((float)(x + 10 * y + 100 * layer), to, x * 4, y, layer);
}

__global__ void surface_cubemap(cudaSurfaceObject_t to) {
  const int x = threadIdx.x, y = threadIdx.y, face = threadIdx.z;
  surfCubemapwrite((float)(x + 10 * y + 100 * face), to, x * 4, y, face);
}

__global__ void surface_outside(cudaSurfaceObject_t s, int* out) {
  surf2Dread(&out[0], s, -4, 1, cudaBoundaryModeZero);
  surf2Dread(&out[1], s, 4000, 1, cudaBoundaryModeZero);
  surf2Dread(&out[2], s, -4, 1, cudaBoundaryModeClamp);
  surf2Dread(&out[3], s, 4000, 99, cudaBoundaryModeClamp);
  surf2Dwrite(77, s, 4, 99, cudaBoundaryModeZero);
  surf2Dwrite(88, s, 0, -1, cudaBoundaryModeClamp);
}

__global__ void surface_trap(cudaSurfaceObject_t s) { surf2Dwrite(1, s, 0, 1000, cudaBoundaryModeTrap); }

__global__ void surface_reduce(cudaSurfaceObject_t s) {
  const int i = threadIdx.x;
  asm volatile("sured.b.add.2d.u32.trap [%0, {%1, %2}], %3;" ::"l"(s), "r"(0), "r"(0), "r"(i));
  asm volatile("sured.b.max.2d.s32.trap [%0, {%1, %2}], %3;" ::"l"(s), "r"(4), "r"(0), "r"(i - 40));
  asm volatile("sured.b.min.2d.s32.trap [%0, {%1, %2}], %3;" ::"l"(s), "r"(8), "r"(0), "r"(i - 40));
  asm volatile("sured.b.or.2d.b32.trap [%0, {%1, %2}], %3;" ::"l"(s), "r"(12), "r"(0), "r"(1 << (i % 32)));
  asm volatile("sured.p.add.2d.b32.trap [%0, {%1, %2}], %3;" ::"l"(s), "r"(1), "r"(1), "r"(1));
}

__global__ void surface_formatted(cudaSurfaceObject_t s) {
  asm volatile("sust.p.2d.v4.b32.trap [%0, {%1, %2}], {%3, %4, %5, %6};" ::"l"(s), "r"(1), "r"(1),
               "f"(0.25f), "f"(-2.0f), "f"(1.0f), "f"(0.5f));
}
}
