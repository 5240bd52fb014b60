// The elements that pass a test, in their order: votes within warps, and each block waits for what is before it.
__device__ unsigned next_block = 0;

extern "C" __global__ void keep_odd(const int* in, int* out, int n, volatile int* ends, int* total) {
  __shared__ int of_warp[8], start;
  __shared__ unsigned block;
  int t = threadIdx.x, lane = t % 32, warp = t / 32;
  if (t == 0) block = atomicAdd(&next_block, 1);  // blocks by the order in which they start, so that none waits for ever
  __syncthreads();
  int i = block * 256 + t;
  bool kept = i < n && in[i] % 2 != 0;
  unsigned votes = __ballot_sync(0xffffffff, kept);
  if (lane == 0) of_warp[warp] = __popc(votes);
  __syncthreads();
  if (t == 0) {
    int sum = 0;
    for (int w = 0; w < 8; ++w) {
      int count = of_warp[w];
      of_warp[w] = sum;
      sum += count;
    }
    int before = 0;
    if (block > 0)
      while ((before = ends[block - 1]) < 0) {}
    __threadfence();
    ends[block] = before + sum;
    start = before;
    if (block == gridDim.x - 1) *total = before + sum, next_block = 0;
  }
  __syncthreads();
  if (kept) out[start + of_warp[warp] + __popc(votes & ((1u << lane) - 1))] = in[i];
}
