// Tridiagonal systems: Thomas's way, a thread a system, and parallel cyclic reduction, a block a system.
extern "C" __global__ void thomas(const double* below, const double* middle, const double* above, double* x, int n,
                                  int systems) {
  int s = blockIdx.x * blockDim.x + threadIdx.x;
  if (s >= systems) return;
  double c[64];
  below += s * n, middle += s * n, above += s * n, x += s * n;
  c[0] = above[0] / middle[0], x[0] /= middle[0];
  for (int i = 1; i < n; ++i) {
    double left = middle[i] - below[i] * c[i - 1];
    c[i] = above[i] / left, x[i] = (x[i] - below[i] * x[i - 1]) / left;
  }
  for (int i = n - 2; i >= 0; --i) x[i] -= c[i] * x[i + 1];
}

extern "C" __global__ void cyclic_reduction(const double* below, const double* middle, const double* above, double* x, int n) {
  __shared__ double a[64], b[64], c[64], d[64];
  int i = threadIdx.x, at = blockIdx.x * n + i;
  a[i] = i ? below[at] : 0, b[i] = middle[at], c[i] = i < n - 1 ? above[at] : 0, d[i] = x[at];
  for (int distance = 1; distance < n; distance *= 2) {
    __syncthreads();
    double na = 0, nb = b[i], nc = 0, nd = d[i];
    if (i >= distance) {
      double k = a[i] / b[i - distance];
      na = -a[i - distance] * k, nb -= c[i - distance] * k, nd -= d[i - distance] * k;
    }
    if (i + distance < n) {
      double k = c[i] / b[i + distance];
      nc = -c[i + distance] * k, nb -= a[i + distance] * k, nd -= d[i + distance] * k;
    }
    __syncthreads();
    a[i] = na, b[i] = nb, c[i] = nc, d[i] = nd;
  }
  x[at] = d[i] / b[i];
}
