// c = a * b in half precision with sums in single, by the matrix units (tensor cores): a warp computes 16 x 16 elements.
#include <mma.h>
using namespace nvcuda::wmma;

extern "C" __global__ void product(const half* a, const half* b, float* c, int n) {
  fragment<matrix_a, 16, 16, 16, half, row_major> of_a;
  fragment<matrix_b, 16, 16, 16, half, row_major> of_b;
  fragment<accumulator, 16, 16, 16, float> sum;
  fill_fragment(sum, 0);
  const int row = blockIdx.y * 16, column = blockIdx.x * 16;
  for (int k = 0; k < n; k += 16) {
    load_matrix_sync(of_a, a + row * n + k, n);
    load_matrix_sync(of_b, b + k * n + column, n);
    mma_sync(sum, of_a, of_b, sum);
  }
  store_matrix_sync(c + row * n + column, sum, n, mem_row_major);
}
