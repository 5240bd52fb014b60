// Raises to a power that is known when it is compiled.
template <int N>
__global__ void power(float* x) {
  float product = 1;
  for (int i = 0; i < N; ++i) product *= x[threadIdx.x];
  x[threadIdx.x] = product;
}
