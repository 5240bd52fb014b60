// Exercise of lesson 3: copy x and y to the device, and y back.
#include <cstdio>
#include <vector>

__global__ void saxpy(float a, const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i];
}

int main() {
  const int n = 10000;
  std::vector<float> x(n, 3), y(n, 1);
  float *device_x, *device_y;
  cudaMalloc(&device_x, n * sizeof(float));
  cudaMalloc(&device_y, n * sizeof(float));
  saxpy<<<(n + 255) / 256, 256>>>(2, device_x, device_y, n);
  printf("y[0] = %g, y[%d] = %g\n", y[0], n - 1, y[n - 1]);
  cudaFree(device_x);
  cudaFree(device_y);
}
