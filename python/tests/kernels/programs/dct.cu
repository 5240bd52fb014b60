// The discrete cosine transform of 8 x 8 blocks of an image, rows then columns, a warp of two rows at a time.
extern "C" __global__ void dct(const float* in, float* out, int width) {
  __shared__ float tile[8][8], half_done[8][8];
  int u = threadIdx.x, v = threadIdx.y, at = (blockIdx.y * 8 + v) * width + blockIdx.x * 8 + u;
  tile[v][u] = in[at];
  __syncthreads();
  float scale_u = u ? 0.5f : 0.35355339f, scale_v = v ? 0.5f : 0.35355339f, sum = 0;
  for (int x = 0; x < 8; ++x) sum += tile[v][x] * cospif((2 * x + 1) * u / 16.0f);
  half_done[v][u] = sum * scale_u;
  __syncthreads();
  sum = 0;
  for (int y = 0; y < 8; ++y) sum += half_done[y][u] * cospif((2 * y + 1) * v / 16.0f);
  out[at] = sum * scale_v;
}
