// The nearest sphere that the ray through each pixel meets, and how far away.
struct Sphere { double x, y, z, radius; };

extern "C" __global__ void cast(const Sphere* spheres, int count, int* hits, double* distances, int width, int height) {
  int px = blockIdx.x * blockDim.x + threadIdx.x, py = blockIdx.y * blockDim.y + threadIdx.y;
  if (px >= width || py >= height) return;
  double dx = (px + 0.5) / width - 0.5, dy = (py + 0.5) / height - 0.5, dz = 1, length = sqrt(dx * dx + dy * dy + dz * dz);
  dx /= length, dy /= length, dz /= length;
  int hit = -1;
  double nearest = 1e30;
  for (int i = 0; i < count; ++i) {
    Sphere s = spheres[i];
    double along = s.x * dx + s.y * dy + s.z * dz;
    double inside = along * along - (s.x * s.x + s.y * s.y + s.z * s.z) + s.radius * s.radius;
    if (inside < 0) continue;
    double distance = along - sqrt(inside);
    if (distance > 0 && distance < nearest) nearest = distance, hit = i;
  }
  hits[py * width + px] = hit;
  distances[py * width + px] = nearest;
}
