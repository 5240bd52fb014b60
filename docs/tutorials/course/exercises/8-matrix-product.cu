// Exercise of lesson 8: two mistakes, which `cucore run --check all` finds.
#include <cstdio>

constexpr int tile = 16;

__global__ void transpose(const int* in, int* out, int n) {
  __shared__ int box[tile][tile];
  const int x = blockIdx.x * tile + threadIdx.x, y = blockIdx.y * tile + threadIdx.y;
  if (x < n && y < n) box[threadIdx.y][threadIdx.x] = in[y * n + x];
  const int to_x = blockIdx.y * tile + threadIdx.x, to_y = blockIdx.x * tile + threadIdx.y;
  out[to_y * n + to_x] = box[threadIdx.x][threadIdx.y];
}

int main() {
  const int n = 50;
  int *in, *out;
  cudaMallocManaged(&in, n * n * sizeof(int));
  cudaMallocManaged(&out, n * n * sizeof(int));
  for (int i = 0; i < n * n; ++i) in[i] = i;
  transpose<<<dim3((n + 15) / 16, (n + 15) / 16), dim3(tile, tile)>>>(in, out, n);
  cudaDeviceSynchronize();
  int wrong = 0;
  for (int y = 0; y < n; ++y)
    for (int x = 0; x < n; ++x) wrong += out[y * n + x] != in[x * n + y];
  printf("%d wrong\n", wrong);
}
