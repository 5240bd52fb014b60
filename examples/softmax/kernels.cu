// Softmax of each row, a block a row: the largest element first, so that no exponential overflows.
__device__ float of_block(float value, float (*combine)(float, float), float* of_warps) {
  for (int distance = 16; distance > 0; distance /= 2)
    value = combine(value, __shfl_xor_sync(0xffffffff, value, distance));
  if (threadIdx.x % 32 == 0) of_warps[threadIdx.x / 32] = value;
  __syncthreads();
  value = of_warps[0];
  for (unsigned warp = 1; warp < blockDim.x / 32; ++warp) value = combine(value, of_warps[warp]);
  __syncthreads();
  return value;  // all threads have it
}

__device__ float larger(float a, float b) { return fmaxf(a, b); }
__device__ float plus(float a, float b) { return a + b; }

extern "C" __global__ void softmax(const float* in, float* out, int columns) {
  __shared__ float of_warps[32];
  in += blockIdx.x * columns, out += blockIdx.x * columns;
  float top = -3e38f, sum = 0;
  for (int i = threadIdx.x; i < columns; i += blockDim.x) top = fmaxf(top, in[i]);
  top = of_block(top, larger, of_warps);
  for (int i = threadIdx.x; i < columns; i += blockDim.x) sum += out[i] = expf(in[i] - top);
  sum = of_block(sum, plus, of_warps);
  for (int i = threadIdx.x; i < columns; i += blockDim.x) out[i] /= sum;
}
