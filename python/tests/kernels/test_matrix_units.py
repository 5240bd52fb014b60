"""CUDA C++ on tensor cores, through NVRTC: nvcuda::wmma, and mma.sync with ldmatrix in assembly, against NumPy."""

import numpy as np
import pytest
from conftest import launch_on_arrays

import cucore

WMMA = r"""
#include <mma.h>
using namespace nvcuda;

// One warp makes one 16 x 16 tile of d = alpha * a * b + beta * c; all matrices have rows, b has columns.
extern "C" __global__ void gemm(const half* a, const half* b, const float* c, float* d, int n, int k, float alpha,
                                float beta) {
  wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> of_a;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> of_b;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum, before;
  int row = 16 * blockIdx.y, column = 16 * (blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32);
  wmma::fill_fragment(sum, 0.0f);
  for (int at = 0; at < k; at += 16) {
    wmma::load_matrix_sync(of_a, a + row * k + at, k);
    wmma::load_matrix_sync(of_b, b + column * k + at, k);
    wmma::mma_sync(sum, of_a, of_b, sum);
  }
  wmma::load_matrix_sync(before, c + row * n + column, n, wmma::mem_row_major);
  for (int i = 0; i < sum.num_elements; i++) before.x[i] = alpha * sum.x[i] + beta * before.x[i];
  wmma::store_matrix_sync(d + row * n + column, before, n, wmma::mem_row_major);
}

extern "C" __global__ void bytes(const signed char* a, const signed char* b, int* d) {
  wmma::fragment<wmma::matrix_a, 32, 8, 16, signed char, wmma::col_major> of_a;
  wmma::fragment<wmma::matrix_b, 32, 8, 16, signed char, wmma::row_major> of_b;
  wmma::fragment<wmma::accumulator, 32, 8, 16, int> sum;
  wmma::fill_fragment(sum, 0);
  wmma::load_matrix_sync(of_a, a, 32);
  wmma::load_matrix_sync(of_b, b, 8);
  wmma::mma_sync(sum, of_a, of_b, sum);
  wmma::store_matrix_sync(d, sum, 8, wmma::mem_row_major);
}
"""

MMA = r"""
#include <cuda_bf16.h>

__device__ unsigned address(const void* shared) { return static_cast<unsigned>(__cvta_generic_to_shared(shared)); }

// A block of four warps makes a 32 x 16 tile of c = a * b from rows of a and rows of b, 16 of k at a time: two stages
// of cp.async, ldmatrix and ldmatrix.trans, mma.sync.m16n8k16.
extern "C" __global__ void gemm(const __nv_bfloat16* a, const __nv_bfloat16* b, float* c, int n, int k) {
  __shared__ __align__(16) __nv_bfloat16 of_a[2][32][16 + 8], of_b[2][16][16 + 8];
  int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  int row = 32 * blockIdx.y, column = 16 * blockIdx.x;
  auto fetch = [&](int stage, int at) {
    if (threadIdx.x < 64) {
      int r = threadIdx.x / 2, part = threadIdx.x % 2 * 8;
      asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(address(&of_a[stage][r][part])),
                   "l"(a + (row + r) * k + at + part));
    } else if (threadIdx.x < 96) {
      int r = (threadIdx.x - 64) / 2, part = threadIdx.x % 2 * 8;
      asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(address(&of_b[stage][r][part])),
                   "l"(b + (at + r) * n + column + part));
    }
    asm volatile("cp.async.commit_group;");
  };
  float d[4] = {};
  fetch(0, 0);
  for (int at = 0, stage = 0; at < k; at += 16, stage ^= 1) {
    if (at + 16 < k) fetch(stage ^ 1, at + 16);
    if (at + 16 < k) asm volatile("cp.async.wait_group 1;");
    else asm volatile("cp.async.wait_group 0;");
    __syncthreads();
    unsigned ra[4], rb[2];
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(ra[0]), "=r"(ra[1]), "=r"(ra[2]), "=r"(ra[3])
                 : "r"(address(&of_a[stage][16 * (warp / 2) + lane % 16][8 * (lane / 16)])));
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];"
                 : "=r"(rb[0]), "=r"(rb[1])
                 : "r"(address(&of_b[stage][lane % 16][8 * (warp % 2)])));
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
                 "{%0, %1, %2, %3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(ra[0]), "r"(ra[1]), "r"(ra[2]), "r"(ra[3]), "r"(rb[0]), "r"(rb[1]));
    __syncthreads();
  }
  float* to = c + (row + 16 * (warp / 2) + lane / 4) * n + column + 8 * (warp % 2) + lane % 4 * 2;
  to[0] = d[0], to[1] = d[1], to[8 * n] = d[2], to[8 * n + 1] = d[3];
}
"""


@pytest.fixture
def run(device, stream):
    def run(source, name, grid, block, *arguments):
        """Arrays go to the device and come back; what the kernel left in them is returned."""
        options = {"arch": "sm_80", "std": "c++17"}
        kernel = cucore.Program(source, "c++", options).compile("ptx").get_kernel(name)
        return launch_on_arrays(stream, cucore.LaunchConfig(grid=grid, block=block), kernel, *arguments)

    return run


def small_integers(*shape):
    return np.random.default_rng(7).integers(-8, 9, shape)


def test_a_wmma_product_is_exact_on_small_integers(run):
    a, b, c = small_integers(32, 48), small_integers(64, 48), small_integers(32, 64)
    arguments = (a.astype(np.float16), b.astype(np.float16), c.astype(np.float32), np.zeros(c.shape, np.float32))
    d = run(WMMA, "gemm", (1, 2), 128, *arguments, 64, 48, np.float32(0.5), np.float32(-2))[3]
    np.testing.assert_array_equal(d.reshape(c.shape), 0.5 * (a @ b.T) - 2 * c)


def test_a_wmma_product_of_any_numbers_is_near(run):
    rng = np.random.default_rng(3)
    a, b = rng.normal(size=(32, 64)).astype(np.float16), rng.normal(size=(64, 64)).astype(np.float16)
    c = rng.normal(size=(32, 64)).astype(np.float32)
    d = run(WMMA, "gemm", (1, 2), 128, a, b, c, np.zeros_like(c), 64, 64, np.float32(1), np.float32(1))[3]
    exact = a.astype(np.float64) @ b.astype(np.float64).T + c
    np.testing.assert_allclose(d.reshape(c.shape), exact, rtol=1e-4, atol=1e-4)


def test_a_wmma_product_of_bytes(run):
    a, b = 9 * small_integers(32, 16), -11 * small_integers(16, 8)
    arguments = (np.ascontiguousarray(a.T).astype(np.int8), b.astype(np.int8), np.zeros(256, np.int32))
    np.testing.assert_array_equal(run(WMMA, "bytes", 1, 32, *arguments)[2].reshape(32, 8), a @ b)


def test_a_pipelined_product_with_mma_and_ldmatrix(run):
    a, b = small_integers(64, 80), small_integers(80, 48)
    bfloat16 = [(x.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16) for x in (a, b)]
    c = run(MMA, "gemm", (3, 2), 128, *bfloat16, np.zeros((64, 48), np.float32), 48, 80)[2]
    np.testing.assert_array_equal(c.reshape(64, 48), a @ b)
