// The problems of strangers.cu in C++ with OpenMP as a user would write them: what strangers.py compares with.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <vector>

#define PROBLEM extern "C" void
#define PARALLEL _Pragma("omp parallel for")
#define SIMD _Pragma("omp simd")
using F = float* __restrict__;
using C = const float* __restrict__;
using I = int* __restrict__;
using CI = const int* __restrict__;

namespace {
void times_rows(C a, C x, F y, int n) {
  PARALLEL for (int i = 0; i < n; ++i) {
    float sum = 0;
    for (int j = 0; j < n; ++j) sum += a[i * n + j] * x[j];
    y[i] = sum;
  }
}
void times_columns(C a, C x, F y, int n) {
  constexpr int part = 64;
  PARALLEL for (int begin = 0; begin < n; begin += part) {
    const int end = std::min(begin + part, n);
    std::fill(y + begin, y + end, 0.0f);
    for (int i = 0; i < n; ++i)
      for (int j = begin; j < end; ++j) y[j] += a[i * n + j] * x[i];
  }
}
void product(C a, C b, F c, int n) {
  PARALLEL for (int i = 0; i < n; ++i) {
    std::fill(c + i * n, c + i * n + n, 0.0f);
    for (int k = 0; k < n; ++k)
      for (int j = 0; j < n; ++j) c[i * n + j] += a[i * n + k] * b[k * n + j];
  }
}
void symmetric_products(C data, F symmetric, int n) {
  PARALLEL for (int j1 = 0; j1 < n; ++j1) {
    std::fill(symmetric + j1 * n + j1, symmetric + j1 * n + n, 0.0f);
    for (int i = 0; i < n; ++i)
      for (int j2 = j1; j2 < n; ++j2) symmetric[j1 * n + j2] += data[i * n + j1] * data[i * n + j2];
  }
  for (int j1 = 0; j1 < n; ++j1)
    for (int j2 = j1; j2 < n; ++j2) symmetric[j2 * n + j1] = symmetric[j1 * n + j2];
}
void means(C data, F mean, int n) {
  std::fill(mean, mean + n, 0.0f);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) mean[j] += data[i * n + j];
  for (int j = 0; j < n; ++j) mean[j] /= n;
}
}  // namespace

PROBLEM atax(C a, C x, F temporary, F y, int n) { times_rows(a, x, temporary, n), times_columns(a, temporary, y, n); }
PROBLEM bicg(C a, C p, C r, F q, F s, int n) { times_rows(a, p, q, n), times_columns(a, r, s, n); }
PROBLEM gesummv(C a, C b, C x, F y, int n) {
  PARALLEL for (int i = 0; i < n; ++i) {
    float left = 0, right = 0;
    for (int j = 0; j < n; ++j) left += a[i * n + j] * x[j], right += b[i * n + j] * x[j];
    y[i] = 1.5f * left + 1.2f * right;
  }
}
PROBLEM syrk(C a, F c, int n) {
  PARALLEL for (int i = 0; i < n; ++i) for (int j = 0; j < n; ++j) {
    float sum = c[i * n + j] * 1.2f;
    for (int k = 0; k < n; ++k) sum += 1.5f * a[i * n + k] * a[j * n + k];
    c[i * n + j] = sum;
  }
}
PROBLEM syr2k(C a, C b, F c, int n) {
  PARALLEL for (int i = 0; i < n; ++i) for (int j = 0; j < n; ++j) {
    float sum = c[i * n + j] * 1.2f;
    for (int k = 0; k < n; ++k) sum += 1.5f * a[i * n + k] * b[j * n + k] + 1.5f * b[i * n + k] * a[j * n + k];
    c[i * n + j] = sum;
  }
}
PROBLEM covariance(C data, F mean, F centred, F symmetric, int n) {
  means(data, mean, n);
  PARALLEL for (int i = 0; i < n; ++i) for (int j = 0; j < n; ++j) centred[i * n + j] = data[i * n + j] - mean[j];
  symmetric_products(centred, symmetric, n);
}
PROBLEM correlation(C data, F mean, F deviation, F centred, F symmetric, int n) {
  means(data, mean, n);
  std::fill(deviation, deviation + n, 0.0f);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) deviation[j] += (data[i * n + j] - mean[j]) * (data[i * n + j] - mean[j]);
  for (int j = 0; j < n; ++j) {
    deviation[j] = std::sqrt(deviation[j] / n);
    if (deviation[j] <= 0.005f) deviation[j] = 1.0f;
  }
  const float root = std::sqrt(float(n));
  PARALLEL for (int i = 0; i < n; ++i) for (int j = 0; j < n; ++j) centred[i * n + j] =
      (data[i * n + j] - mean[j]) / (root * deviation[j]);
  symmetric_products(centred, symmetric, n);
}
PROBLEM two_products(C a, C b, C c, F temporary, F d, int n) {
  product(a, b, temporary, n), product(temporary, c, d, n);
}
PROBLEM doitgen(C a, C c4, F sum, int n) {
  PARALLEL for (int row = 0; row < n * n; ++row) {
    std::fill(sum + row * n, sum + row * n + n, 0.0f);
    for (int s = 0; s < n; ++s)
      for (int p = 0; p < n; ++p) sum[row * n + p] += a[row * n + s] * c4[s * n + p];
  }
}
PROBLEM jacobi(float* a, float* b, int n) {
  for (int t = 0; t < 10; ++t, std::swap(a, b)) {
    PARALLEL for (int i = 1; i < n - 1; ++i) SIMD for (int j = 1; j < n - 1; ++j) b[i * n + j] =
        0.2f * (a[i * n + j] + a[i * n + j - 1] + a[i * n + j + 1] + a[(i + 1) * n + j] + a[(i - 1) * n + j]);
  }
}
PROBLEM fdtd(F ex, F ey, F hz, int n) {
  for (int t = 0; t < 10; ++t) {
    PARALLEL for (int i = 0; i < n; ++i) {
      for (int j = 0; j < n; ++j)
        ey[i * n + j] = i == 0 ? float(t) : ey[i * n + j] - 0.5f * (hz[i * n + j] - hz[(i - 1) * n + j]);
      for (int j = 1; j < n; ++j) ex[i * n + j] -= 0.5f * (hz[i * n + j] - hz[i * n + j - 1]);
    }
    PARALLEL for (int i = 0; i < n - 1; ++i) for (int j = 0; j < n - 1; ++j) hz[i * n + j] -=
        0.7f * (ex[i * n + j + 1] - ex[i * n + j] + ey[(i + 1) * n + j] - ey[i * n + j]);
  }
}
PROBLEM gramschmidt(F a, F r, F q, int n) {
  std::vector<float> sums(n);
  for (int k = 0; k < n; ++k) {
    float norm = 0;
    for (int i = 0; i < n; ++i) norm += a[i * n + k] * a[i * n + k];
    r[k * n + k] = std::sqrt(norm);
    for (int i = 0; i < n; ++i) q[i * n + k] = a[i * n + k] / r[k * n + k];
    float* row = r + k * n;
    std::fill(row + k + 1, row + n, 0.0f);
    for (int i = 0; i < n; ++i) SIMD for (int j = k + 1; j < n; ++j) row[j] += q[i * n + k] * a[i * n + j];
    PARALLEL for (int i = 0; i < n; ++i) SIMD for (int j = k + 1; j < n; ++j) a[i * n + j] -= q[i * n + k] * row[j];
  }
}
PROBLEM lu(F a, int n) {
  for (int k = 0; k < n; ++k) {
    for (int j = k + 1; j < n; ++j) a[k * n + j] /= a[k * n + k];
    PARALLEL for (int i = k + 1; i < n; ++i) SIMD for (int j = k + 1; j < n; ++j) a[i * n + j] -=
        a[i * n + k] * a[k * n + j];
  }
}
PROBLEM adi(C a, F b, F x, int n) {
  PARALLEL for (int i = 0; i < n; ++i) {
    for (int j = 1; j < n; ++j) {
      x[i * n + j] -= x[i * n + j - 1] * a[i * n + j] / b[i * n + j - 1];
      b[i * n + j] -= a[i * n + j] * a[i * n + j] / b[i * n + j - 1];
    }
    x[i * n + n - 1] /= b[i * n + n - 1];
    for (int j = n - 2; j >= 0; --j) x[i * n + j] = (x[i * n + j] - x[i * n + j + 1] * a[i * n + j + 1]) / b[i * n + j];
  }
}

PROBLEM hotspot(C power, C from, F to, int n) {
  PARALLEL for (int y = 0; y < n; ++y) {
    const float* up = from + std::max(y - 1, 0) * n;
    const float* down = from + std::min(y + 1, n - 1) * n;
    for (int x = 0; x < n; ++x) {
      const float here = from[y * n + x], left = from[y * n + std::max(x - 1, 0)],
                  right = from[y * n + std::min(x + 1, n - 1)];
      to[y * n + x] = here + 0.1f * (power[y * n + x] + (down[x] + up[x] - 2 * here) * 0.3f +
                                     (right + left - 2 * here) * 0.2f + (80.0f - here) * 0.05f);
    }
  }
}
PROBLEM pathfinder(CI wall, int* from, int* to, int n) {
  for (int row = 0; row < 40; ++row, std::swap(from, to)) {
    PARALLEL for (int x = 0; x < n; ++x) {
      int shortest = from[x];
      if (x > 0) shortest = std::min(shortest, from[x - 1]);
      if (x < n - 1) shortest = std::min(shortest, from[x + 1]);
      to[x] = shortest + wall[row * n + x];
    }
  }
}
PROBLEM needleman(CI similarity, I score, int n) {
  const int width = n + 1, tiles = n / 16;
  for (int diagonal = 0; diagonal < 2 * tiles - 1; ++diagonal) {
    PARALLEL for (int by = std::max(0, diagonal - tiles + 1); by <= std::min(diagonal, tiles - 1); ++by) {
      const int bx = diagonal - by;
      for (int y = by * 16 + 1; y <= by * 16 + 16; ++y)
        for (int x = bx * 16 + 1; x <= bx * 16 + 16; ++x)
          score[y * width + x] = std::max(score[(y - 1) * width + x - 1] + similarity[(y - 1) * n + x - 1],
                                          std::max(score[y * width + x - 1], score[(y - 1) * width + x]) - 10);
    }
  }
}
PROBLEM lavamd(C at, C charge, F force, int boxes) {
  PARALLEL for (int i = 0; i < boxes * 128; ++i) {
    float x = 0, y = 0, z = 0, w = 0;
    const C here = at + 4 * i;
    for (int k = -2; k <= 2; ++k) {
      const int begin = (i / 128 + k + boxes) % boxes * 128;
      for (int j = begin; j < begin + 128; ++j) {
        const C other = at + 4 * j;
        const float r2 = here[3] + other[3] - (here[0] * other[0] + here[1] * other[1] + here[2] * other[2]);
        const float v = std::exp(-0.5f * r2), f = 2 * v * charge[j];
        w += charge[j] * v, x += f * (here[0] - other[0]), y += f * (here[1] - other[1]), z += f * (here[2] - other[2]);
      }
    }
    force[4 * i] = x, force[4 * i + 1] = y, force[4 * i + 2] = z, force[4 * i + 3] = w;
  }
}
PROBLEM kmeans(C features, C clusters, I member, int n) {
  PARALLEL for (int i = 0; i < n; ++i) {
    float least = 3e38f;
    for (int c = 0; c < 8; ++c) {
      float distance = 0;
      for (int f = 0; f < 16; ++f) {
        const float d = features[f * n + i] - clusters[c * 16 + f];
        distance += d * d;
      }
      if (distance < least) least = distance, member[i] = c;
    }
  }
}
PROBLEM bfs(CI starts, CI edges, int* cost, int n) {
  for (int level = 0; level < 8; ++level) {
    PARALLEL for (int i = 0; i < n; ++i) {
      if (cost[i] != level) continue;
      for (int e = starts[i]; e < starts[i + 1]; ++e)
        if (cost[edges[e]] < 0) cost[edges[e]] = level + 1;
    }
  }
}
PROBLEM srad(C image, F c, int n) {
  const float q0 = 0.05f;
  PARALLEL for (int y = 0; y < n; ++y) for (int x = 0; x < n; ++x) {
    const float here = image[y * n + x];
    const float up = image[std::max(y - 1, 0) * n + x] - here, down = image[std::min(y + 1, n - 1) * n + x] - here;
    const float left = image[y * n + std::max(x - 1, 0)] - here, right = image[y * n + std::min(x + 1, n - 1)] - here;
    const float g2 = (up * up + down * down + left * left + right * right) / (here * here);
    const float l = (up + down + left + right) / here, d = 1 + 0.25f * l;
    const float q = (0.5f * g2 - (1.0f / 16) * l * l) / (d * d);
    c[y * n + x] = std::min(std::max(1.0f / (1.0f + (q - q0) / (q0 * (1 + q0))), 0.0f), 1.0f);
  }
}
PROBLEM backprop(C input, C weights, F partial, int n) {
  PARALLEL for (int block = 0; block < n / 16; ++block) {
    float sums[16] = {};
    for (int row = block * 16; row < block * 16 + 16; ++row)
      for (int x = 0; x < 16; ++x) sums[x] += weights[row * 16 + x] * input[row];
    for (int x = 0; x < 16; ++x) partial[block * 16 + x] = sums[x];
  }
}

PROBLEM softmax(C in, F out, int rows, int n) {
  PARALLEL for (int r = 0; r < rows; ++r) {
    const C row = in + r * n;
    float most = -3e38f, sum = 0;
    for (int i = 0; i < n; ++i) most = std::max(most, row[i]);
    for (int i = 0; i < n; ++i) sum += out[r * n + i] = std::exp(row[i] - most);
    for (int i = 0; i < n; ++i) out[r * n + i] /= sum;
  }
}
PROBLEM layernorm(C in, C gain, C bias, F out, int rows, int n) {
  PARALLEL for (int r = 0; r < rows; ++r) {
    const C row = in + r * n;
    float sum = 0, squares = 0;
    for (int i = 0; i < n; ++i) sum += row[i];
    const float mean = sum / n;
    for (int i = 0; i < n; ++i) squares += (row[i] - mean) * (row[i] - mean);
    const float scale = 1 / std::sqrt(squares / n + 1e-5f);
    for (int i = 0; i < n; ++i) out[r * n + i] = (row[i] - mean) * scale * gain[i] + bias[i];
  }
}
PROBLEM bias_gelu(C in, C bias, F out, int rows, int columns) {
  PARALLEL for (int r = 0; r < rows; ++r) for (int j = 0; j < columns; ++j) {
    const float x = in[r * columns + j] + bias[j];
    out[r * columns + j] = 0.5f * x * (1 + std::tanh(0.7978845608f * (x + 0.044715f * x * x * x)));
  }
}
PROBLEM attention(C q, C k, C v, F out, int rows, int n) {
  PARALLEL for (int r = 0; r < rows; ++r) {
    float scores[1024], most = -3e38f, sum = 0, totals[64] = {};
    for (int j = 0; j < n; ++j) {
      float dot = 0;
      for (int d = 0; d < 64; ++d) dot += q[r * 64 + d] * k[j * 64 + d];
      scores[j] = dot * 0.125f;
      most = std::max(most, scores[j]);
    }
    for (int j = 0; j < n; ++j) sum += scores[j] = std::exp(scores[j] - most);
    for (int j = 0; j < n; ++j)
      for (int d = 0; d < 64; ++d) totals[d] += scores[j] * v[j * 64 + d];
    for (int d = 0; d < 64; ++d) out[r * 64 + d] = totals[d] / sum;
  }
}
PROBLEM embedding(const std::int64_t* tokens, C table, F out, int rows, int width) {
  PARALLEL for (int r = 0; r < rows; ++r) std::copy_n(table + tokens[r] * width, width, out + std::int64_t(r) * width);
}
PROBLEM cross_entropy(C in, CI target, F loss, int rows, int n) {
  PARALLEL for (int r = 0; r < rows; ++r) {
    const C row = in + r * n;
    float most = -3e38f, sum = 0;
    for (int i = 0; i < n; ++i) most = std::max(most, row[i]);
    for (int i = 0; i < n; ++i) sum += std::exp(row[i] - most);
    loss[r] = std::log(sum) + most - row[target[r]];
  }
}
PROBLEM adam(F weight, C gradient, F m, F v, int n) {
  PARALLEL for (int i = 0; i < n; ++i) {
    const float g = gradient[i];
    m[i] = 0.9f * m[i] + 0.1f * g;
    v[i] = 0.999f * v[i] + 0.001f * g * g;
    weight[i] -= 0.001f * (m[i] / 0.1f) / (std::sqrt(v[i] / 0.001f) + 1e-8f);
  }
}

PROBLEM block_scan(CI in, I out, int n) {
  PARALLEL for (int begin = 0; begin < n; begin += 512) for (int i = begin, sum = 0; i < begin + 512; ++i) out[i] =
      sum += in[i];
}
PROBLEM block_reduce(C in, F out, int n) {
  PARALLEL for (int block = 0; block < n / 256; ++block) {
    float sum = 0;
    for (int i = block * 256; i < block * 256 + 256; ++i) sum += in[i];
    out[block] = sum;
  }
}
PROBLEM block_reduce_int(CI in, I out, int n) {
  PARALLEL for (int block = 0; block < n / 256; ++block) {
    int sum = 0;
    for (int i = block * 256; i < block * 256 + 256; ++i) sum += in[i];
    out[block] = sum;
  }
}
PROBLEM block_sort(CI in, I out, int n) {
  PARALLEL for (int begin = 0; begin < n; begin += 512) {
    std::copy_n(in + begin, 512, out + begin);
    std::sort(out + begin, out + begin + 512);
  }
}
PROBLEM histogram(const unsigned char* in, I bins, int n) {
#pragma omp parallel
  {
    int own[256] = {};
#pragma omp for
    for (int i = 0; i < n; ++i) ++own[in[i]];
#pragma omp critical
    for (int k = 0; k < 256; ++k) bins[k] += own[k];
  }
}
PROBLEM compact(CI in, I out, I count, int n) {
  int kept = 0;  // one thread: what std::copy_if would do
  for (int i = 0; i < n; ++i)
    if (in[i] > 0) out[kept++] = in[i];
  *count = kept;
}
PROBLEM match_count(CI in, I bins, int n) {
  for (int i = 0; i < n; ++i) ++bins[in[i]];
}
PROBLEM transpose(C in, F out, int n) {
  PARALLEL for (int y = 0; y < n; y += 16) for (int x = 0; x < n; x += 16) for (int i = x; i < x + 16;
                                                                                ++i) for (int j = y; j < y + 16; ++j)
      out[i * n + j] = in[j * n + i];
}

PROBLEM saxpy(C x, F y, int n) { PARALLEL for (int i = 0; i < n; ++i) y[i] = 2.5f * x[i] + y[i]; }
PROBLEM stencil(C in, F out, int n) {
  PARALLEL for (int i = 2; i < n - 2; ++i) out[i] =
      0.1f * in[i - 2] + 0.2f * in[i - 1] + 0.4f * in[i] + 0.2f * in[i + 1] + 0.1f * in[i + 2];
}
PROBLEM strided_copy(C in, F out, int n, int stride) { PARALLEL for (int i = 0; i < n; ++i) out[i] = in[i * stride]; }
PROBLEM gather(C in, CI index, F out, int n) { PARALLEL for (int i = 0; i < n; ++i) out[i] = in[index[i]]; }
PROBLEM scatter(C in, CI index, F out, int n) { PARALLEL for (int i = 0; i < n; ++i) out[index[i]] = in[i]; }
PROBLEM broadcast_add(C a, C b, F out, int rows, int columns) {
  PARALLEL for (int r = 0; r < rows; ++r) for (int j = 0; j < columns; ++j) out[r * columns + j] = a[r] + b[j];
}
