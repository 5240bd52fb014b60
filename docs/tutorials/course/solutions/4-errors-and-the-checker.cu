// Solution of lesson 4: the last element has no neighbour on its right, and all elements are copied. Prints:
// 2 3 ... 100 0
#include <cstdio>

__global__ void shift_left(const int* in, int* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = i + 1 < n ? in[i + 1] : 0;
}

__global__ void add_one(int* values, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) values[i] += 1;
}

int main() {
  const int n = 100;
  int numbers[n], *in, *out;
  for (int i = 0; i < n; ++i) numbers[i] = i;
  cudaMalloc(&in, n * sizeof(int));
  cudaMalloc(&out, n * sizeof(int));
  cudaMemcpy(in, numbers, n * sizeof(int), cudaMemcpyHostToDevice);
  add_one<<<1, 128>>>(in, n);
  shift_left<<<1, 128>>>(in, out, n);
  cudaMemcpy(numbers, out, n * sizeof(int), cudaMemcpyDeviceToHost);
  printf("%d %d ... %d %d\n", numbers[0], numbers[1], numbers[n - 2], numbers[n - 1]);
  cudaFree(in);
  cudaFree(out);
}
