// Exercise of lesson 2: mark every multiple of 3 below n, each element by a thread of its own.
#include <cstdio>

__global__ void mark(char* marks, int n) { marks[0] = 1; }

int main() {
  const int n = 1000;
  char* marks;
  cudaMallocManaged(&marks, n);
  cudaMemset(marks, 0, n);
  mark<<<1, 1>>>(marks, n);
  cudaDeviceSynchronize();
  int count = 0;
  for (int i = 0; i < n; ++i) count += marks[i];
  printf("%d multiples of 3 below %d\n", count, n);
  cudaFree(marks);
}
