// Planted bugs of textures and surfaces, and clean kernels beside them, in the way of planted_bugs.cu. Each also gets
// an object: of `a` as a row of ints or as 8 rows of 16, 128 bytes apart, or of a CUDA array of 8 rows of 16 ints.
#define KERNEL extern "C" __global__ void
using Object = unsigned long long;

// By name, since what CUDA's functions do has their header's line.
#define FETCH_1D(v, texels, x) \
  asm volatile("{\n.reg .b32 y, z, w;\ntex.1d.v4.s32.s32 {%0, y, z, w}, [%1, {%2}];\n}" : "=r"(v) : "l"(texels), "r"(x))
#define FETCH_2D(v, texels, x, y)                                                           \
  asm volatile("{\n.reg .b32 q, r, s;\ntex.2d.v4.s32.s32 {%0, q, r, s}, [%1, {%2, %3}];\n}" \
               : "=r"(v)                                                                    \
               : "l"(texels), "r"(x), "r"(y))
#define LOAD_2D(v, texels, x, y) \
  asm volatile("suld.b.2d.b32.trap %0, [%1, {%2, %3}];" : "=r"(v) : "l"(texels), "r"(x), "r"(y) : "memory")
#define STORE_2D(v, texels, x, y) \
  asm volatile("sust.b.2d.b32.trap [%1, {%2, %3}], %0;" ::"r"(v), "l"(texels), "r"(x), "r"(y) : "memory")

KERNEL texture_of_freed_memory(int* a, int n, int zero, Object texels) {
  int v;
  FETCH_1D(v, texels, threadIdx.x);  // BUG texture_of_freed_memory
  if (v != zero) __trap();
}

KERNEL texture_of_freed_rows(int* a, int n, int zero, Object texels) {
  int v;
  FETCH_2D(v, texels, threadIdx.x % 16, threadIdx.x / 16);  // BUG texture_of_freed_rows
  if (v != zero) __trap();
}

KERNEL texture_of_destroyed_array(int* a, int n, int zero, Object texels) {
  int v;
  FETCH_2D(v, texels, threadIdx.x % 16, threadIdx.x / 16);  // BUG texture_of_destroyed_array
  a[threadIdx.x] = v;
}

KERNEL surface_of_destroyed_array(int* a, int n, int zero, Object texels) {
  STORE_2D(n, texels, threadIdx.x % 16 * 4, threadIdx.x / 16);  // BUG surface_of_destroyed_array
}

KERNEL surface_out_of_range(int* a, int n, int zero, Object texels) {
  STORE_2D(n, texels, threadIdx.x % 16 * 4, threadIdx.x / 16 + 5);  // BUG surface_out_of_range
}

KERNEL texels_never_written(int* a, int n, int zero, Object texels) {
  int v;
  FETCH_1D(v, texels, threadIdx.x);  // BUG texels_never_written
  if (v == zero + 1) a[0] = v;
}

KERNEL blocks_write_one_texel(int* a, int n, int zero, Object texels) {
  if (threadIdx.x == 0) STORE_2D(blockIdx.x, texels, 0, zero);  // BUG blocks_write_one_texel
}

KERNEL destroyed_texture(int* a, int n, int zero, Object texels) {
  int v;
  FETCH_1D(v, texels, threadIdx.x);  // BUG destroyed_texture
  a[threadIdx.x] = v;
}

KERNEL destroyed_surface(int* a, int n, int zero, Object texels) {
  int v;
  LOAD_2D(v, texels, threadIdx.x % 16 * 4, threadIdx.x / 16);  // BUG destroyed_surface
  a[threadIdx.x] = v;
}

// What lies outside of a texture is the border, or the texel at the edge.
KERNEL clean_texture_of_memory(int* a, int n, int zero, Object texels) {
  int v;
  FETCH_1D(v, texels, n - 32 + threadIdx.x);
  if (v != zero) __trap();
}

KERNEL clean_texture_of_rows(int* a, int n, int zero, Object texels) {
  int v;
  FETCH_2D(v, texels, threadIdx.x, threadIdx.x / 8);
  if (v != zero) __trap();
}

KERNEL clean_texture_of_array(int* a, int n, int zero, Object texels) {
  int v;
  FETCH_2D(v, texels, threadIdx.x, threadIdx.x / 8);
  a[threadIdx.x] = v;
}

KERNEL clean_surface(int* a, int n, int zero, Object texels) {
  int v;
  LOAD_2D(v, texels, threadIdx.x % 16 * 4, threadIdx.x / 16);
  STORE_2D(v + 1, texels, threadIdx.x % 16 * 4, threadIdx.x / 16);
}
