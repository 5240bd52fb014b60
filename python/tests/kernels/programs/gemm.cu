// C = A * B in tiles of shared memory, four results a thread.
extern "C" __global__ void gemm(const float* a, const float* b, float* c, int rows, int columns, int depth) {
  __shared__ float tile_a[32][17], tile_b[16][33];
  int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * 32, column = blockIdx.x * 32;  // blocks of 16 x 16
  float sums[2][2] = {};
  for (int k = 0; k < depth; k += 16) {
    for (int i = 0; i < 2; ++i) {
      int r = row + ty + 16 * i, l = column + tx + 16 * i;
      tile_a[ty + 16 * i][tx] = r < rows && k + tx < depth ? a[r * depth + k + tx] : 0;
      tile_b[ty][tx + 16 * i] = l < columns && k + ty < depth ? b[(k + ty) * columns + l] : 0;
    }
    __syncthreads();
    for (int l = 0; l < 16; ++l)
      for (int i = 0; i < 2; ++i)
        for (int j = 0; j < 2; ++j) sums[i][j] += tile_a[ty + 16 * i][l] * tile_b[l][tx + 16 * j];
    __syncthreads();
  }
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 2; ++j)
      if (row + ty + 16 * i < rows && column + tx + 16 * j < columns)
        c[(row + ty + 16 * i) * columns + column + tx + 16 * j] = sums[i][j];
}
