// How many steps each point of the plane takes to leave the circle of radius 2; `most` if it does not.
extern "C" __global__ void mandelbrot(int* steps, int width, int height, int most) {
  const int px = blockIdx.x * blockDim.x + threadIdx.x, py = blockIdx.y * blockDim.y + threadIdx.y;
  if (px >= width || py >= height) return;
  const float cx = -2.2f + 3.2f * px / width, cy = -1.2f + 2.4f * py / height;
  float x = 0, y = 0;
  int step = 0;
  for (; step < most && x * x + y * y <= 4; ++step) {
    const float next = x * x - y * y + cx;
    y = 2 * x * y + cy;
    x = next;
  }
  steps[py * width + px] = step;
}
