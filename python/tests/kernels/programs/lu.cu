// LU of one matrix with partial pivoting, in place, by one block: rows stay where they are, `order` says which comes when.
extern "C" __global__ void factor(double* a, int* order, int n) {
  __shared__ double best_values[64];
  __shared__ int best_rows[64], pivot;
  int t = threadIdx.x;  // 64 threads
  for (int i = t; i < n; i += 64) order[i] = i;
  for (int k = 0; k < n; ++k) {
    __syncthreads();
    best_values[t] = -1, best_rows[t] = 0;
    for (int i = k + t; i < n; i += 64)
      if (fabs(a[order[i] * n + k]) > best_values[t]) best_values[t] = fabs(a[order[i] * n + k]), best_rows[t] = i;
    __syncthreads();
    if (t == 0) {
      int best = 0;
      for (int i = 1; i < 64; ++i)
        if (best_values[i] > best_values[best]) best = i;
      pivot = best_rows[best];
      int swapped = order[k];
      order[k] = order[pivot], order[pivot] = swapped;
    }
    __syncthreads();
    for (int i = k + 1 + t; i < n; i += 64) {
      double* row = a + order[i] * n;
      double factor = row[k] /= a[order[k] * n + k];
      for (int j = k + 1; j < n; ++j) row[j] -= factor * a[order[k] * n + j];
    }
  }
}
