// Headers of the C++ standard library for devices: atomics, barriers, pipelines, complex numbers, spans.
#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda/std/array>
#include <cuda/std/complex>
#include <cuda/std/limits>
#include <cuda/std/span>
#include <cuda/std/tuple>
#include <cuda/std/type_traits>

extern "C" __global__ void ordered(int* flag, unsigned long long* counter, int* out) {
  cuda::atomic_ref<int, cuda::thread_scope_device> ready(*flag);
  cuda::atomic_ref<unsigned long long, cuda::thread_scope_system> count(*counter);
  while (ready.load(cuda::memory_order_acquire) == 0) {
  }
  count.fetch_add(1, cuda::memory_order_acq_rel);
  int expected = 1;
  ready.compare_exchange_strong(expected, 2);
  cuda::atomic_thread_fence(cuda::memory_order_seq_cst, cuda::thread_scope_block);
  out[0] = cuda::std::numeric_limits<int>::max() - expected;
}

extern "C" __global__ void complex_sum(const cuda::std::complex<float>* in, cuda::std::complex<float>* out) {
  cuda::std::span<const cuda::std::complex<float>, 4> four(in, 4);
  cuda::std::complex<float> sum{};
  for (const auto& z : four) sum += z * z;
  *out = sum;
}

extern "C" __global__ void copy_asynchronously(const int4* in, int4* out) {
  __shared__ int4 stage[64];
  __shared__ cuda::barrier<cuda::thread_scope_block> arrived;
  if (threadIdx.x == 0) init(&arrived, blockDim.x);
  __syncthreads();
  cuda::memcpy_async(&stage[threadIdx.x], &in[threadIdx.x], sizeof(int4), arrived);
  arrived.arrive_and_wait();
  out[threadIdx.x] = stage[63 - threadIdx.x];
}
