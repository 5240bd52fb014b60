// Accelerations of bodies that attract each other, positions and masses in tiles of shared memory.
extern "C" __global__ void accelerate(const float4* bodies, float4* accelerations, int n) {
  __shared__ float4 tile[64];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float4 me = i < n ? bodies[i] : float4{0, 0, 0, 0}, sum = {0, 0, 0, 0};
  for (int first = 0; first < n; first += 64) {
    tile[threadIdx.x] = first + threadIdx.x < n ? bodies[first + threadIdx.x] : float4{0, 0, 0, 0};
    __syncthreads();
    for (int j = 0; j < 64; ++j) {
      float x = tile[j].x - me.x, y = tile[j].y - me.y, z = tile[j].z - me.z;
      float inverse = rsqrtf(x * x + y * y + z * z + 1e-3f), pull = tile[j].w * inverse * inverse * inverse;
      sum.x += pull * x, sum.y += pull * y, sum.z += pull * z;
    }
    __syncthreads();
  }
  if (i < n) accelerations[i] = sum;
}
