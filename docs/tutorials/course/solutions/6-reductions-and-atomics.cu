// Solution of lesson 6: counters of the block, and then of all. Prints:
// a 4546, b 1818, c 909, d 909, r 1818
#include <cstdio>

__global__ void count(const char* text, int* counts, int n) {
  __shared__ int own[26];
  if (threadIdx.x < 26) own[threadIdx.x] = 0;
  __syncthreads();
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&own[text[i] - 'a'], 1);
  __syncthreads();
  if (threadIdx.x < 26) atomicAdd(&counts[threadIdx.x], own[threadIdx.x]);
}

int main() {
  const int n = 10000;
  char* text;
  int* counts;
  cudaMallocManaged(&text, n);
  cudaMallocManaged(&counts, 26 * sizeof(int));
  for (int i = 0; i < n; ++i) text[i] = "abracadabra"[i % 11];
  for (int i = 0; i < 26; ++i) counts[i] = 0;
  count<<<(n + 255) / 256, 256>>>(text, counts, n);
  cudaDeviceSynchronize();
  printf("a %d, b %d, c %d, d %d, r %d\n", counts[0], counts[1], counts[2], counts[3], counts['r' - 'a']);
  cudaFree(text);
  cudaFree(counts);
}
