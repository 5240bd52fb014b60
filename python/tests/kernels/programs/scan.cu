// Exclusive prefix sums, Blelloch's way: within blocks of twice as many elements as threads, then the blocks' sums added.
extern "C" __global__ void scan_block(const int* in, int* out, int* sums) {
  extern __shared__ int tile[];
  int t = threadIdx.x, n = 2 * blockDim.x, offset = 1;
  in += blockIdx.x * n, out += blockIdx.x * n;
  tile[2 * t] = in[2 * t], tile[2 * t + 1] = in[2 * t + 1];
  for (int d = n / 2; d > 0; d /= 2, offset *= 2) {
    __syncthreads();
    if (t < d) tile[offset * (2 * t + 2) - 1] += tile[offset * (2 * t + 1) - 1];
  }
  if (t == 0) sums[blockIdx.x] = tile[n - 1], tile[n - 1] = 0;
  for (int d = 1; d < n; d *= 2) {
    offset /= 2;
    __syncthreads();
    if (t < d) {
      int a = offset * (2 * t + 1) - 1, b = offset * (2 * t + 2) - 1, left = tile[a];
      tile[a] = tile[b];
      tile[b] += left;
    }
  }
  __syncthreads();
  out[2 * t] = tile[2 * t], out[2 * t + 1] = tile[2 * t + 1];
}

extern "C" __global__ void add_sums(int* out, const int* starts) {
  out[blockIdx.x * blockDim.x + threadIdx.x] += starts[blockIdx.x];
}
