// Solution of lesson 7. Prints:
// 6765 by a graph
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
  cudaGraph_t graph;
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
  step<<<1, 1, 0, stream>>>(pair);
  cudaStreamEndCapture(stream, &graph);
  cudaGraphExec_t executable;
  cudaGraphInstantiate(&executable, graph, 0);
  for (int i = 0; i < 20; ++i) cudaGraphLaunch(executable, stream);
  cudaStreamSynchronize(stream);
  const char* how = "by a graph";
  printf("%d %s\n", pair[0], how);
  cudaFree(pair);
}
