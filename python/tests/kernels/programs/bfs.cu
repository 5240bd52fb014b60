// Breadth-first search, level by level, with a queue for the next frontier.
extern "C" __global__ void expand(const int* starts, const int* neighbours, int* levels, const int* frontier, int size,
                                  int* next, int* next_size, int level) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= size) return;
  int node = frontier[i];
  for (int e = starts[node]; e < starts[node + 1]; ++e)
    if (atomicCAS(&levels[neighbours[e]], -1, level) == -1) next[atomicAdd(next_size, 1)] = neighbours[e];
}
