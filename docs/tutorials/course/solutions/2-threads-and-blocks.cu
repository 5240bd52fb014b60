// Solution of lesson 2. Prints:
// 334 multiples of 3 below 1000
#include <cstdio>

__global__ void mark(char* marks, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && i % 3 == 0) marks[i] = 1;
}

int main() {
  const int n = 1000;
  char* marks;
  cudaMallocManaged(&marks, n);
  cudaMemset(marks, 0, n);
  mark<<<(n + 127) / 128, 128>>>(marks, n);
  cudaDeviceSynchronize();
  int count = 0;
  for (int i = 0; i < n; ++i) count += marks[i];
  printf("%d multiples of 3 below %d\n", count, n);
  cudaFree(marks);
}
