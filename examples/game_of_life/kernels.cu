// One generation of Conway's game of life on a torus.
extern "C" __global__ void generation(const unsigned char* now, unsigned char* next, int width, int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  int neighbours = -now[y * width + x];
  for (int dy = height - 1; dy <= height + 1; ++dy)
    for (int dx = width - 1; dx <= width + 1; ++dx) neighbours += now[(y + dy) % height * width + (x + dx) % width];
  next[y * width + x] = neighbours == 3 || (neighbours == 2 && now[y * width + x]);
}
