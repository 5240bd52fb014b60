// A step of the lattice Boltzmann method on a torus, D2Q9: collide, then stream to the neighbours.
__constant__ int cx[9] = {0, 1, 0, -1, 0, 1, -1, -1, 1}, cy[9] = {0, 0, 1, 0, -1, 1, 1, -1, -1};
__constant__ double weights[9] = {4 / 9., 1 / 9., 1 / 9., 1 / 9., 1 / 9., 1 / 36., 1 / 36., 1 / 36., 1 / 36.};

extern "C" __global__ void step(const double* in, double* out, int width, int height, double omega) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y, cells = width * height;
  if (x >= width) return;
  double f[9], density = 0, ux = 0, uy = 0;
  for (int q = 0; q < 9; ++q) {
    f[q] = in[q * cells + y * width + x];
    density += f[q], ux += f[q] * cx[q], uy += f[q] * cy[q];
  }
  ux /= density, uy /= density;
  for (int q = 0; q < 9; ++q) {
    double along = cx[q] * ux + cy[q] * uy;
    double rest = weights[q] * density * (1 + 3 * along + 4.5 * along * along - 1.5 * (ux * ux + uy * uy));
    int to_x = (x + cx[q] + width) % width, to_y = (y + cy[q] + height) % height;
    out[q * cells + to_y * width + to_x] = f[q] + omega * (rest - f[q]);
  }
}
