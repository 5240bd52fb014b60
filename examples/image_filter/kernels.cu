// How much the brightness of a picture changes at each pixel (Sobel). The texture repeats the edge beyond it.
extern "C" __global__ void edges(cudaTextureObject_t picture, unsigned char* out, int width, int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  const auto at = [&](int dx, int dy) { return int(tex2D<unsigned char>(picture, x + dx, y + dy)); };
  const int across = at(1, -1) + 2 * at(1, 0) + at(1, 1) - at(-1, -1) - 2 * at(-1, 0) - at(-1, 1);
  const int down = at(-1, 1) + 2 * at(0, 1) + at(1, 1) - at(-1, -1) - 2 * at(0, -1) - at(1, -1);
  out[y * width + x] = min(255, (abs(across) + abs(down)) / 4);
}

// The picture turned about its middle, read between the pixels by the texture's own interpolation.
extern "C" __global__ void turned(cudaTextureObject_t picture, float* out, int width, int height, float angle) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  const float dx = x + 0.5f - width / 2, dy = y + 0.5f - height / 2, s = sinf(angle), c = cosf(angle);
  out[y * width + x] = tex2D<float>(picture, c * dx - s * dy + width / 2, s * dx + c * dy + height / 2);
}
