// A program on NVIDIA's runtime library, as nvcc compiles it: the CI's first job.
#include <cstdio>

__global__ void greet() { printf("hello from thread %d\n", threadIdx.x); }

int main() {
  greet<<<1, 2>>>();
  const cudaError_t error = cudaDeviceSynchronize();
  if (error != cudaSuccess) std::fprintf(stderr, "%s\n", cudaGetErrorString(error));
  return error != cudaSuccess;
}
