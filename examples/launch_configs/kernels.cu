// x *= a, with one element a thread.
extern "C" __global__ void scale(float* x, float a, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] *= a;
}

// The same by blocks that each stage their part in dynamic shared memory.
extern "C" __global__ void staged(float* x, float a, int n) {
  extern __shared__ float part[];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) part[threadIdx.x] = x[i];
  __syncthreads();
  if (i < n) x[i] = a * part[threadIdx.x];
}
