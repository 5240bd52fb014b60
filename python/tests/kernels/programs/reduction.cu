// The sum of an array, five ways; each adds its block's part to *sum.
extern "C" __global__ void by_atomics(const int* in, int* sum, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(sum, in[i]);
}

__device__ int strided(const int* in, int n) {
  int part = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) part += in[i];
  return part;
}

extern "C" __global__ void by_tree(const int* in, int* sum, int n) {
  __shared__ int tile[256];
  int t = threadIdx.x;
  tile[t] = strided(in, n);
  for (int half = 128; half > 0; half /= 2) {
    __syncthreads();
    if (t < half) tile[t] += tile[t + half];
  }
  if (t == 0) atomicAdd(sum, tile[0]);
}

extern "C" __global__ void by_shuffles(const int* in, int* sum, int n) {
  __shared__ int of_warp[8];
  int part = strided(in, n), lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  for (int distance = 16; distance > 0; distance /= 2) part += __shfl_down_sync(0xffffffff, part, distance);
  if (lane == 0) of_warp[warp] = part;
  __syncthreads();
  if (warp == 0) {
    part = lane < 8 ? of_warp[lane] : 0;
    for (int distance = 4; distance > 0; distance /= 2) part += __shfl_xor_sync(0xffffffff, part, distance);
    if (lane == 0) atomicAdd(sum, part);
  }
}

extern "C" __global__ void by_redux(const int* in, int* sum, int n) {
  int part = __reduce_add_sync(0xffffffff, strided(in, n));
  if (threadIdx.x % 32 == 0) atomicAdd(sum, part);
}

__device__ unsigned blocks_done = 0;

extern "C" __global__ void by_last_block(const int* in, volatile int* parts, int* sum, int n) {
  __shared__ bool last;
  int part = __reduce_add_sync(0xffffffff, strided(in, n));
  if (threadIdx.x % 32 == 0) parts[blockIdx.x * 8 + threadIdx.x / 32] = part;
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) last = atomicInc(&blocks_done, gridDim.x - 1) == gridDim.x - 1;
  __syncthreads();
  if (last && threadIdx.x == 0)
    for (int i = 0; i < gridDim.x * 8; ++i) *sum += parts[i];
}
