// How many of the points with numbers below n lie in the circle. The number of a point gives its place: no state of a
// generator, and the same points whatever the grid.
__device__ unsigned mixed(unsigned long long n) {  // SplitMix64, upper half
  n += 0x9e3779b97f4a7c15;
  n = (n ^ (n >> 30)) * 0xbf58476d1ce4e5b9;
  n = (n ^ (n >> 27)) * 0x94d049bb133111eb;
  return (n ^ (n >> 31)) >> 32;
}

extern "C" __global__ void count(unsigned long long* inside, int n) {
  unsigned mine = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    const float x = mixed(2ull * i) * 0x1p-32f, y = mixed(2ull * i + 1) * 0x1p-32f;
    mine += x * x + y * y < 1;
  }
  mine = __reduce_add_sync(0xffffffff, mine);
  if (threadIdx.x % 32 == 0) atomicAdd(inside, mine);
}
