// c = a * b for square matrices of n rows, n a multiple of 16. Each block computes a tile of c; its threads fetch tiles of
// a and b into shared memory together, so that each element is read from global memory n / 16 times instead of n times.
constexpr int tile = 16;

extern "C" __global__ void product(const float* a, const float* b, float* c, int n) {
  __shared__ float of_a[tile][tile], of_b[tile][tile];
  const int column = blockIdx.x * tile + threadIdx.x, row = blockIdx.y * tile + threadIdx.y;
  float sum = 0;
  for (int first = 0; first < n; first += tile) {
    of_a[threadIdx.y][threadIdx.x] = a[row * n + first + threadIdx.x];
    of_b[threadIdx.y][threadIdx.x] = b[(first + threadIdx.y) * n + column];
    __syncthreads();  // the tiles are there
    for (int k = 0; k < tile; ++k) sum += of_a[threadIdx.y][k] * of_b[k][threadIdx.x];
    __syncthreads();  // nobody needs them any more
  }
  c[row * n + column] = sum;
}
