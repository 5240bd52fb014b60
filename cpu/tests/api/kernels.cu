// Kernels of the driver's own tests; api_kernels.ptx is this file through NVRTC for compute_80.
#include <cooperative_groups.h>

extern "C" {
__device__ void __assertfail(const char* message, const char* file, unsigned line, const char* function, size_t size);


__device__ int counter = 41;
__constant__ int table[4] = {1, 2, 3, 4};
__device__ int* pointer_to_counter = &counter;
__managed__ int shared_with_host = 7;

__global__ void saxpy(float a, const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i];
}

__global__ void count_up(int* out) { atomicAdd(out, 1); }
__global__ void read_globals(int* out) { out[0] = *pointer_to_counter; out[1] = table[threadIdx.x]; out[2] = shared_with_host; counter++; }
__global__ void set_to(int* out, int value) { *out = value; }
__global__ void wait_for(volatile int* flag, int* out) { while (*flag == 0) {} *out = 1; }

__global__ void block_sum(const int* in, int* out) {
  extern __shared__ int part[];
  const int t = threadIdx.x;
  part[t] = in[blockIdx.x * blockDim.x + t];
  __syncthreads();
  for (int half = blockDim.x / 2; half > 0; half /= 2) {
    if (t < half) part[t] += part[t + half];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = part[0];
}

__global__ void warp_rotate(int* out) { out[threadIdx.x] = __shfl_sync(~0u, threadIdx.x, (threadIdx.x + 1) % 32); }

__global__ void different_barriers() {
  if (threadIdx.x < 32) asm volatile("bar.sync 1, 64;");
  else asm volatile("bar.sync 2, 64;");
}

__global__ void leave_early_then_meet(int* out) {
  if (threadIdx.x % 2) return;
  __syncthreads();
  atomicAdd(out, 1);
}

__global__ void fail_assertion(int limit) {
  if (threadIdx.x >= limit) __assertfail("threadIdx.x < limit", "api_kernels.cu", 51, "fail_assertion", 1);
}
__global__ void trap_at_once() { asm volatile("trap;"); }
__global__ void write_to(unsigned long long address) { *(int*)address = 1; }
__global__ void print_two(int a, double b) { printf("a=%d b=%.2f %s%c\n", a, b, "text", '!'); }
__global__ void print_lane() { printf("%d ", threadIdx.x); }

__global__ void hand_over(volatile int* turn, int* out) {
  // Every block waits for the one before it, across blocks and warps.
  if (threadIdx.x == 0) {
    while (*turn != blockIdx.x) {}
    out[blockIdx.x] = *turn;
    __threadfence();
    *turn = blockIdx.x + 1;
  }
}

__global__ void wait_for_later_block(volatile int* flag) {
  if (blockIdx.x + 1 == gridDim.x) *flag = 1;
  else while (*flag == 0) {}
}

__global__ void sync_grid(int* sums, int* out) {
  cooperative_groups::grid_group grid = cooperative_groups::this_grid();
  if (threadIdx.x == 0) atomicAdd(sums, 1);
  grid.sync();
  if (threadIdx.x == 0) out[blockIdx.x] = *(volatile int*)sums;
}

__device__ int deep(int n, int* sink) {
  volatile int frame[256];
  frame[n % 256] = n;
  if (n == 0) return frame[0];
  const int below = deep(n - 1, sink);
  return below + frame[n % 256];
}
__global__ void recurse(int n, int* out) { *out = deep(n, out); }

__global__ void __launch_bounds__(64) at_most_64(int* out) { *out = blockDim.x; }
__global__ void mixed(char a, double b, short c, int* out) { *out = a + (int)b + c; }

__global__ void come_to_a_barrier_of_others(int* out) {
  asm volatile("bar.arrive 1, 1024;");
  *out = 1;
}
}
