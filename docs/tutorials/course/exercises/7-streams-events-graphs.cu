// Exercise of lesson 7: capture one step into a graph, and launch the graph twenty times.
#include <cstdio>

__global__ void step(int* pair) {
  const int next = pair[0] + pair[1];
  pair[0] = pair[1];
  pair[1] = next;
}

int main() {
  int* pair;
  cudaMallocManaged(&pair, 2 * sizeof(int));
  pair[0] = 0;
  pair[1] = 1;
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  for (int i = 0; i < 20; ++i) step<<<1, 1, 0, stream>>>(pair);
  cudaStreamSynchronize(stream);
  const char* how = "by single launches";
  printf("%d %s\n", pair[0], how);
  cudaFree(pair);
}
