// Kernels of the image pipeline: separable Gaussian blur, Sobel edges, mean and histogram. Templates over the pixel
// type, instantiated by name expressions at run time; the same source runs on a GPU and on the CPU device.
//
// Images are row-major, `width` x `height` pixels; reads outside take the nearest pixel inside.

// How a pixel type is computed with: `load` widens to the accumulator, `store` rounds back, `level` is the luminance in
// whole steps 0..255, in integers, so that a histogram has one right answer.
template <typename T>
struct Pixel;

template <>
struct Pixel<float> {
  using Sum = float;
  static __device__ float zero() { return 0.0f; }
  static __device__ float load(float value) { return value; }
  static __device__ float add(float sum, float weight, float value) { return sum + weight * value; }
  static __device__ float store(float sum) { return sum; }
  static __device__ float luminance(float value) { return value; }
  static __device__ int level(float value) { return min(max(static_cast<int>(value), 0), 255); }
};

template <>
struct Pixel<uchar4> {
  using Sum = float4;
  static __device__ float4 zero() { return make_float4(0.0f, 0.0f, 0.0f, 0.0f); }
  static __device__ float4 load(uchar4 v) { return make_float4(v.x, v.y, v.z, v.w); }
  static __device__ float4 add(float4 s, float weight, float4 v) {
    return make_float4(s.x + weight * v.x, s.y + weight * v.y, s.z + weight * v.z, s.w + weight * v.w);
  }
  static __device__ uchar4 store(float4 s) {
    return make_uchar4(static_cast<unsigned char>(s.x + 0.5f), static_cast<unsigned char>(s.y + 0.5f),
                       static_cast<unsigned char>(s.z + 0.5f), static_cast<unsigned char>(s.w + 0.5f));
  }
  static __device__ float luminance(uchar4 v) { return 0.2126f * v.x + 0.7152f * v.y + 0.0722f * v.z; }
  static __device__ int level(uchar4 v) { return (54 * v.x + 183 * v.y + 19 * v.z) / 256; }
};

__device__ inline int clamp_to(int value, int size) { return min(max(value, 0), size - 1); }

// One pass along x. A block loads its row segment with a halo of RADIUS pixels into shared memory, so that each pixel is
// read from global memory once. Block: (TILE, rows).
template <typename T, int RADIUS, int TILE>
__global__ void blur_rows(T* out, const T* in, const float* weights, int width, int height) {
  extern __shared__ unsigned char shared_bytes[];
  using Sum = typename Pixel<T>::Sum;
  constexpr int span = TILE + 2 * RADIUS;
  Sum* row = reinterpret_cast<Sum*>(shared_bytes) + threadIdx.y * span;
  const int x = blockIdx.x * TILE + threadIdx.x;
  const int y = blockIdx.y * blockDim.y + threadIdx.y;
  const int source_y = clamp_to(y, height);
  for (int i = threadIdx.x; i < span; i += TILE) {
    const int source_x = clamp_to(static_cast<int>(blockIdx.x) * TILE + i - RADIUS, width);
    row[i] = Pixel<T>::load(in[source_y * width + source_x]);
  }
  __syncthreads();
  if (x >= width || y >= height) return;
  Sum sum = Pixel<T>::zero();
  for (int k = -RADIUS; k <= RADIUS; ++k) sum = Pixel<T>::add(sum, weights[k + RADIUS], row[threadIdx.x + RADIUS + k]);
  out[y * width + x] = Pixel<T>::store(sum);
}

// One pass along y, straight from global memory: neighbouring threads read neighbouring pixels.
template <typename T, int RADIUS>
__global__ void blur_columns(T* out, const T* in, const float* weights, int width, int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  typename Pixel<T>::Sum sum = Pixel<T>::zero();
  for (int k = -RADIUS; k <= RADIUS; ++k) {
    sum = Pixel<T>::add(sum, weights[k + RADIUS], Pixel<T>::load(in[clamp_to(y + k, height) * width + x]));
  }
  out[y * width + x] = Pixel<T>::store(sum);
}

// Gradient magnitude of the luminance by the 3x3 Sobel operators.
template <typename T>
__global__ void sobel(float* out, const T* in, int width, int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  float v[3][3];
  for (int dy = -1; dy <= 1; ++dy) {
    for (int dx = -1; dx <= 1; ++dx) {
      v[dy + 1][dx + 1] = Pixel<T>::luminance(in[clamp_to(y + dy, height) * width + clamp_to(x + dx, width)]);
    }
  }
  const float gx = (v[0][2] + 2.0f * v[1][2] + v[2][2]) - (v[0][0] + 2.0f * v[1][0] + v[2][0]);
  const float gy = (v[2][0] + 2.0f * v[2][1] + v[2][2]) - (v[0][0] + 2.0f * v[0][1] + v[0][2]);
  out[y * width + x] = sqrtf(gx * gx + gy * gy);
}

// Sum of the luminances (for the mean) by warp shuffles and one atomic per warp; histogram of the levels, 256 bins,
// by atomics in shared memory and then in global memory. Block: 256 threads. `sum` and `bins` start at zero.
template <typename T>
__global__ void statistics(double* sum, unsigned int* bins, const T* in, int pixels) {
  __shared__ unsigned int local_bins[256];
  local_bins[threadIdx.x] = 0;
  __syncthreads();
  float part = 0.0f;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < pixels; i += gridDim.x * blockDim.x) {
    part += Pixel<T>::luminance(in[i]);
    atomicAdd(&local_bins[Pixel<T>::level(in[i])], 1u);
  }
  for (int offset = 16; offset > 0; offset /= 2) part += __shfl_down_sync(0xffffffffu, part, offset);
  if (threadIdx.x % 32 == 0) atomicAdd(sum, static_cast<double>(part));
  __syncthreads();
  if (local_bins[threadIdx.x] != 0) atomicAdd(&bins[threadIdx.x], local_bins[threadIdx.x]);
}
