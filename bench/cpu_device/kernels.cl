// The kernels of kernels.cu in OpenCL C, for PoCL: the same algorithms in the same blocks, element by element. PoCL has
// no sub-groups on processors, so what a warp does there is done here by 32 work-items in local memory, as OpenCL
// programs without sub-groups do. Constants come as last arguments.

// ---- streams -------------------------------------------------------------------------------------------------------

kernel void saxpy(global float* y, global const float* x, float a, int n) {
  int i = get_global_id(0);
  if (i < n) y[i] = a * x[i] + y[i];
}

kernel void stencil(global float* out, global const float* in, int width, int height) {
  int x = get_global_id(0), y = get_global_id(1);
  if (x < 1 || y < 1 || x >= width - 1 || y >= height - 1) return;
  int i = y * width + x;
  out[i] = 0.5f * in[i] + 0.125f * (in[i - 1] + in[i + 1] + in[i - width] + in[i + width]);
}

kernel void transpose(global float* out, global const float* in, int size) {
  local float tile[32][33];
  int tx = get_local_id(0), ty = get_local_id(1);
  int x = get_group_id(0) * 32 + tx, y = get_group_id(1) * 32 + ty;
  for (int j = 0; j < 32; j += 8) tile[ty + j][tx] = in[(y + j) * size + x];
  barrier(CLK_LOCAL_MEM_FENCE);
  x = get_group_id(1) * 32 + tx;
  y = get_group_id(0) * 32 + ty;
  for (int j = 0; j < 32; j += 8) out[(y + j) * size + x] = tile[tx][ty + j];
}

kernel void convolution(global float* out, global const float* in, int width, int height, constant float* filter) {
  int x = get_global_id(0), y = get_global_id(1);
  if (x >= width - 6 || y >= height - 6) return;
  float sum = 0.0f;
  for (int j = 0; j < 7; ++j) {
    for (int i = 0; i < 7; ++i) sum += filter[j * 7 + i] * in[(y + j) * width + x + i];
  }
  out[y * width + x] = sum;
}

kernel void threshold(global uchar* out, global const uchar* in, int n, int limit) {
  int i = get_global_id(0);
  if (i >= n) return;
  int grey = (77 * in[3 * i] + 150 * in[3 * i + 1] + 29 * in[3 * i + 2]) >> 8;
  out[i] = grey > limit ? 255 : 0;
}

// ---- sums ----------------------------------------------------------------------------------------------------------

// OpenCL C 1.2 adds no floats atomically.
void add_atomically(volatile global float* to, float value) {
  volatile global uint* bits = (volatile global uint*)to;
  uint seen = *bits, before;
  do {
    before = seen;
    seen = atomic_cmpxchg(bits, before, as_uint(as_float(before) + value));
  } while (seen != before);
}

kernel void warp_sum(global float* total, global const float* in, int n) {
  local float part[256];
  int t = get_local_id(0), lane = t % 32;
  float sum = 0.0f;
  for (int i = get_global_id(0); i < n; i += get_global_size(0)) sum += in[i];
  part[t] = sum;
  for (int offset = 16; offset > 0; offset /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (lane < offset) part[t] += part[t + offset];
  }
  if (lane == 0) add_atomically(total, part[t]);
}

kernel void tree_sum(global float* sums, global const float* in) {
  local float part[256];
  int t = get_local_id(0);
  int i = get_group_id(0) * 512 + t;
  part[t] = in[i] + in[i + 256];
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int s = 128; s > 0; s /= 2) {
    if (t < s) part[t] += part[t + s];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (t == 0) sums[get_group_id(0)] = part[0];
}

kernel void scan_blocks(global uint* out, global uint* sums, global const uint* in) {
  local uint part[512];
  int t = get_local_id(0), i = get_global_id(0);
  part[t] = in[i];
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int s = 1; s < 512; s *= 2) {
    uint other = t >= s ? part[t - s] : 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    part[t] += other;
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  out[i] = part[t];
  if (t == 511) sums[get_group_id(0)] = part[t];
}

kernel void add_sums(global uint* out, global const uint* sums) {
  if (get_group_id(0) > 0) out[get_global_id(0)] += sums[get_group_id(0) - 1];
}

kernel void softmax(global float* out, global const float* in, int columns) {
  local float part[4][32];
  int lane = get_local_id(0), y = get_local_id(1);
  int row = get_group_id(0) * get_local_size(1) + y;
  global const float* from = in + row * columns;
  float highest = -3.0e38f;
  for (int i = lane; i < columns; i += 32) highest = fmax(highest, from[i]);
  part[y][lane] = highest;
  for (int offset = 16; offset > 0; offset /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (lane < offset) part[y][lane] = fmax(part[y][lane], part[y][lane + offset]);
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  highest = part[y][0];
  barrier(CLK_LOCAL_MEM_FENCE);
  float sum = 0.0f;
  for (int i = lane; i < columns; i += 32) sum += native_exp(from[i] - highest);
  part[y][lane] = sum;
  for (int offset = 16; offset > 0; offset /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (lane < offset) part[y][lane] += part[y][lane + offset];
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  sum = part[y][0];
  for (int i = lane; i < columns; i += 32) out[row * columns + i] = native_exp(from[i] - highest) / sum;
}

kernel void histogram(global uint* bins, global const uchar* in, int n) {
  local uint own[256];
  int t = get_local_id(0);
  own[t] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int i = get_global_id(0); i < n; i += get_global_size(0)) atomic_inc(&own[in[i]]);
  barrier(CLK_LOCAL_MEM_FENCE);
  atomic_add(&bins[t], own[t]);
}

// Places come from a counter of the block's, not from the other lanes' bits: in any order, too.
kernel void compact(global float* out, global uint* count, global const float* in, float limit, int n) {
  local uint kept, base;
  int t = get_local_id(0), i = get_global_id(0);
  if (t == 0) kept = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  bool keep = i < n && in[i] > limit;
  uint place = keep ? atomic_inc(&kept) : 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (t == 0) base = atomic_add(count, kept);
  barrier(CLK_LOCAL_MEM_FENCE);
  if (keep) out[base + place] = in[i];
}

// ---- matrices and bodies -------------------------------------------------------------------------------------------

kernel void matmul(global float* c, global const float* a, global const float* b, int n) {
  local float as[16][16];
  local float bs[16][16];
  int x = get_local_id(0), y = get_local_id(1);
  int row = get_group_id(1) * 16 + y, column = get_group_id(0) * 16 + x;
  float sum = 0.0f;
  for (int k = 0; k < n; k += 16) {
    as[y][x] = a[row * n + k + x];
    bs[y][x] = b[(k + y) * n + column];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = 0; i < 16; ++i) sum += as[y][i] * bs[i][x];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  c[row * n + column] = sum;
}

kernel void spmv(global float* y, global const int* starts, global const int* columns, global const float* values,
                 global const float* x, int rows) {
  int row = get_global_id(0);
  if (row >= rows) return;
  float sum = 0.0f;
  for (int i = starts[row]; i < starts[row + 1]; ++i) sum += values[i] * x[columns[i]];
  y[row] = sum;
}

kernel void nbody(global float4* forces, global const float4* bodies, int n) {
  local float4 tile[256];
  int t = get_local_id(0), i = get_global_id(0);
  float4 own = bodies[i];
  float fx = 0.0f, fy = 0.0f, fz = 0.0f;
  for (int k = 0; k < n; k += 256) {
    tile[t] = bodies[k + t];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int j = 0; j < 256; ++j) {
      float dx = tile[j].x - own.x, dy = tile[j].y - own.y, dz = tile[j].z - own.z;
      float square = dx * dx + dy * dy + dz * dz + 0.01f;
      float inverse = rsqrt(square);
      float scale = tile[j].w * inverse * inverse * inverse;
      fx += dx * scale;
      fy += dy * scale;
      fz += dz * scale;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  forces[i] = (float4)(fx, fy, fz, 0.0f);
}

// The lowest ten bits the other way round; OpenCL C has no function for it.
uint reversed(uint i) {
  i = (i >> 1 & 0x55555555u) | (i & 0x55555555u) << 1;
  i = (i >> 2 & 0x33333333u) | (i & 0x33333333u) << 2;
  i = (i >> 4 & 0x0f0f0f0fu) | (i & 0x0f0f0f0fu) << 4;
  i = (i >> 8 & 0x00ff00ffu) | (i & 0x00ff00ffu) << 8;
  return (i >> 16 | i << 16) >> 22;
}

kernel void fft(global float2* out, global const float2* in, global const float2* twiddles) {
  local float2 data[1024];
  int t = get_local_id(0);
  global const float2* from = in + get_group_id(0) * 1024;
  for (int i = t; i < 1024; i += 512) data[reversed(i)] = from[i];
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int width = 1; width < 1024; width *= 2) {
    int place = t & (width - 1);
    int low = 2 * t - place;
    float2 w = twiddles[place * (512 / width)];
    float2 a = data[low], b = data[low + width];
    float2 turned = (float2)(b.x * w.x - b.y * w.y, b.x * w.y + b.y * w.x);
    data[low] = a + turned;
    data[low + width] = a - turned;
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  for (int i = t; i < 1024; i += 512) out[get_group_id(0) * 1024 + i] = data[i];
}

// ---- arithmetic ----------------------------------------------------------------------------------------------------

kernel void mandelbrot(global int* out, int width, int height, int most) {
  int x = get_global_id(0), y = get_global_id(1);
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

float normal_distribution(float d) {
  float k = 1.0f / (1.0f + 0.2316419f * fabs(d));
  float tail = 0.39894228f * exp(-0.5f * d * d) *
               (k * (0.31938153f + k * (-0.356563782f + k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f)))));
  return d > 0.0f ? 1.0f - tail : tail;
}

kernel void black_scholes(global float* call, global float* put, global const float* price, global const float* strike,
                          global const float* years, float rate, float volatility, int n) {
  int i = get_global_id(0);
  if (i >= n) return;
  float root = sqrt(years[i]);
  float d1 = (log(price[i] / strike[i]) + (rate + 0.5f * volatility * volatility) * years[i]) / (volatility * root);
  float d2 = d1 - volatility * root;
  float n1 = normal_distribution(d1), n2 = normal_distribution(d2);
  float discount = exp(-rate * years[i]);
  call[i] = price[i] * n1 - strike[i] * discount * n2;
  put[i] = strike[i] * discount * (1.0f - n2) - price[i] * (1.0f - n1);
}

kernel void monte_carlo(global uint* hits, uint seed, int rounds) {
  local uint part[256];
  int t = get_local_id(0), lane = t % 32;
  uint state = seed ^ ((uint)get_global_id(0) * 2654435761u);
  state = state == 0 ? 1 : state;
  uint inside = 0;
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
  part[t] = inside;
  for (int offset = 16; offset > 0; offset /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (lane < offset) part[t] += part[t + offset];
  }
  if (lane == 0) atomic_add(hits, part[t]);
}

// ---- sorting, strings, graphs --------------------------------------------------------------------------------------

kernel void bitonic_sort(global uint* keys) {
  local uint part[1024];
  global uint* own = keys + get_group_id(0) * 1024;
  int t = get_local_id(0);
  part[t] = own[t];
  part[t + 512] = own[t + 512];
  for (int size = 2; size <= 1024; size *= 2) {
    for (int step = size / 2; step > 0; step /= 2) {
      barrier(CLK_LOCAL_MEM_FENCE);
      int low = 2 * t - (t & (step - 1));
      bool up = (low & size) == 0;
      uint a = part[low], b = part[low + step];
      if ((a > b) == up) {
        part[low] = b;
        part[low + step] = a;
      }
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  own[t] = part[t];
  own[t + 512] = part[t + 512];
}

kernel void hash_strings(global uint* out, global const uchar* text, global const int* starts, int n) {
  int i = get_global_id(0);
  if (i >= n) return;
  uint hash = 2166136261u;
  for (int k = starts[i]; k < starts[i + 1]; ++k) hash = (hash ^ text[k]) * 16777619u;
  out[i] = hash;
}

kernel void find_pattern(global uint* count, global const uchar* text, int n, global const uchar* pattern,
                         int length) {
  int i = get_global_id(0);
  if (i > n - length) return;
  int k = 0;
  while (k < length && text[i + k] == pattern[k]) ++k;
  if (k == length) atomic_inc(count);
}

kernel void search(global int* found, global const uint* sorted, global const uint* keys, int size, int n) {
  int i = get_global_id(0);
  if (i >= n) return;
  uint key = keys[i];
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

kernel void heat(global double* out, global const double* in, int size) {
  int x = get_global_id(0), y = get_global_id(1), z = get_global_id(2);
  if (x < 1 || y < 1 || z < 1 || x >= size - 1 || y >= size - 1 || z >= size - 1) return;
  int i = (z * size + y) * size + x;
  int plane = size * size;
  out[i] = 0.4 * in[i] + 0.1 * (in[i - 1] + in[i + 1] + in[i - size] + in[i + size] + in[i - plane] + in[i + plane]);
}
