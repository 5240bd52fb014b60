// The kernels of the CPU device's bench: each as it is usually written for a GPU. reference.cpp solves the same
// problems.

extern "C" {

typedef unsigned int u32;
typedef unsigned char u8;

// ---- streams -------------------------------------------------------------------------------------------------------

__global__ void saxpy(float* y, const float* x, float a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i];
}

__global__ void stencil(float* out, const float* in, int width, int height) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < 1 || y < 1 || x >= width - 1 || y >= height - 1) return;
  int i = y * width + x;
  out[i] = 0.5f * in[i] + 0.125f * (in[i - 1] + in[i + 1] + in[i - width] + in[i + width]);
}

__global__ void transpose(float* out, const float* in, int size) {
  __shared__ float tile[32][33];
  int x = blockIdx.x * 32 + threadIdx.x;
  int y = blockIdx.y * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8) tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * size + x];
  __syncthreads();
  x = blockIdx.y * 32 + threadIdx.x;
  y = blockIdx.x * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8) out[(y + j) * size + x] = tile[threadIdx.x][threadIdx.y + j];
}

__constant__ float filter[49];

__global__ void convolution(float* out, const float* in, int width, int height) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width - 6 || y >= height - 6) return;
  float sum = 0.0f;
  for (int j = 0; j < 7; ++j) {
    for (int i = 0; i < 7; ++i) sum += filter[j * 7 + i] * in[(y + j) * width + x + i];
  }
  out[y * width + x] = sum;
}

// Three channels of bytes to grey, then a threshold.
__global__ void threshold(u8* out, const u8* in, int n, int limit) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int grey = (77 * in[3 * i] + 150 * in[3 * i + 1] + 29 * in[3 * i + 2]) >> 8;
  out[i] = grey > limit ? 255 : 0;
}

// ---- sums ----------------------------------------------------------------------------------------------------------

__global__ void warp_sum(float* total, const float* in, int n) {
  float sum = 0.0f;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) sum += in[i];
  for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_down_sync(0xffffffff, sum, offset);
  if (threadIdx.x % 32 == 0) atomicAdd(total, sum);
}

__global__ void tree_sum(float* sums, const float* in) {
  __shared__ float part[256];
  int t = threadIdx.x;
  int i = blockIdx.x * 512 + t;
  part[t] = in[i] + in[i + 256];
  __syncthreads();
  for (int s = 128; s > 0; s /= 2) {
    if (t < s) part[t] += part[t + s];
    __syncthreads();
  }
  if (t == 0) sums[blockIdx.x] = part[0];
}

__global__ void scan_blocks(u32* out, u32* sums, const u32* in) {
  __shared__ u32 part[512];
  int t = threadIdx.x;
  int i = blockIdx.x * 512 + t;
  part[t] = in[i];
  __syncthreads();
  for (int s = 1; s < 512; s *= 2) {
    u32 other = t >= s ? part[t - s] : 0;
    __syncthreads();
    part[t] += other;
    __syncthreads();
  }
  out[i] = part[t];
  if (t == 511) sums[blockIdx.x] = part[t];
}

__global__ void add_sums(u32* out, const u32* sums) {
  if (blockIdx.x > 0) out[blockIdx.x * 512 + threadIdx.x] += sums[blockIdx.x - 1];
}

__global__ void softmax(float* out, const float* in, int columns) {
  int row = blockIdx.x * blockDim.y + threadIdx.y;
  const float* from = in + row * columns;
  float highest = -3.0e38f;
  for (int i = threadIdx.x; i < columns; i += 32) highest = fmaxf(highest, from[i]);
  for (int offset = 16; offset > 0; offset /= 2) {
    highest = fmaxf(highest, __shfl_xor_sync(0xffffffff, highest, offset));
  }
  float sum = 0.0f;
  for (int i = threadIdx.x; i < columns; i += 32) sum += __expf(from[i] - highest);
  for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_xor_sync(0xffffffff, sum, offset);
  for (int i = threadIdx.x; i < columns; i += 32) out[row * columns + i] = __expf(from[i] - highest) / sum;
}

__global__ void histogram(u32* bins, const u8* in, int n) {
  __shared__ u32 own[256];
  own[threadIdx.x] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(&own[in[i]], 1);
  __syncthreads();
  atomicAdd(&bins[threadIdx.x], own[threadIdx.x]);
}

// Keeps what is above the limit, in any order.
__global__ void compact(float* out, u32* count, const float* in, float limit, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  bool keep = i < n && in[i] > limit;
  u32 kept = __ballot_sync(0xffffffff, keep);
  int lane = threadIdx.x % 32;
  u32 base = 0;
  if (lane == 0) base = atomicAdd(count, __popc(kept));
  base = __shfl_sync(0xffffffff, base, 0);
  if (keep) out[base + __popc(kept & ((1u << lane) - 1))] = in[i];
}

// ---- matrices and bodies -------------------------------------------------------------------------------------------

__global__ void matmul(float* c, const float* a, const float* b, int n) {
  __shared__ float as[16][16];
  __shared__ float bs[16][16];
  int x = threadIdx.x, y = threadIdx.y;
  int row = blockIdx.y * 16 + y, column = blockIdx.x * 16 + x;
  float sum = 0.0f;
  for (int k = 0; k < n; k += 16) {
    as[y][x] = a[row * n + k + x];
    bs[y][x] = b[(k + y) * n + column];
    __syncthreads();
    for (int i = 0; i < 16; ++i) sum += as[y][i] * bs[i][x];
    __syncthreads();
  }
  c[row * n + column] = sum;
}

__global__ void spmv(float* y, const int* starts, const int* columns, const float* values, const float* x, int rows) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float sum = 0.0f;
  for (int i = starts[row]; i < starts[row + 1]; ++i) sum += values[i] * x[columns[i]];
  y[row] = sum;
}

__global__ void nbody(float4* forces, const float4* bodies, int n) {
  __shared__ float4 tile[256];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float4 own = bodies[i];
  float fx = 0.0f, fy = 0.0f, fz = 0.0f;
  for (int k = 0; k < n; k += 256) {
    tile[threadIdx.x] = bodies[k + threadIdx.x];
    __syncthreads();
    for (int j = 0; j < 256; ++j) {
      float dx = tile[j].x - own.x, dy = tile[j].y - own.y, dz = tile[j].z - own.z;
      float square = dx * dx + dy * dy + dz * dz + 0.01f;
      float inverse = rsqrtf(square);
      float scale = tile[j].w * inverse * inverse * inverse;
      fx += dx * scale;
      fy += dy * scale;
      fz += dz * scale;
    }
    __syncthreads();
  }
  forces[i] = make_float4(fx, fy, fz, 0.0f);
}

// Radix-2 over 1024 complex values a block; twiddles come from a table.
__global__ void fft(float2* out, const float2* in, const float2* twiddles) {
  __shared__ float2 data[1024];
  int t = threadIdx.x;
  const float2* from = in + blockIdx.x * 1024;
  for (int i = t; i < 1024; i += 512) data[__brev(i) >> 22] = from[i];
  __syncthreads();
  for (int half = 1; half < 1024; half *= 2) {
    int place = t & (half - 1);
    int low = 2 * t - place;
    float2 w = twiddles[place * (512 / half)];
    float2 a = data[low], b = data[low + half];
    float2 turned = make_float2(b.x * w.x - b.y * w.y, b.x * w.y + b.y * w.x);
    data[low] = make_float2(a.x + turned.x, a.y + turned.y);
    data[low + half] = make_float2(a.x - turned.x, a.y - turned.y);
    __syncthreads();
  }
  for (int i = t; i < 1024; i += 512) out[blockIdx.x * 1024 + i] = data[i];
}

// ---- arithmetic ----------------------------------------------------------------------------------------------------

__global__ void mandelbrot(int* out, int width, int height, int most) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  float cr = -2.0f + 3.0f * x / width, ci = -1.5f + 3.0f * y / height;
  float zr = 0.0f, zi = 0.0f;
  int i = 0;
  for (; i < most && zr * zr + zi * zi < 4.0f; ++i) {
    float next = zr * zr - zi * zi + cr;
    zi = 2.0f * zr * zi + ci;
    zr = next;
  }
  out[y * width + x] = i;
}

__device__ float normal_distribution(float d) {
  float k = 1.0f / (1.0f + 0.2316419f * fabsf(d));
  float tail = 0.39894228f * expf(-0.5f * d * d) *
               (k * (0.31938153f + k * (-0.356563782f + k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f)))));
  return d > 0.0f ? 1.0f - tail : tail;
}

__global__ void black_scholes(float* call, float* put, const float* price, const float* strike, const float* years,
                              float rate, float volatility, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float root = sqrtf(years[i]);
  float d1 = (logf(price[i] / strike[i]) + (rate + 0.5f * volatility * volatility) * years[i]) / (volatility * root);
  float d2 = d1 - volatility * root;
  float n1 = normal_distribution(d1), n2 = normal_distribution(d2);
  float discount = expf(-rate * years[i]);
  call[i] = price[i] * n1 - strike[i] * discount * n2;
  put[i] = strike[i] * discount * (1.0f - n2) - price[i] * (1.0f - n1);
}

__global__ void monte_carlo(u32* hits, u32 seed, int rounds) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  u32 state = seed ^ (i * 2654435761u);
  state = state == 0 ? 1 : state;
  u32 inside = 0;
  for (int k = 0; k < rounds; ++k) {
    state ^= state << 13;
    state ^= state >> 17;
    state ^= state << 5;
    float x = (state >> 8) * (1.0f / 16777216.0f);
    state ^= state << 13;
    state ^= state >> 17;
    state ^= state << 5;
    float y = (state >> 8) * (1.0f / 16777216.0f);
    if (x * x + y * y < 1.0f) ++inside;
  }
  for (int offset = 16; offset > 0; offset /= 2) inside += __shfl_down_sync(0xffffffff, inside, offset);
  if (threadIdx.x % 32 == 0) atomicAdd(hits, inside);
}

// ---- sorting, strings, graphs --------------------------------------------------------------------------------------

__global__ void bitonic_sort(u32* keys) {
  __shared__ u32 part[1024];
  u32* own = keys + blockIdx.x * 1024;
  int t = threadIdx.x;
  part[t] = own[t];
  part[t + 512] = own[t + 512];
  for (int size = 2; size <= 1024; size *= 2) {
    for (int step = size / 2; step > 0; step /= 2) {
      __syncthreads();
      int low = 2 * t - (t & (step - 1));
      bool up = (low & size) == 0;
      u32 a = part[low], b = part[low + step];
      if ((a > b) == up) {
        part[low] = b;
        part[low + step] = a;
      }
    }
  }
  __syncthreads();
  own[t] = part[t];
  own[t + 512] = part[t + 512];
}

__global__ void hash_strings(u32* out, const u8* text, const int* starts, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  u32 hash = 2166136261u;
  for (int k = starts[i]; k < starts[i + 1]; ++k) hash = (hash ^ text[k]) * 16777619u;
  out[i] = hash;
}

// How often the pattern occurs.
__global__ void find_pattern(u32* count, const u8* text, int n, const u8* pattern, int length) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i > n - length) return;
  int k = 0;
  while (k < length && text[i + k] == pattern[k]) ++k;
  if (k == length) atomicAdd(count, 1);
}

__global__ void search(int* found, const u32* sorted, const u32* keys, int size, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  u32 key = keys[i];
  int low = 0, high = size;
  while (low < high) {
    int middle = (low + high) / 2;
    if (sorted[middle] < key) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  found[i] = low;
}

// ---- double precision ----------------------------------------------------------------------------------------------

__global__ void heat(double* out, const double* in, int size) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  int z = blockIdx.z;
  if (x < 1 || y < 1 || z < 1 || x >= size - 1 || y >= size - 1 || z >= size - 1) return;
  int i = (z * size + y) * size + x;
  int plane = size * size;
  out[i] = 0.4 * in[i] + 0.1 * (in[i - 1] + in[i + 1] + in[i - size] + in[i + size] + in[i - plane] + in[i + plane]);
}

}  // extern "C"
