// Kernels of bias_gradients_test.cpp: the gradient of the bias of a matrix product is the sum over the rows of a matrix.
// bias_gradients.ptx is what nvcc 13.0 makes of this with -ptx -arch=compute_80.

constexpr int kPiece = 4;  // neighbouring columns that a thread sums up

struct alignas(16) Piece {
  float column[kPiece];
};

__device__ void sum_rows(float (&total)[kPiece], const float* matrix, int rows, int columns, int first, int step) {
  for (int k = 0; k < kPiece; ++k) total[k] = 0;
  for (int row = first; row < rows; row += step) {
    const Piece piece = *reinterpret_cast<const Piece*>(matrix + static_cast<size_t>(row) * columns);
    for (int k = 0; k < kPiece; ++k) total[k] += piece.column[k];
  }
}

/// Blocks of 32 x n. Those rows of threads that are no longer needed return before the last barriers.
extern "C" __global__ void by_shared_sums(float* sums, const float* matrix, int rows, int columns) {
  __shared__ float shared[32 * kPiece];
  const int own = threadIdx.x * kPiece;
  float total[kPiece];
  sum_rows(total, matrix + blockIdx.x * 32 * kPiece + own, rows, columns, threadIdx.y, blockDim.y);
  if (threadIdx.y == 0)
    for (int k = 0; k < kPiece; ++k) shared[threadIdx.x + k * 32] = 0;
  __syncthreads();
  for (int k = 0; k < kPiece; ++k) atomicAdd(shared + threadIdx.x + k * 32, total[k]);
  __syncthreads();
  if (threadIdx.y >= kPiece) return;
  const int place = threadIdx.x + threadIdx.y * 32;
  const float mine = shared[place];
  __syncthreads();
  shared[own + threadIdx.y] = mine;
  __syncthreads();
  atomicAdd(sums + place + blockIdx.x * 32 * kPiece, shared[place]);
}

/// Blocks of 4 x 8 x n: four neighbouring lanes have the same columns.
extern "C" __global__ void by_shuffles(float* sums, const float* matrix, int rows, int columns) {
  __shared__ float part[kPiece][32][8];
  const int column = (blockIdx.x * 8 + threadIdx.y) * kPiece;
  float total[kPiece];
  sum_rows(total, matrix + column, rows, columns, threadIdx.x + 4 * threadIdx.z, 4 * blockDim.z);
  for (int k = 0; k < kPiece; ++k) {
    float sum = total[k];
    for (int distance = 1; distance < 4; distance *= 2) sum += __shfl_down_sync(0xffffffff, sum, distance, 4);
    if (threadIdx.x == 0) part[k][threadIdx.z][threadIdx.y] = sum;
  }
  __syncthreads();
  for (int k = threadIdx.z; k < kPiece; k += blockDim.z) {
    float all = 0;
    for (int z = threadIdx.x; z < blockDim.z; z += 4) {
      float sum = part[k][z][threadIdx.y];
      for (int distance = 1; distance < 4; distance *= 2) sum += __shfl_down_sync(0xffffffff, sum, distance, 4);
      all += sum;
    }
    if (threadIdx.x == 0) sums[column + k] += all;
  }
}

/// Blocks of 32 x n: a tree of shuffles for each column, between barriers, by the first eight rows of threads.
extern "C" __global__ void by_trees(float* sums, const float* matrix, int rows, int columns) {
  __shared__ float shared[32][32 * kPiece];
  const int first = blockIdx.x * 32 * kPiece;
  float total[kPiece];
  sum_rows(total, matrix + first + threadIdx.x * kPiece, rows, columns, threadIdx.y, blockDim.y);
  for (int k = 0; k < kPiece; ++k) shared[threadIdx.y][threadIdx.x * kPiece + k] = total[k];
  __syncthreads();
  if (threadIdx.y >= 8) return;
  for (int column = threadIdx.y; column < 32 * kPiece; column += 8) {
    float sum = threadIdx.x < blockDim.y ? shared[threadIdx.x][column] : 0;
    for (int distance = 16; distance > 0; distance /= 2) sum += __shfl_xor_sync(0xffffffff, sum, distance);
    __syncthreads();
    if (threadIdx.x == 0) sums[first + column] += sum;
    __syncthreads();
  }
}
