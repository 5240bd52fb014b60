// y += a * x for any type, whatever the size of the grid: each thread takes every so many-th element.
template <class T>
__global__ void axpy(T a, const T* x, T* y, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) y[i] += a * x[i];
}
