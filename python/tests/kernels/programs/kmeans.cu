// One round of k-means in fixed point, so that the sums of the centres have one value in any order.
extern "C" __global__ void assign(const int2* points, const int2* centres, int* labels, int n, int k) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  long long nearest = 0x7fffffffffffffffll;
  for (int c = 0; c < k; ++c) {
    long long x = points[i].x - centres[c].x, y = points[i].y - centres[c].y, distance = x * x + y * y;
    if (distance < nearest) nearest = distance, labels[i] = c;
  }
}

extern "C" __global__ void add_up(const int2* points, const int* labels, unsigned long long* sums, int n, int k) {
  extern __shared__ unsigned long long mine[];
  for (int i = threadIdx.x; i < 3 * k; i += blockDim.x) mine[i] = 0;
  __syncthreads();
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    atomicAdd(&mine[3 * labels[i]], (unsigned long long)points[i].x);
    atomicAdd(&mine[3 * labels[i] + 1], (unsigned long long)points[i].y);
    atomicAdd(&mine[3 * labels[i] + 2], 1ull);
  }
  __syncthreads();
  for (int j = threadIdx.x; j < 3 * k; j += blockDim.x) atomicAdd(&sums[j], mine[j]);
}

extern "C" __global__ void move(const long long* sums, int2* centres, int k) {
  int c = threadIdx.x;
  if (c < k && sums[3 * c + 2]) centres[c] = {int(sums[3 * c] / sums[3 * c + 2]), int(sums[3 * c + 1] / sums[3 * c + 2])};
}
