// Bitonic sort: one exchange of a whole array at a distance, and all that fit into a block's shared memory.
extern "C" __global__ void exchange(int* data, unsigned distance, unsigned size) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x, j = i ^ distance;
  if (j <= i) return;
  int a = data[i], b = data[j];
  if ((a > b) == ((i & size) == 0)) data[i] = b, data[j] = a;
}

extern "C" __global__ void exchange_in_block(int* data, unsigned distance, unsigned size) {
  extern __shared__ int tile[];
  unsigned t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  tile[t] = data[i];
  for (; distance > 0; distance /= 2) {
    __syncthreads();
    unsigned other = t ^ distance;
    int a = tile[t], b = tile[other];
    __syncthreads();
    bool ascending = (i & size) == 0, lower = t < other;
    tile[t] = (ascending == lower) == (a < b) ? a : b;
  }
  data[i] = tile[t];
}
