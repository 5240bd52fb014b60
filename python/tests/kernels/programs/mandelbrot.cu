// How soon points of the complex plane leave the circle of radius 2.
extern "C" __global__ void escape(int* out, int width, int height, double left, double top, double step, int most) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  double cr = left + x * step, ci = top + y * step, r = 0, i = 0;
  int n = 0;
  while (n < most && r * r + i * i <= 4) {
    double next = r * r - i * i + cr;
    i = 2 * r * i + ci, r = next;
    ++n;
  }
  out[y * width + x] = n;
}
