// D = A B of square matrices by matrix instructions, for matrices.py: as CUDA's wmma and as kernels with mma.sync and
// ldmatrix write it. A block of four warps makes a tile of 64 x 64, by slices of 32 of K in shared memory. B is given by
// its columns.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>

using namespace nvcuda;
constexpr int tile = 64, slice = 32;

template <typename T, int pad>
__device__ void take_slices(const T* a, const T* b, int n, int k, T (*to_a)[slice + pad], T (*to_b)[slice + pad]) {
  constexpr int wide = 16 / sizeof(T), of_row = slice / wide;
  for (int at = threadIdx.x; at < tile * of_row; at += blockDim.x) {
    const int row = at / of_row, column = at % of_row * wide;
    *reinterpret_cast<uint4*>(&to_a[row][column]) =
        *reinterpret_cast<const uint4*>(&a[(blockIdx.y * tile + row) * n + k + column]);
    *reinterpret_cast<uint4*>(&to_b[row][column]) =
        *reinterpret_cast<const uint4*>(&b[(blockIdx.x * tile + row) * n + k + column]);
  }
}

template <typename T, typename Sum>
__global__ void by_wmma(const T* a, const T* b, Sum* d, int n) {
  __shared__ __align__(16) T slice_a[tile][slice + 16 / sizeof(T)], slice_b[tile][slice + 16 / sizeof(T)];
  constexpr int lead = slice + 16 / sizeof(T);
  const int warp = threadIdx.x / 32, row = warp / 2 * 32, column = warp % 2 * 32;
  wmma::fragment<wmma::accumulator, 16, 16, 16, Sum> sums[2][2];
  for (auto& of_row : sums)
    for (auto& sum : of_row) wmma::fill_fragment(sum, Sum(0));
  for (int k = 0; k < n; k += slice) {
    __syncthreads();
    take_slices<T, 16 / sizeof(T)>(a, b, n, k, slice_a, slice_b);
    __syncthreads();
    for (int step = 0; step < slice; step += 16) {
      wmma::fragment<wmma::matrix_a, 16, 16, 16, T, wmma::row_major> left[2];
      wmma::fragment<wmma::matrix_b, 16, 16, 16, T, wmma::col_major> right[2];
      for (int i = 0; i < 2; ++i) wmma::load_matrix_sync(left[i], &slice_a[row + 16 * i][step], lead);
      for (int j = 0; j < 2; ++j) wmma::load_matrix_sync(right[j], &slice_b[column + 16 * j][step], lead);
      for (int i = 0; i < 2; ++i)
        for (int j = 0; j < 2; ++j) wmma::mma_sync(sums[i][j], left[i], right[j], sums[i][j]);
    }
  }
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 2; ++j)
      wmma::store_matrix_sync(&d[(blockIdx.y * tile + row + 16 * i) * n + blockIdx.x * tile + column + 16 * j],
                              sums[i][j], n, wmma::mem_row_major);
}

template __global__ void by_wmma<half, float>(const half*, const half*, float*, int);
template __global__ void by_wmma<half, half>(const half*, const half*, half*, int);
template __global__ void by_wmma<__nv_bfloat16, float>(const __nv_bfloat16*, const __nv_bfloat16*, float*, int);
template __global__ void by_wmma<signed char, int>(const signed char*, const signed char*, int*, int);

__device__ void load_matrices(unsigned (&to)[4], const half* row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(static_cast<unsigned>(__cvta_generic_to_shared(row))));
}

extern "C" __global__ void by_mma(const half* a, const half* b, float* d, int n) {
  __shared__ __align__(16) half slice_a[tile][slice + 8], slice_b[tile][slice + 8];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, row = warp / 2 * 32, column = warp % 2 * 32;
  float sums[2][4][4] = {};
  for (int k = 0; k < n; k += slice) {
    __syncthreads();
    take_slices<half, 8>(a, b, n, k, slice_a, slice_b);
    __syncthreads();
    for (int step = 0; step < slice; step += 16) {
      unsigned left[2][4], right[2][4];
      for (int i = 0; i < 2; ++i) load_matrices(left[i], &slice_a[row + 16 * i + lane % 16][step + lane / 16 * 8]);
      for (int j = 0; j < 2; ++j)
        load_matrices(right[j], &slice_b[column + 16 * j + lane / 16 * 8 + lane % 8][step + lane / 8 % 2 * 8]);
      for (int i = 0; i < 2; ++i) {
        for (int j = 0; j < 4; ++j) {
          float(&to)[4] = sums[i][j];
          const unsigned* from = &right[j / 2][j % 2 * 2];
          asm volatile(
              "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
              "{%0, %1, %2, %3};"
              : "+f"(to[0]), "+f"(to[1]), "+f"(to[2]), "+f"(to[3])
              : "r"(left[i][0]), "r"(left[i][1]), "r"(left[i][2]), "r"(left[i][3]), "r"(from[0]), "r"(from[1]));
        }
      }
    }
  }
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 4; ++j)
      for (int part = 0; part < 4; ++part)
        d[(blockIdx.y * tile + row + 16 * i + part / 2 * 8 + lane / 4) * n + blockIdx.x * tile + column + 8 * j +
          lane % 4 * 2 + part % 2] = sums[i][j][part];
}
