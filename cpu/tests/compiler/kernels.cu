// Kernels of kernels_test.cpp. kernels.ptx is what NVRTC 13.0 makes of this with
// --gpu-architecture=compute_80.
#include <cuda/std/cstdint>

extern "C" __global__ void matmul(const float* a, const float* b, float* c, int n) {
  __shared__ float tile_a[8][8];
  __shared__ float tile_b[8][8];
  const int row = blockIdx.y * 8 + threadIdx.y;
  const int column = blockIdx.x * 8 + threadIdx.x;
  float sum = 0;
  for (int t = 0; t < n / 8; ++t) {
    tile_a[threadIdx.y][threadIdx.x] = a[row * n + t * 8 + threadIdx.x];
    tile_b[threadIdx.y][threadIdx.x] = b[(t * 8 + threadIdx.y) * n + column];
    __syncthreads();
    for (int k = 0; k < 8; ++k) sum += tile_a[threadIdx.y][k] * tile_b[k][threadIdx.x];
    __syncthreads();
  }
  c[row * n + column] = sum;
}

extern "C" __global__ void histogram(const uint8_t* data, unsigned n, unsigned* counts) {
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    atomicAdd(&counts[data[i]], 1U);
  }
}

extern "C" __global__ void atomics(unsigned* u, int* s, unsigned long long* l, float* f, double* d) {
  const unsigned t = blockIdx.x * blockDim.x + threadIdx.x;
  atomicAdd(u + 0, t);
  atomicMax(u + 1, t);
  atomicMin(u + 2, t);
  atomicOr(u + 3, 1U << (t % 32));
  atomicInc(u + 4, 9);
  atomicDec(u + 5, 9);
  atomicXor(u + 6, t);
  atomicMin(s + 0, -static_cast<int>(t));
  atomicMax(s + 1, static_cast<int>(t) - 5);
  atomicAdd(l, static_cast<unsigned long long>(t) << 33);
  atomicAdd(f, 0.5F);
  atomicAdd(d, 0.25);
}

/// A compare-and-swap loop that retries with the value it saw: lock-free, so no reason to wait.
extern "C" __global__ void multiply_all(const float* factors, float* product) {
  int* cell = reinterpret_cast<int*>(product);
  int seen = *cell;
  int expected;
  do {
    expected = seen;
    seen = atomicCAS(cell, expected, __float_as_int(__int_as_float(expected) * factors[threadIdx.x]));
  } while (seen != expected);
}

/// A lock that lanes of one warp contend for.
extern "C" __global__ void lock(int* mutex, int* counter) {
  while (atomicCAS(mutex, 0, 1) != 0) {
  }
  __threadfence();
  *counter = *counter + 1;
  __threadfence();
  atomicExch(mutex, 0);
}

/// Every thread waits for the one before it.
extern "C" __global__ void relay(volatile int* flags, int* order) {
  const int t = static_cast<int>(blockDim.x - 1 - threadIdx.x);
  if (t > 0) {
    while (flags[t - 1] == 0) {
    }
  }
  order[t] = t == 0 ? 1 : order[t - 1] + 1;
  __threadfence();
  flags[t] = 1;
}

extern "C" __global__ void local_array(const int* picks, int* out, int n) {
  int table[16];
  for (int i = 0; i < 16; ++i) table[i] = i * i;
  for (int i = 0; i < n; ++i) table[picks[i] & 15] += i;
  out[threadIdx.x] = table[(picks[threadIdx.x % n] + threadIdx.x) & 15];
}

__device__ __noinline__ int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }

struct Pair {
  double sum;
  int count;
};

__device__ __noinline__ Pair accumulate(Pair so_far, const float* values, int n) {
  for (int i = 0; i < n; ++i) so_far.sum += values[i];
  so_far.count += n;
  return so_far;
}

extern "C" __global__ void calls(const float* values, int n, Pair* out, int* numbers) {
  out[threadIdx.x] = accumulate(Pair{static_cast<double>(threadIdx.x), 1}, values, n);
  numbers[threadIdx.x] = fibonacci(static_cast<int>(threadIdx.x));
}

__device__ __noinline__ int exit_if_odd(int value) {
  if (value & 1) asm volatile("exit;");
  return value * 10;
}

extern "C" __global__ void exits(int* out) { out[threadIdx.x] = exit_if_odd(static_cast<int>(threadIdx.x)); }

extern "C" __global__ void prints(const char* name) {
  printf("%s: thread %d of %u, %f\n", name, static_cast<int>(threadIdx.x), blockDim.x, threadIdx.x / 4.0);
}

extern "C" __global__ void asserts(int limit) { assert(static_cast<int>(threadIdx.x) < limit); }

extern "C" __global__ void block_sum(const float* in, float* out) {
  __shared__ float partial[32];
  float value = in[blockIdx.x * blockDim.x + threadIdx.x];
  for (int offset = 16; offset > 0; offset /= 2) value += __shfl_down_sync(0xffffffffU, value, offset);
  if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = value;
  __syncthreads();
  if (threadIdx.x == 0) {
    float sum = 0;
    for (unsigned w = 0; w < blockDim.x / 32; ++w) sum += partial[w];
    out[blockIdx.x] = sum;
  }
}

extern "C" __global__ void votes(const int* in, unsigned* out) {
  const bool odd = in[threadIdx.x] & 1;
  const unsigned ballot = __ballot_sync(0xffffffffU, odd);
  const bool all = __all_sync(0xffffffffU, in[threadIdx.x] >= 0);
  const bool any = __any_sync(0xffffffffU, in[threadIdx.x] > 1000);
  out[threadIdx.x] = ballot ^ (all ? 1U : 0U) ^ (any ? 2U : 0U);
}

extern "C" __global__ void dynamic_shared(const int* in, int* out) {
  extern __shared__ int buffer[];
  __shared__ char other[5];
  other[threadIdx.x % 5] = 1;
  buffer[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  out[threadIdx.x] = buffer[blockDim.x - 1 - threadIdx.x] + other[threadIdx.x % 5];
}

__constant__ float weights[4] = {0.5F, 1.5F, 2.5F, 3.5F};
__device__ int counter = 41;
__device__ const int* indirect = &counter;

extern "C" __global__ void module_variables(float* out, int* seen) {
  out[threadIdx.x] = weights[threadIdx.x % 4];
  if (threadIdx.x == 0) {
    counter = counter + 1;
    *seen = *indirect;
  }
}

extern "C" __global__ void special_registers(unsigned* out) {
  const unsigned thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
  const unsigned block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
  unsigned lane, warp;
  asm("mov.u32 %0, %%laneid;" : "=r"(lane));
  asm("mov.u32 %0, %%warpid;" : "=r"(warp));
  out[block * blockDim.x * blockDim.y * blockDim.z + thread] = block * 1000 + warp * 32 + lane;
}

extern "C" __global__ void mathematics(const float* in, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = expf(in[i]) + sinf(in[i]) * logf(fabsf(in[i]) + 1.0F) + sqrtf(fabsf(in[i])) / (1.0F + in[i] * in[i]);
}

extern "C" __global__ void integers(const int* a, const int* b, long long* out) {
  const int t = threadIdx.x;
  out[4 * t] = a[t] / b[t];
  out[4 * t + 1] = a[t] % b[t];
  out[4 * t + 2] = __mul64hi(a[t] * 0x100000001LL, b[t] * 0x7654321LL);
  out[4 * t + 3] = __popc(a[t]) + __clz(b[t]) + __brev(a[t]) + (a[t] << (b[t] & 31));
}

/// Waits with an ordinary load behind a fence.
extern "C" __global__ void fenced_wait(int* flag, int* out) {
  if (threadIdx.x == 0) {
    while (*flag == 0) __threadfence();
    out[0] = out[1] + 1;
  } else {
    out[1] = 41;
    __threadfence();
    *flag = 1;
  }
}

struct Shape {
  __device__ virtual float area() const = 0;
};
struct Square : Shape {
  float side;
  __device__ explicit Square(float s) : side(s) {}
  __device__ float area() const override { return side * side; }
};
struct Circle : Shape {
  float radius;
  __device__ explicit Circle(float r) : radius(r) {}
  __device__ float area() const override { return 3.0F * radius * radius; }
};

extern "C" __global__ void make_shapes(Shape** shapes) {
  const auto size = static_cast<float>(threadIdx.x);
  if (threadIdx.x % 2 == 0) {
    shapes[threadIdx.x] = new Square(size);
  } else {
    shapes[threadIdx.x] = new Circle(size);
  }
}

extern "C" __global__ void measure_shapes(Shape** shapes, float* out) {
  out[threadIdx.x] = shapes[threadIdx.x]->area();
  delete shapes[threadIdx.x];
}

__device__ int twice(int a) { return 2 * a; }
__device__ int thrice(int a) { return 3 * a; }
__device__ int (*const operations[2])(int) = {twice, thrice};

extern "C" __global__ void function_table(int* out) {
  out[threadIdx.x] = operations[threadIdx.x % 2](static_cast<int>(threadIdx.x));
}
