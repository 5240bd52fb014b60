// Exercise of lesson 5: a race that `cucore run --check race` finds.
#include <cstdio>

__global__ void smooth(float* values) {
  __shared__ float box[130];  // one more on each side, which stay 0
  const int i = threadIdx.x;
  if (i == 0) box[0] = box[129] = 0;
  box[i + 1] = values[i];
  values[i] = (box[i] + box[i + 1] + box[i + 2]) / 3;
}

int main() {
  float* values;
  cudaMallocManaged(&values, 128 * sizeof(float));
  for (int i = 0; i < 128; ++i) values[i] = 3 * i;
  smooth<<<1, 128>>>(values);
  cudaDeviceSynchronize();
  printf("%g %g ... %g %g\n", values[0], values[1], values[126], values[127]);
  cudaFree(values);
}
