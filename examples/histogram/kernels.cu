// How often each byte occurs: a block counts in shared memory, where atomics are cheap, and adds its counts once.
extern "C" __global__ void histogram(const unsigned char* bytes, int n, unsigned* counts) {
  __shared__ unsigned mine[256];
  for (int bin = threadIdx.x; bin < 256; bin += blockDim.x) mine[bin] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(&mine[bytes[i]], 1);
  __syncthreads();
  for (int bin = threadIdx.x; bin < 256; bin += blockDim.x) atomicAdd(&counts[bin], mine[bin]);
}
