// Bodies that attract each other. x, y, z, and the mass in w; blocks of 128 threads; n a multiple of 128.
constexpr float softening = 1e-2f;

__device__ float unit(unsigned i) {  // a number between -1 and 1, scattered well
  i *= 2654435761u, i ^= i >> 15, i *= 2246822519u, i ^= i >> 13;
  return i * (2.0f / 4294967296.0f) - 1;
}

extern "C" __global__ void place(float4* bodies, float4* velocities, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  bodies[i] = {unit(3 * i), unit(3 * i + 1), unit(3 * i + 2), 1.0f / n};
  velocities[i] = {-0.5f * bodies[i].y, 0.5f * bodies[i].x, 0, 0};  // all turn about one axis
}

// Changes the velocities by the pull of all bodies, which blocks read in tiles; adds up the potential energy.
extern "C" __global__ void pull(const float4* bodies, float4* velocities, float* potential, int n, float time) {
  __shared__ float4 tile[128];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const float4 me = bodies[i];
  float x = 0, y = 0, z = 0, energy = 0;
  for (int first = 0; first < n; first += 128) {
    tile[threadIdx.x] = bodies[first + threadIdx.x];
    __syncthreads();
    for (int j = 0; j < 128; ++j) {
      const float4 other = tile[j];
      const float dx = other.x - me.x, dy = other.y - me.y, dz = other.z - me.z;
      const float inverse = rsqrtf(dx * dx + dy * dy + dz * dz + softening), force = other.w * inverse * inverse * inverse;
      x += force * dx, y += force * dy, z += force * dz;
      if (first + j != i) energy -= 0.5f * me.w * other.w * inverse;
    }
    __syncthreads();
  }
  velocities[i].x += time * x, velocities[i].y += time * y, velocities[i].z += time * z;
  potential[i] = energy;
}

extern "C" __global__ void move(float4* bodies, const float4* velocities, float time) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  bodies[i].x += time * velocities[i].x, bodies[i].y += time * velocities[i].y, bodies[i].z += time * velocities[i].z;
}
