// Inclusive prefix sums in three launches: each block scans its part and writes its sum, one block scans the sums, and
// each block adds the sum of those before it.
__device__ int scan_of_warp(int value) {
  for (unsigned distance = 1; distance < 32; distance *= 2) {
    const int left = __shfl_up_sync(0xffffffff, value, distance);
    if (threadIdx.x % 32 >= distance) value += left;
  }
  return value;
}

extern "C" __global__ void scan_blocks(const int* in, int* out, int* sums, int n) {
  __shared__ int of_warps[32];
  const unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  int value = scan_of_warp(i < n ? in[i] : 0);
  if (lane == 31) of_warps[warp] = value;
  __syncthreads();
  if (warp == 0) of_warps[lane] = scan_of_warp(lane < blockDim.x / 32 ? of_warps[lane] : 0);
  __syncthreads();
  if (warp > 0) value += of_warps[warp - 1];
  if (i < n) out[i] = value;
  if (threadIdx.x == blockDim.x - 1) sums[blockIdx.x] = value;
}

extern "C" __global__ void add_sums(int* out, const int* sums, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (blockIdx.x > 0 && i < n) out[i] += sums[blockIdx.x - 1];
}
