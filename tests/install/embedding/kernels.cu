// What cucore_embed must read right: comments, attributes, namespaces, arrays, types of the source, templates.
#define __global__NOT "a __global__ void wrong(int) in a text"
struct Pair {
  float a, b;
};
/* __global__ void in_a_comment(int); */
extern "C" __global__ void saxpy(float a, const float* __restrict__ x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] += a * x[i];
}
namespace inner {
__global__ void __launch_bounds__(256) add_pair(float y[], const Pair pair, unsigned int n) {
  if (threadIdx.x < n) y[threadIdx.x] += pair.a + pair.b;
}
}  // namespace inner
template <class T>
__global__ void any(T* values) {}
