// One step of Newton's method for the square root of `a`; the graph goes on while the step was large.
extern "C" __device__ __cudart_builtin__ void CUDARTAPI cudaGraphSetConditional(cudaGraphConditionalHandle, unsigned);

extern "C" __global__ void step(double* root, int* steps, double a, cudaGraphConditionalHandle again) {
  const double better = 0.5 * (*root + a / *root);
  cudaGraphSetConditional(again, fabs(better - *root) > 1e-12);
  *root = better;
  ++*steps;
}
