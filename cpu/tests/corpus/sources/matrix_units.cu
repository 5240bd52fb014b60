// Tensor-core fragments, ldmatrix, mma, asynchronous copies.
#include <cuda_fp16.h>
#include <mma.h>

extern "C" __global__ void fragments(const half* a, const half* b, float* c) {
  using namespace nvcuda::wmma;
  fragment<matrix_a, 16, 16, 16, half, row_major> fa;
  fragment<matrix_b, 16, 16, 16, half, col_major> fb;
  fragment<accumulator, 16, 16, 16, float> fc;
  fill_fragment(fc, 0.0f);
  load_matrix_sync(fa, a, 16);
  load_matrix_sync(fb, b, 16);
  mma_sync(fc, fa, fb, fc);
  store_matrix_sync(c, fc, 16, mem_row_major);
}

extern "C" __global__ void pipeline(const float4* in, float* out) {
  __shared__ float4 stage[32];
  const unsigned where = static_cast<unsigned>(__cvta_generic_to_shared(&stage[threadIdx.x]));
  asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16;" ::"r"(where), "l"(in + threadIdx.x));
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(where), "l"(in), "r"(2));
  asm volatile("cp.async.commit_group;\n cp.async.wait_group 0;\n cp.async.wait_all;");
  unsigned r0, r1, r2, r3;
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];" : "=r"(r0), "=r"(r1), "=r"(r2), "=r"(r3) : "r"(where));
  float d0, d1, d2, d3;
  asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%10,%11,%12,%13};"
      : "=f"(d0), "=f"(d1), "=f"(d2), "=f"(d3)
      : "r"(r0), "r"(r1), "r"(r2), "r"(r3), "r"(r0), "r"(r1), "f"(0.f), "f"(0.f), "f"(0.f), "f"(0.f));
  out[threadIdx.x] = d0 + d1 + d2 + d3;
}
