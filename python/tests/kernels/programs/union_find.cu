// Connected components of a graph: trees of nodes, joined without locks, the smaller root on top.
__device__ int root(volatile int* parents, int node) {
  while (parents[node] != node) node = parents[node];
  return node;
}

extern "C" __global__ void join(int* parents, const int2* edges, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int a = edges[i].x, b = edges[i].y;
  while (true) {
    a = root(parents, a), b = root(parents, b);
    if (a == b) return;
    int high = max(a, b), low = min(a, b);
    if (atomicCAS(&parents[high], high, low) == high) return;
  }
}

extern "C" __global__ void flatten(int* parents, int* labels, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) labels[i] = root(parents, i);
}
