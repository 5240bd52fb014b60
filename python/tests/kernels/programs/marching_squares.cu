// The length and the pieces of a level line of a field on a grid, cell by cell.
extern "C" __global__ void march(const float* field, int width, int height, float level, int* pieces, double* length) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
  if (x >= width - 1) return;
  const float* p = field + y * width + x;
  float corners[4] = {p[0], p[1], p[width + 1], p[width]};  // around the cell
  float xs[4], ys[4];
  int count = 0;
  for (int i = 0; i < 4; ++i) {
    float from = corners[i] - level, to = corners[(i + 1) % 4] - level;
    if ((from < 0) == (to < 0)) continue;
    float part = from / (from - to);
    xs[count] = i == 0 ? part : i == 1 ? 1 : i == 2 ? 1 - part : 0;
    ys[count++] = i == 0 ? 0 : i == 1 ? part : i == 2 ? 1 : 1 - part;
  }
  double sum = 0;
  for (int i = 0; i < count; i += 2) {
    double across = xs[i] - xs[i + 1], down = ys[i] - ys[i + 1];
    sum += sqrt(across * across + down * down);
  }
  pieces[y * (width - 1) + x] = count / 2;
  length[y * (width - 1) + x] = sum;
}
