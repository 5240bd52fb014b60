// Kernels that are stopped in: lines and names stand in test_debugging.py and docs/debugging.md.
__device__ __noinline__ float scaled(float a, float x) {
  return a * x;
}

extern "C" __global__ void saxpy(float a, const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    float product = scaled(a, x[i]);
    y[i] = product + y[i];
  }
}

template <typename T>
__global__ void reversed(T* values) {
  __shared__ T kept[64];
  kept[threadIdx.x] = values[threadIdx.x];
  __syncthreads();
  values[threadIdx.x] = kept[blockDim.x - 1 - threadIdx.x];
}
