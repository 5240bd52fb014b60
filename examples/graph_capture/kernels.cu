extern "C" __global__ void scale(int* x, int a) { x[blockIdx.x * blockDim.x + threadIdx.x] *= a; }
extern "C" __global__ void shift(int* x, int a) { x[blockIdx.x * blockDim.x + threadIdx.x] += a; }
extern "C" __global__ void add(int* x, const int* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  x[i] += y[i];
}
