// A round of PageRank in fixed point: what each page gives to those it links to.
extern "C" __global__ void give(const int* starts, const int* links, const unsigned* ranks, unsigned* next, int n) {
  int page = blockIdx.x * blockDim.x + threadIdx.x;
  if (page >= n) return;
  int count = starts[page + 1] - starts[page];
  for (int i = starts[page]; i < starts[page + 1]; ++i) atomicAdd(&next[links[i]], ranks[page] / count);
}
