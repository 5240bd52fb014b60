// Solution of lesson 3. Prints:
// y[0] = 7, y[9999] = 7
#include <cstdio>
#include <vector>

__global__ void saxpy(float a, const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i];
}

int main() {
  const int n = 10000;
  const size_t bytes = n * sizeof(float);
  std::vector<float> x(n, 3), y(n, 1);
  float *device_x, *device_y;
  cudaMalloc(&device_x, bytes);
  cudaMalloc(&device_y, bytes);
  cudaMemcpy(device_x, x.data(), bytes, cudaMemcpyHostToDevice);
  cudaMemcpy(device_y, y.data(), bytes, cudaMemcpyHostToDevice);
  saxpy<<<(n + 255) / 256, 256>>>(2, device_x, device_y, n);
  cudaMemcpy(y.data(), device_y, bytes, cudaMemcpyDeviceToHost);
  printf("y[0] = %g, y[%d] = %g\n", y[0], n - 1, y[n - 1]);
  cudaFree(device_x);
  cudaFree(device_y);
}
