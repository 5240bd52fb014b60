// Filters of 8-bit images: median of 3 x 3, a separable blur from constant weights, Sobel's edges, a histogram, its
// equalisation. Beyond the rim lies the rim.
__constant__ float weights[7];

struct Image {
  const unsigned char* pixels;
  int width, height;
  __device__ int at(int x, int y) const { return pixels[min(max(y, 0), height - 1) * width + min(max(x, 0), width - 1)]; }
};

#define PLACE                                                                                        \
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;          \
  if (x >= width || y >= height) return;

extern "C" __global__ void median(const unsigned char* in, unsigned char* out, int width, int height) {
  PLACE
  Image image{in, width, height};
  int v[9];
  for (int i = 0; i < 9; ++i) v[i] = image.at(x + i % 3 - 1, y + i / 3 - 1);
  for (int i = 0; i <= 4; ++i)
    for (int j = i + 1; j < 9; ++j)
      if (v[j] < v[i]) {
        int less = v[j];
        v[j] = v[i], v[i] = less;
      }
  out[y * width + x] = v[4];
}

extern "C" __global__ void blur_rows(const unsigned char* in, float* out, int width, int height) {
  PLACE
  Image image{in, width, height};
  float sum = 0;
  for (int k = -3; k <= 3; ++k) sum += weights[k + 3] * image.at(x + k, y);
  out[y * width + x] = sum;
}

extern "C" __global__ void blur_columns(const float* in, float* out, int width, int height) {
  PLACE
  float sum = 0;
  for (int k = -3; k <= 3; ++k) sum += weights[k + 3] * in[min(max(y + k, 0), height - 1) * width + x];
  out[y * width + x] = sum;
}

extern "C" __global__ void sobel(const unsigned char* in, unsigned char* out, int width, int height) {
  PLACE
  Image i{in, width, height};
  int right = i.at(x + 1, y - 1) + 2 * i.at(x + 1, y) + i.at(x + 1, y + 1);
  int left = i.at(x - 1, y - 1) + 2 * i.at(x - 1, y) + i.at(x - 1, y + 1);
  int down = i.at(x - 1, y + 1) + 2 * i.at(x, y + 1) + i.at(x + 1, y + 1);
  int up = i.at(x - 1, y - 1) + 2 * i.at(x, y - 1) + i.at(x + 1, y - 1);
  out[y * width + x] = min(abs(right - left) + abs(down - up), 255);
}

extern "C" __global__ void histogram(const unsigned char* in, unsigned* bins, int n) {
  __shared__ unsigned mine[256];
  mine[threadIdx.x] = 0;
  __syncthreads();
  for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256) atomicAdd(&mine[in[i]], 1u);
  __syncthreads();
  atomicAdd(&bins[threadIdx.x], mine[threadIdx.x]);
}

extern "C" __global__ void equalise(const unsigned char* in, unsigned char* out, const unsigned* below, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = (unsigned long long)below[in[i]] * 255 / n;
}
