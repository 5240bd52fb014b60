// Half precision, bfloat16 and 8-bit formats.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

extern "C" __global__ void halves(const __half2* x, __half2* y, const __nv_bfloat16* b, __nv_bfloat16* c, float* f) {
  const int i = threadIdx.x;
  __half2 v = __hfma2(x[i], x[i + 1], y[i]);
  v = __hmax2(h2exp(v), __hneg2(y[i]));
  if (__hlt(__low2half(v), __float2half(1.5f))) v = __hmul2_sat(v, v);
  y[i] = __habs2(v);
  atomicAdd(&y[i + 1], v);
  __nv_bfloat16 w = __hadd(b[i], __float2bfloat16(0.5f));
  c[i] = __hfma(w, w, hsqrt(b[i]));
  f[i] = __half2float(__high2half(v)) + __bfloat162float(c[i]);
  __nv_fp8_e4m3 small(f[i]);
  f[i + 1] = static_cast<float>(small) + static_cast<float>(__nv_fp8_e5m2(f[i]));
}
