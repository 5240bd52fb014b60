// All shortest paths: each launch allows one more node on the way.
extern "C" __global__ void allow(int* distances, int n, int k) {
  int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y;
  if (j >= n) return;
  int around = distances[i * n + k] + distances[k * n + j];
  if (around < distances[i * n + j]) distances[i * n + j] = around;
}
