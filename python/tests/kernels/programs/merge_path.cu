// Two sorted arrays merged: each thread finds by bisection where its part of the result begins.
extern "C" __global__ void merge(const int* a, int n, const int* b, int m, int* out, int part) {
  int start = (blockIdx.x * blockDim.x + threadIdx.x) * part, end = min(start + part, n + m);
  if (start >= end) return;
  int low = max(0, start - m), high = min(start, n);
  while (low < high) {
    int middle = (low + high) / 2;
    if (a[middle] <= b[start - middle - 1]) low = middle + 1;
    else high = middle;
  }
  for (int i = low, j = start - low; start < end; ++start) out[start] = j >= m || (i < n && a[i] <= b[j]) ? a[i++] : b[j++];
}
