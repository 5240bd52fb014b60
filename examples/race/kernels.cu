// Turns the order of a block's elements round, in place.
extern "C" __global__ void reverse(int* x) {
  __shared__ int copy[256];
  copy[threadIdx.x] = x[threadIdx.x];
#ifdef RIGHT
  __syncthreads();
#endif
  x[threadIdx.x] = copy[blockDim.x - 1 - threadIdx.x];
}
