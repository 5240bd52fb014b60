// Cholesky factors of many small symmetric matrices, one block a matrix.
extern "C" __global__ void factor(float* matrices, int n) {
  extern __shared__ float a[];
  float* matrix = matrices + blockIdx.x * n * n;
  int t = threadIdx.x;  // n threads, one a row
  for (int j = 0; j < n; ++j) a[t * n + j] = matrix[t * n + j];
  for (int k = 0; k < n; ++k) {
    __syncthreads();
    if (t == k) a[k * n + k] = sqrtf(a[k * n + k]);
    __syncthreads();
    if (t > k) a[t * n + k] /= a[k * n + k];
    __syncthreads();
    for (int j = k + 1; j <= t; ++j) a[t * n + j] -= a[t * n + k] * a[j * n + k];
  }
  for (int j = 0; j < n; ++j) matrix[t * n + j] = j <= t ? a[t * n + j] : 0;
}
