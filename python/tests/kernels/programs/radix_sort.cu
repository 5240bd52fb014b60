// One pass of a stable radix sort by 4 bits: counts of each block, then places from the counts' prefix sums.
extern "C" __global__ void count(const unsigned* keys, unsigned* counts, unsigned n, unsigned shift) {
  __shared__ unsigned bins[16];
  if (threadIdx.x < 16) bins[threadIdx.x] = 0;
  __syncthreads();
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&bins[keys[i] >> shift & 15], 1u);
  __syncthreads();
  if (threadIdx.x < 16) counts[threadIdx.x * gridDim.x + blockIdx.x] = bins[threadIdx.x];
}

extern "C" __global__ void prefix(unsigned* counts, unsigned n) {
  unsigned sum = 0;
  for (unsigned i = 0; i < n; ++i) {
    unsigned count = counts[i];
    counts[i] = sum;
    sum += count;
  }
}

extern "C" __global__ void place(const unsigned* keys, unsigned* sorted, const unsigned* starts, unsigned n, unsigned shift) {
  __shared__ unsigned of_warp[8][16];  // how many of each digit a warp has, then how many are in the warps before it
  unsigned t = threadIdx.x, warp = t / 32, lane = t % 32, i = blockIdx.x * blockDim.x + t;
  if (t < 128) of_warp[t / 16][t % 16] = 0;
  __syncthreads();
  unsigned key = i < n ? keys[i] : 0, digit = i < n ? key >> shift & 15 : 16;
  unsigned same = __match_any_sync(0xffffffff, digit), before = __popc(same & ((1u << lane) - 1));
  if (digit < 16 && before == 0) of_warp[warp][digit] = __popc(same);
  __syncthreads();
  if (t < 16) {
    unsigned sum = 0;
    for (unsigned w = 0; w < 8; ++w) {
      unsigned count = of_warp[w][t];
      of_warp[w][t] = sum;
      sum += count;
    }
  }
  __syncthreads();
  if (digit < 16) sorted[starts[digit * gridDim.x + blockIdx.x] + of_warp[warp][digit] + before] = key;
}
