// Adds the numbers from `first` on, n of them, to *sum.
extern "C" __global__ void sum(unsigned long long* sum, unsigned first, unsigned n) {
  unsigned long long mine = 0;
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) mine += first + i;
  atomicAdd(sum, mine);
}
