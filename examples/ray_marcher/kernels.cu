// A picture by ray marching: each ray goes forward by the distance to the nearest surface until there is none left.
struct Vector {
  float x, y, z;
};
__device__ Vector operator+(Vector a, Vector b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
__device__ Vector operator*(float s, Vector a) { return {s * a.x, s * a.y, s * a.z}; }
__device__ float dot(Vector a, Vector b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
__device__ float length(Vector a) { return sqrtf(dot(a, a)); }
__device__ Vector normal(Vector a) { return rsqrtf(dot(a, a)) * a; }

__device__ float distance(Vector p) {
  const float ball = length(p + Vector{0, 0, -3}) - 1;
  const float around = hypotf(p.x, p.z - 3) - 1.6f, ring = hypotf(around, p.y) - 0.2f;
  const float floor = p.y + 1;
  return fminf(fminf(ball, ring), floor);
}

/// How far along a ray the first surface is; 20 if there is none before.
__device__ float march(Vector from, Vector direction) {
  float way = 0;
  for (int step = 0; step < 200 && way < 20; ++step) {
    const float free = distance(from + way * direction);
    if (free < 1e-3f) return way;
    way += free;
  }
  return 20;
}

extern "C" __global__ void render(unsigned char* picture, float* depth, int width, int height) {
  const int px = blockIdx.x * blockDim.x + threadIdx.x, py = blockIdx.y * blockDim.y + threadIdx.y;
  if (px >= width || py >= height) return;
  const Vector eye{0, 0.6f, -1};
  const Vector ray = normal({(px + 0.5f - width / 2) / height, (height / 2 - py - 0.5f) / height - 0.15f, 1});
  const float way = march(eye, ray);
  float light = 0.9f - 0.5f * py / height;  // the sky
  if (way < 20) {
    const Vector p = eye + way * ray, sun = normal({-1, 1.5f, -1});
    const float here = distance(p), e = 1e-3f;
    const Vector up = normal({distance(p + Vector{e, 0, 0}) - here, distance(p + Vector{0, e, 0}) - here,
                              distance(p + Vector{0, 0, e}) - here});
    const bool in_shadow = march(p + 0.01f * up, sun) < 20;
    light = 0.15f + (in_shadow ? 0 : 0.8f * fmaxf(0, dot(up, sun)));
  }
  picture[py * width + px] = 255 * fminf(light, 1);
  depth[py * width + px] = way;
}
