// Heat in a solid: explicit steps of the 7-point stencil, planes of the block's tile in shared memory.
extern "C" __global__ void step(const double* in, double* out, int n, double rate) {
  __shared__ double tile[10][10];
  int x = blockIdx.x * 8 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y, tx = threadIdx.x + 1, ty = threadIdx.y + 1;
  auto at = [&](int a, int b, int c) { return a < 0 || b < 0 || a >= n || b >= n ? 0.0 : in[(c * n + b) * n + a]; };
  double below = 0;
  for (int z = 0; z < n; ++z) {
    double here = at(x, y, z), above = z + 1 < n ? at(x, y, z + 1) : 0;
    tile[ty][tx] = here;
    if (tx == 1) tile[ty][0] = at(x - 1, y, z);
    if (tx == 8) tile[ty][9] = at(x + 1, y, z);
    if (ty == 1) tile[0][tx] = at(x, y - 1, z);
    if (ty == 8) tile[9][tx] = at(x, y + 1, z);
    __syncthreads();
    double around = ((tile[ty][tx - 1] + tile[ty][tx + 1]) + (tile[ty - 1][tx] + tile[ty + 1][tx])) + (below + above);
    if (x < n && y < n) out[(z * n + y) * n + x] = here + rate * (around - 6.0 * here);
    below = here;
    __syncthreads();
  }
}
