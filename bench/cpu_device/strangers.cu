// Kernels as strangers write them, after the kinds of public benchmarks (PolyBench, Rodinia, operators of machine
// learning, primitives of CUB, small ones), for strangers.py; strangers.cpp has the same problems in C++.
#include <cub/block/block_radix_sort.cuh>
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>

#define KERNEL extern "C" __global__ void
#define AT (blockIdx.x * blockDim.x + threadIdx.x)
#define AT_Y (blockIdx.y * blockDim.y + threadIdx.y)

// PolyBench: a thread a row or a column or an element, rows of matrices in order.
KERNEL row_dot(const float* a, const float* x, float* y, int n) {
  int i = AT;
  if (i >= n) return;
  y[i] = 0;
  for (int j = 0; j < n; ++j) y[i] += a[i * n + j] * x[j];
}
KERNEL column_dot(const float* a, const float* x, float* y, int n) {
  int j = AT;
  if (j >= n) return;
  y[j] = 0;
  for (int i = 0; i < n; ++i) y[j] += a[i * n + j] * x[i];
}
KERNEL gesummv_k(const float* a, const float* b, const float* x, float* y, int n) {
  int i = AT;
  if (i >= n) return;
  float left = 0, right = 0;
  for (int j = 0; j < n; ++j) {
    left += a[i * n + j] * x[j];
    right += b[i * n + j] * x[j];
  }
  y[i] = 1.5f * left + 1.2f * right;
}
KERNEL syrk_k(const float* a, float* c, int n) {
  int j = AT, i = AT_Y;
  if (i >= n || j >= n) return;
  c[i * n + j] *= 1.2f;
  for (int k = 0; k < n; ++k) c[i * n + j] += 1.5f * a[i * n + k] * a[j * n + k];
}
KERNEL syr2k_k(const float* a, const float* b, float* c, int n) {
  int j = AT, i = AT_Y;
  if (i >= n || j >= n) return;
  c[i * n + j] *= 1.2f;
  for (int k = 0; k < n; ++k) c[i * n + j] += 1.5f * a[i * n + k] * b[j * n + k] + 1.5f * b[i * n + k] * a[j * n + k];
}
KERNEL mean_k(const float* data, float* mean, int n) {
  int j = AT;
  if (j >= n) return;
  mean[j] = 0;
  for (int i = 0; i < n; ++i) mean[j] += data[i * n + j];
  mean[j] /= n;
}
KERNEL deviation_k(const float* data, const float* mean, float* deviation, int n) {
  int j = AT;
  if (j >= n) return;
  float sum = 0;
  for (int i = 0; i < n; ++i) sum += (data[i * n + j] - mean[j]) * (data[i * n + j] - mean[j]);
  sum = sqrtf(sum / n);
  deviation[j] = sum <= 0.005f ? 1.0f : sum;
}
KERNEL centre_k(const float* data, const float* mean, const float* deviation, float* centred, int n) {
  int j = AT, i = AT_Y;
  if (i < n && j < n)
    centred[i * n + j] = (data[i * n + j] - mean[j]) / (deviation ? sqrtf(float(n)) * deviation[j] : 1.0f);
}
KERNEL products_k(const float* data, float* symmetric, int n) {
  int j1 = AT;
  if (j1 >= n) return;
  for (int j2 = j1; j2 < n; ++j2) {
    float sum = 0;
    for (int i = 0; i < n; ++i) sum += data[i * n + j1] * data[i * n + j2];
    symmetric[j1 * n + j2] = sum;
    symmetric[j2 * n + j1] = sum;
  }
}
KERNEL product_k(const float* a, const float* b, float* c, int n) {
  int j = AT, i = AT_Y;
  if (i >= n || j >= n) return;
  c[i * n + j] = 0;
  for (int k = 0; k < n; ++k) c[i * n + j] += a[i * n + k] * b[k * n + j];
}
KERNEL doitgen_k(const float* a, const float* c4, float* sum, int n, int r) {
  int p = AT, q = AT_Y;
  if (p >= n || q >= n) return;
  float total = 0;
  for (int s = 0; s < n; ++s) total += a[(r * n + q) * n + s] * c4[s * n + p];
  sum[(r * n + q) * n + p] = total;
}
KERNEL jacobi_k(const float* a, float* b, int n) {
  int j = AT, i = AT_Y;
  if (i >= 1 && i < n - 1 && j >= 1 && j < n - 1)
    b[i * n + j] =
        0.2f * (a[i * n + j] + a[i * n + j - 1] + a[i * n + j + 1] + a[(i + 1) * n + j] + a[(i - 1) * n + j]);
}
KERNEL fdtd_e_k(float* ex, float* ey, const float* hz, int n, int t) {
  int j = AT, i = AT_Y;
  if (i >= n || j >= n) return;
  ey[i * n + j] = i == 0 ? float(t) : ey[i * n + j] - 0.5f * (hz[i * n + j] - hz[(i - 1) * n + j]);
  if (j > 0) ex[i * n + j] -= 0.5f * (hz[i * n + j] - hz[i * n + j - 1]);
}
KERNEL fdtd_h_k(const float* ex, const float* ey, float* hz, int n) {
  int j = AT, i = AT_Y;
  if (i < n - 1 && j < n - 1)
    hz[i * n + j] -= 0.7f * (ex[i * n + j + 1] - ex[i * n + j] + ey[(i + 1) * n + j] - ey[i * n + j]);
}
KERNEL gram_norm_k(float* a, float* r, float* q, int n, int k) {
  if (AT != 0) return;
  float sum = 0;
  for (int i = 0; i < n; ++i) sum += a[i * n + k] * a[i * n + k];
  r[k * n + k] = sqrtf(sum);
}
KERNEL gram_column_k(float* a, float* r, float* q, int n, int k) {
  int i = AT;
  if (i < n) q[i * n + k] = a[i * n + k] / r[k * n + k];
}
KERNEL gram_rest_k(float* a, float* r, float* q, int n, int k) {
  int j = AT;
  if (j <= k || j >= n) return;
  float sum = 0;
  for (int i = 0; i < n; ++i) sum += q[i * n + k] * a[i * n + j];
  r[k * n + j] = sum;
  for (int i = 0; i < n; ++i) a[i * n + j] -= q[i * n + k] * sum;
}
KERNEL lu_row_k(float* a, int n, int k) {
  int j = AT;
  if (j > k && j < n) a[k * n + j] /= a[k * n + k];
}
KERNEL lu_rest_k(float* a, int n, int k) {
  int j = AT, i = AT_Y;
  if (i > k && j > k && i < n && j < n) a[i * n + j] -= a[i * n + k] * a[k * n + j];
}
KERNEL adi_rows_k(const float* a, float* b, float* x, int n) {
  int i = AT;
  if (i >= n) return;
  for (int j = 1; j < n; ++j) {
    x[i * n + j] -= x[i * n + j - 1] * a[i * n + j] / b[i * n + j - 1];
    b[i * n + j] -= a[i * n + j] * a[i * n + j] / b[i * n + j - 1];
  }
  x[i * n + n - 1] /= b[i * n + n - 1];
  for (int j = n - 2; j >= 0; --j) x[i * n + j] = (x[i * n + j] - x[i * n + j + 1] * a[i * n + j + 1]) / b[i * n + j];
}

// Rodinia.
KERNEL hotspot_k(const float* power, const float* from, float* to, int n) {
  __shared__ float tile[16][16];
  int x = blockIdx.x * 14 + threadIdx.x - 1, y = blockIdx.y * 14 + threadIdx.y - 1;
  int cx = min(max(x, 0), n - 1), cy = min(max(y, 0), n - 1);
  tile[threadIdx.y][threadIdx.x] = from[cy * n + cx];
  __syncthreads();
  int tx = threadIdx.x, ty = threadIdx.y;
  if (tx < 1 || tx > 14 || ty < 1 || ty > 14 || x >= n || y >= n) return;
  float here = tile[ty][tx];
  to[y * n + x] = here + 0.1f * (power[y * n + x] + (tile[ty + 1][tx] + tile[ty - 1][tx] - 2 * here) * 0.3f +
                                 (tile[ty][tx + 1] + tile[ty][tx - 1] - 2 * here) * 0.2f + (80.0f - here) * 0.05f);
}
KERNEL pathfinder_k(const int* wall, const int* from, int* to, int n, int row, int steps) {
  __shared__ int before[256], result[256];
  int tx = threadIdx.x, x = int(blockIdx.x) * (256 - 2 * steps) + tx - steps;
  bool inside = x >= 0 && x < n;
  before[tx] = inside ? from[x] : 1 << 30;
  __syncthreads();
  bool computed = false;
  for (int i = 0; i < steps; ++i) {
    computed = false;
    if (tx >= i + 1 && tx <= 254 - i && inside) {
      computed = true;
      int shortest = min(min(before[tx - 1], before[tx]), before[tx + 1]);
      result[tx] = shortest + wall[(row + i) * n + x];
    }
    __syncthreads();
    if (computed) before[tx] = result[tx];
    __syncthreads();
  }
  if (computed) to[x] = before[tx];
}
KERNEL nw_k(const int* similarity, int* score, int n, int diagonal, int first) {
  __shared__ int tile[17][17];
  int tx = threadIdx.x, by = first + blockIdx.x, bx = diagonal - by, width = n + 1;
  int base = by * 16 * width + bx * 16;
  tile[tx + 1][0] = score[base + (tx + 1) * width];
  tile[0][tx + 1] = score[base + tx + 1];
  if (tx == 0) tile[0][0] = score[base];
  __syncthreads();
  for (int m = 0; m < 31; ++m) {
    int x = tx + 1, y = m - tx + 1;
    if (y >= 1 && y <= 16)
      tile[y][x] = max(tile[y - 1][x - 1] + similarity[(by * 16 + y - 1) * n + bx * 16 + x - 1],
                       max(tile[y][x - 1], tile[y - 1][x]) - 10);
    __syncthreads();
  }
  for (int y = 1; y <= 16; ++y) score[base + y * width + tx + 1] = tile[y][tx + 1];
}
KERNEL lavamd_k(const float4* at, const float* charge, float4* force, int boxes) {
  __shared__ float4 other[128];
  __shared__ float other_charge[128];
  int box = blockIdx.x, tx = threadIdx.x;
  float4 here = at[box * 128 + tx], sum = {0, 0, 0, 0};
  for (int k = -2; k <= 2; ++k) {
    int neighbour = (box + k + boxes) % boxes;
    __syncthreads();
    other[tx] = at[neighbour * 128 + tx];
    other_charge[tx] = charge[neighbour * 128 + tx];
    __syncthreads();
    for (int j = 0; j < 128; ++j) {
      float r2 = here.w + other[j].w - (here.x * other[j].x + here.y * other[j].y + here.z * other[j].z);
      float v = expf(-0.5f * r2), f = 2 * v;
      sum.w += other_charge[j] * v;
      sum.x += other_charge[j] * f * (here.x - other[j].x);
      sum.y += other_charge[j] * f * (here.y - other[j].y);
      sum.z += other_charge[j] * f * (here.z - other[j].z);
    }
  }
  force[box * 128 + tx] = sum;
}
KERNEL kmeans_k(const float* features, const float* clusters, int* member, int n, int of_features, int of_clusters) {
  int i = AT;
  if (i >= n) return;
  int best = -1;
  float least = 3e38f;
  for (int c = 0; c < of_clusters; ++c) {
    float distance = 0;
    for (int f = 0; f < of_features; ++f) {
      float d = features[f * n + i] - clusters[c * of_features + f];
      distance += d * d;
    }
    if (distance < least) least = distance, best = c;
  }
  member[i] = best;
}
KERNEL bfs_k(const int* starts, const int* edges, int* cost, int n, int level) {
  int i = AT;
  if (i >= n || cost[i] != level) return;
  for (int e = starts[i]; e < starts[i + 1]; ++e)
    if (cost[edges[e]] < 0) cost[edges[e]] = level + 1;
}
KERNEL srad_k(const float* image, float* c, int n, float q0) {
  int x = AT, y = AT_Y;
  if (x >= n || y >= n) return;
  float here = image[y * n + x];
  float up = image[max(y - 1, 0) * n + x] - here, down = image[min(y + 1, n - 1) * n + x] - here;
  float left = image[y * n + max(x - 1, 0)] - here, right = image[y * n + min(x + 1, n - 1)] - here;
  float g2 = (up * up + down * down + left * left + right * right) / (here * here);
  float l = (up + down + left + right) / here, d = 1 + 0.25f * l;
  float q = (0.5f * g2 - (1.0f / 16) * l * l) / (d * d);
  float result = 1.0f / (1.0f + (q - q0) / (q0 * (1 + q0)));
  c[y * n + x] = result < 0 ? 0 : result > 1 ? 1 : result;
}
KERNEL backprop_k(const float* input, const float* weights, float* partial, int hidden) {
  __shared__ float node[16], matrix[16][16];
  int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.x * 16 + ty;
  if (tx == 0) node[ty] = input[row];
  __syncthreads();
  matrix[ty][tx] = weights[row * hidden + tx] * node[ty];
  __syncthreads();
  for (int i = 1; i <= 4; ++i) {
    int power = 1 << i;
    if (ty % power == 0) matrix[ty][tx] += matrix[ty + power / 2][tx];
    __syncthreads();
  }
  if (ty == 0) partial[blockIdx.x * hidden + tx] = matrix[0][tx];
}

// Machine learning: a block a row.
template <typename F>
__device__ float over_block(float value, F f) {
  __shared__ float of_warps[32];
  for (int k = 16; k > 0; k >>= 1) value = f(value, __shfl_xor_sync(~0u, value, k));
  __syncthreads();
  if (threadIdx.x % 32 == 0) of_warps[threadIdx.x / 32] = value;
  __syncthreads();
  value = of_warps[threadIdx.x % 32 % (blockDim.x / 32)];
  for (int k = blockDim.x / 64; k > 0; k >>= 1) value = f(value, __shfl_xor_sync(~0u, value, k));
  return value;
}
struct Add {
  __device__ float operator()(float a, float b) const { return a + b; }
};
struct Most {
  __device__ float operator()(float a, float b) const { return fmaxf(a, b); }
};
KERNEL softmax_k(const float* in, float* out, int n) {
  const float* row = in + size_t(blockIdx.x) * n;
  float most = -3e38f, sum = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x) most = fmaxf(most, row[i]);
  most = over_block(most, Most());
  for (int i = threadIdx.x; i < n; i += blockDim.x) sum += expf(row[i] - most);
  sum = over_block(sum, Add());
  for (int i = threadIdx.x; i < n; i += blockDim.x) out[size_t(blockIdx.x) * n + i] = expf(row[i] - most) / sum;
}
KERNEL layernorm_k(const float* in, const float* gain, const float* bias, float* out, int n) {
  const float* row = in + size_t(blockIdx.x) * n;
  float sum = 0, squares = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x) sum += row[i];
  float mean = over_block(sum, Add()) / n;
  for (int i = threadIdx.x; i < n; i += blockDim.x) squares += (row[i] - mean) * (row[i] - mean);
  float scale = rsqrtf(over_block(squares, Add()) / n + 1e-5f);
  for (int i = threadIdx.x; i < n; i += blockDim.x)
    out[size_t(blockIdx.x) * n + i] = (row[i] - mean) * scale * gain[i] + bias[i];
}
KERNEL bias_gelu_k(const float* in, const float* bias, float* out, int n, int columns) {
  for (int i = AT; i < n; i += gridDim.x * blockDim.x) {
    float x = in[i] + bias[i % columns];
    out[i] = 0.5f * x * (1 + tanhf(0.7978845608f * (x + 0.044715f * x * x * x)));
  }
}
KERNEL attention_k(const float* q, const float* k, const float* v, float* out, int n) {
  __shared__ float scores[1024], query[64];
  int row = blockIdx.x, tx = threadIdx.x;
  if (tx < 64) query[tx] = q[row * 64 + tx];
  __syncthreads();
  float most = -3e38f, sum = 0;
  for (int j = tx; j < n; j += blockDim.x) {
    float dot = 0;
    for (int d = 0; d < 64; ++d) dot += query[d] * k[j * 64 + d];
    scores[j] = dot * 0.125f;
    most = fmaxf(most, scores[j]);
  }
  most = over_block(most, Most());
  for (int j = tx; j < n; j += blockDim.x) sum += scores[j] = expf(scores[j] - most);
  sum = over_block(sum, Add());
  __syncthreads();
  if (tx >= 64) return;
  float total = 0;
  for (int j = 0; j < n; ++j) total += scores[j] * v[j * 64 + tx];
  out[row * 64 + tx] = total / sum;
}
KERNEL embedding_k(const long long* tokens, const float* table, float* out, long long n, int width) {
  for (long long i = AT; i < n; i += (long long)gridDim.x * blockDim.x)
    out[i] = table[tokens[i / width] * width + i % width];
}
KERNEL cross_entropy_k(const float* in, const int* target, float* loss, int n) {
  const float* row = in + size_t(blockIdx.x) * n;
  float most = -3e38f, sum = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x) most = fmaxf(most, row[i]);
  most = over_block(most, Most());
  for (int i = threadIdx.x; i < n; i += blockDim.x) sum += expf(row[i] - most);
  sum = over_block(sum, Add());
  if (threadIdx.x == 0) loss[blockIdx.x] = logf(sum) + most - row[target[blockIdx.x]];
}
KERNEL adam_k(float* weight, const float* gradient, float* m, float* v, int n) {
  int i = AT;
  if (i >= n) return;
  float g = gradient[i];
  m[i] = 0.9f * m[i] + 0.1f * g;
  v[i] = 0.999f * v[i] + 0.001f * g * g;
  weight[i] -= 0.001f * (m[i] / 0.1f) / (sqrtf(v[i] / 0.001f) + 1e-8f);
}

// Primitives.
KERNEL block_scan_k(const int* in, int* out) {
  using Scan = cub::BlockScan<int, 128>;
  __shared__ typename Scan::TempStorage storage;
  int items[4], at = (blockIdx.x * 128 + threadIdx.x) * 4;
  for (int k = 0; k < 4; ++k) items[k] = in[at + k];
  Scan(storage).InclusiveSum(items, items);
  for (int k = 0; k < 4; ++k) out[at + k] = items[k];
}
KERNEL block_reduce_k(const float* in, float* out) {
  using Reduce = cub::BlockReduce<float, 256>;
  __shared__ typename Reduce::TempStorage storage;
  float sum = Reduce(storage).Sum(in[AT]);
  if (threadIdx.x == 0) out[blockIdx.x] = sum;
}
KERNEL block_reduce_int_k(const int* in, int* out) {
  using Reduce = cub::BlockReduce<int, 256>;
  __shared__ typename Reduce::TempStorage storage;
  int sum = Reduce(storage).Sum(in[AT]);
  if (threadIdx.x == 0) out[blockIdx.x] = sum;
}
KERNEL block_sort_k(const int* in, int* out) {
  using Sort = cub::BlockRadixSort<int, 128, 4>;
  __shared__ typename Sort::TempStorage storage;
  int items[4], at = (blockIdx.x * 128 + threadIdx.x) * 4;
  for (int k = 0; k < 4; ++k) items[k] = in[at + k];
  Sort(storage).Sort(items);
  for (int k = 0; k < 4; ++k) out[at + k] = items[k];
}
KERNEL histogram_k(const unsigned char* in, unsigned* bins, int n) {
  __shared__ unsigned own[256];
  own[threadIdx.x] = 0;
  __syncthreads();
  for (int i = AT; i < n; i += gridDim.x * blockDim.x) atomicAdd(&own[in[i]], 1u);
  __syncthreads();
  atomicAdd(&bins[threadIdx.x], own[threadIdx.x]);
}
KERNEL clear_k(int* count) { *count = 0; }
KERNEL compact_k(const int* in, int* out, int* count, int n) {
  int i = AT, lane = threadIdx.x % 32;
  bool keeps = i < n && in[i] > 0;
  unsigned votes = __ballot_sync(~0u, keeps);
  int base = 0;
  if (lane == 0 && votes) base = atomicAdd(count, __popc(votes));
  base = __shfl_sync(~0u, base, 0);
  if (keeps) out[base + __popc(votes & ((1u << lane) - 1))] = in[i];
}
KERNEL match_count_k(const int* in, int* bins, int n) {
  int i = AT;
  if (i >= n) return;
  unsigned same = __match_any_sync(__activemask(), in[i]);
  if (threadIdx.x % 32 == __ffs(same) - 1) atomicAdd(&bins[in[i]], __popc(same));
}
KERNEL transpose_k(const float* in, float* out, int n) {
  __shared__ float tile[32][33];
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  for (int k = 0; k < 32; k += 8) tile[threadIdx.y + k][threadIdx.x] = in[(y + k) * n + x];
  __syncthreads();
  x = blockIdx.y * 32 + threadIdx.x, y = blockIdx.x * 32 + threadIdx.y;
  for (int k = 0; k < 32; k += 8) out[(y + k) * n + x] = tile[threadIdx.x][threadIdx.y + k];
}

// Small.
KERNEL saxpy_k(const float* x, float* y, int n) {
  int i = AT;
  if (i < n) y[i] = 2.5f * x[i] + y[i];
}
KERNEL stencil_k(const float* in, float* out, int n) {
  int i = AT;
  if (i < 2 || i >= n - 2) return;
  out[i] = 0.1f * in[i - 2] + 0.2f * in[i - 1] + 0.4f * in[i] + 0.2f * in[i + 1] + 0.1f * in[i + 2];
}
KERNEL strided_copy_k(const float* in, float* out, int n, int stride) {
  int i = AT;
  if (i < n) out[i] = in[i * stride];
}
KERNEL gather_k(const float* in, const int* index, float* out, int n) {
  int i = AT;
  if (i < n) out[i] = in[index[i]];
}
KERNEL scatter_k(const float* in, const int* index, float* out, int n) {
  int i = AT;
  if (i < n) out[index[i]] = in[i];
}
KERNEL broadcast_add_k(const float* a, const float* b, float* out, long long n, long long columns) {
  long long i = AT;
  if (i < n) out[i] = a[i / columns] + b[i % columns];
}
