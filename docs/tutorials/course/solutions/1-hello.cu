// Solution of lesson 1. Prints:
// 0 * 0 = 0
// 1 * 1 = 1
// 2 * 2 = 4
// 3 * 3 = 9
#include <cstdio>

__global__ void squares() {
  const int i = threadIdx.x;
  printf("%d * %d = %d\n", i, i, i * i);
}

int main() {
  squares<<<1, 4>>>();
  return cudaDeviceSynchronize();
}
