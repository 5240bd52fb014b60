// The problems of kernels.cu in straightforward C++, each parallel over CUCORE_BENCH_THREADS threads: what the CPU
// device is compared with. Built with -O3 -march=native.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <thread>
#include <vector>

namespace {

using u8 = std::uint8_t;
using u32 = std::uint32_t;

int thread_count() {
  static const int count = [] {
    const char* text = std::getenv("CUCORE_BENCH_THREADS");
    return text != nullptr ? std::atoi(text) : static_cast<int>(std::thread::hardware_concurrency());
  }();
  return count;
}

/// body(begin, end, thread) for equal parts of [0, n).
template <typename Body>
void parallel(int n, const Body& body) {
  const int threads = thread_count();
  auto part = [&](int t) {
    const auto at = [&](int k) { return static_cast<int>(std::int64_t{n} * k / threads); };
    body(at(t), at(t + 1), t);
  };
  std::vector<std::thread> others;
  for (int t = 1; t < threads; ++t) others.emplace_back(part, t);
  part(0);
  for (std::thread& other : others) other.join();
}

struct Float2 {
  float x, y;
};
struct Float4 {
  float x, y, z, w;
};

float normal_distribution(float d) {
  const float k = 1.0f / (1.0f + 0.2316419f * std::fabs(d));
  const float tail =
      0.39894228f * std::exp(-0.5f * d * d) *
      (k * (0.31938153f + k * (-0.356563782f + k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f)))));
  return d > 0.0f ? 1.0f - tail : tail;
}

u32 next_random(u32& state) {
  state ^= state << 13;
  state ^= state >> 17;
  state ^= state << 5;
  return state;
}

}  // namespace

extern "C" {

void saxpy(float* y, const float* x, float a, int n) {
  parallel(n, [=](int begin, int end, int) {
    for (int i = begin; i < end; ++i) y[i] = a * x[i] + y[i];
  });
}

void stencil(float* out, const float* in, int width, int height) {
  parallel(height - 2, [=](int begin, int end, int) {
    for (int y = begin + 1; y < end + 1; ++y) {
      for (int x = 1; x < width - 1; ++x) {
        const int i = y * width + x;
        out[i] = 0.5f * in[i] + 0.125f * (in[i - 1] + in[i + 1] + in[i - width] + in[i + width]);
      }
    }
  });
}

void transpose(float* out, const float* in, int size) {
  parallel(size / 32, [=](int begin, int end, int) {
    for (int row = begin * 32; row < end * 32; row += 32) {
      for (int column = 0; column < size; column += 32) {
        for (int y = row; y < row + 32; ++y) {
          for (int x = column; x < column + 32; ++x) out[x * size + y] = in[y * size + x];
        }
      }
    }
  });
}

void convolution(float* out, const float* in, const float* filter, int width, int height) {
  parallel(height - 6, [=](int begin, int end, int) {
    for (int y = begin; y < end; ++y) {
      for (int x = 0; x < width - 6; ++x) {
        float sum = 0.0f;
        for (int j = 0; j < 7; ++j) {
          for (int i = 0; i < 7; ++i) sum += filter[j * 7 + i] * in[(y + j) * width + x + i];
        }
        out[y * width + x] = sum;
      }
    }
  });
}

void threshold(u8* out, const u8* in, int n, int limit) {
  parallel(n, [=](int begin, int end, int) {
    for (int i = begin; i < end; ++i) {
      const int grey = (77 * in[3 * i] + 150 * in[3 * i + 1] + 29 * in[3 * i + 2]) >> 8;
      out[i] = grey > limit ? 255 : 0;
    }
  });
}

void sum(float* total, const float* in, int n) {
  std::vector<double> parts(static_cast<std::size_t>(thread_count()));
  parallel(n, [&](int begin, int end, int thread) {
    float lanes[16] = {};  // as the compiler may not reorder a sum by itself
    int i = begin;
    for (; i + 16 <= end; i += 16) {
      for (int k = 0; k < 16; ++k) lanes[k] += in[i + k];
    }
    float sum = 0.0f;
    for (; i < end; ++i) sum += in[i];
    for (const float lane : lanes) sum += lane;
    parts[static_cast<std::size_t>(thread)] = sum;
  });
  *total = 0.0f;
  for (const double part : parts) *total += static_cast<float>(part);
}

void block_sums(float* sums, const float* in, int blocks) {
  parallel(blocks, [=](int begin, int end, int) {
    for (int block = begin; block < end; ++block) {
      float lanes[16] = {};
      for (int i = 0; i < 512; i += 16) {
        for (int k = 0; k < 16; ++k) lanes[k] += in[block * 512 + i + k];
      }
      float sum = 0.0f;
      for (const float lane : lanes) sum += lane;
      sums[block] = sum;
    }
  });
}

void scan(u32* out, const u32* in, int n) {
  std::vector<u32> totals(static_cast<std::size_t>(thread_count()) + 1);
  parallel(n, [&](int begin, int end, int thread) {
    u32 sum = 0;
    for (int i = begin; i < end; ++i) sum += in[i];
    totals[static_cast<std::size_t>(thread) + 1] = sum;
  });
  for (std::size_t t = 1; t < totals.size(); ++t) totals[t] += totals[t - 1];
  parallel(n, [&](int begin, int end, int thread) {
    u32 sum = totals[static_cast<std::size_t>(thread)];
    for (int i = begin; i < end; ++i) out[i] = sum += in[i];
  });
}

void softmax(float* out, const float* in, int rows, int columns) {
  parallel(rows, [=](int begin, int end, int) {
    for (int row = begin; row < end; ++row) {
      const float* from = in + row * columns;
      float highest = from[0];
      for (int i = 1; i < columns; ++i) highest = std::max(highest, from[i]);
      float sum = 0.0f;
      for (int i = 0; i < columns; ++i) {
        out[row * columns + i] = std::exp(from[i] - highest);
        sum += out[row * columns + i];
      }
      for (int i = 0; i < columns; ++i) out[row * columns + i] /= sum;
    }
  });
}

void histogram(u32* bins, const u8* in, int n) {
  std::vector<std::vector<u32>> own(static_cast<std::size_t>(thread_count()), std::vector<u32>(256));
  parallel(n, [&](int begin, int end, int thread) {
    u32* const mine = own[static_cast<std::size_t>(thread)].data();
    for (int i = begin; i < end; ++i) ++mine[in[i]];
  });
  for (int bin = 0; bin < 256; ++bin) {
    bins[bin] = 0;
    for (const auto& each : own) bins[bin] += each[static_cast<std::size_t>(bin)];
  }
}

void compact(float* out, u32* count, const float* in, float limit, int n) {
  std::vector<u32> starts(static_cast<std::size_t>(thread_count()) + 1);
  parallel(n, [&](int begin, int end, int thread) {
    u32 kept = 0;
    for (int i = begin; i < end; ++i) kept += in[i] > limit ? 1 : 0;
    starts[static_cast<std::size_t>(thread) + 1] = kept;
  });
  for (std::size_t t = 1; t < starts.size(); ++t) starts[t] += starts[t - 1];
  *count = starts.back();
  parallel(n, [&](int begin, int end, int thread) {
    u32 at = starts[static_cast<std::size_t>(thread)];
    for (int i = begin; i < end; ++i) {
      if (in[i] > limit) out[at++] = in[i];
    }
  });
}

void matmul(float* c, const float* a, const float* b, int n) {
  parallel(n, [=](int begin, int end, int) {
    for (int row = begin; row < end; ++row) {
      float* const to = c + row * n;
      std::fill_n(to, n, 0.0f);
      for (int k = 0; k < n; ++k) {
        const float factor = a[row * n + k];
        for (int column = 0; column < n; ++column) to[column] += factor * b[k * n + column];
      }
    }
  });
}

void spmv(float* y, const int* starts, const int* columns, const float* values, const float* x, int rows) {
  parallel(rows, [=](int begin, int end, int) {
    for (int row = begin; row < end; ++row) {
      float sum = 0.0f;
      for (int i = starts[row]; i < starts[row + 1]; ++i) sum += values[i] * x[columns[i]];
      y[row] = sum;
    }
  });
}

void nbody(Float4* forces, const Float4* bodies, int n) {
  parallel(n, [=](int begin, int end, int) {
    for (int i = begin; i < end; ++i) {
      float fx = 0.0f, fy = 0.0f, fz = 0.0f;
      for (int j = 0; j < n; ++j) {
        const float dx = bodies[j].x - bodies[i].x, dy = bodies[j].y - bodies[i].y, dz = bodies[j].z - bodies[i].z;
        const float inverse = 1.0f / std::sqrt(dx * dx + dy * dy + dz * dz + 0.01f);
        const float scale = bodies[j].w * inverse * inverse * inverse;
        fx += dx * scale;
        fy += dy * scale;
        fz += dz * scale;
      }
      forces[i] = {fx, fy, fz, 0.0f};
    }
  });
}

void fft(Float2* out, const Float2* in, const Float2* twiddles, int count) {
  parallel(count, [=](int begin, int end, int) {
    for (int each = begin; each < end; ++each) {
      Float2* const data = out + each * 1024;
      for (unsigned i = 0; i < 1024; ++i) {
        unsigned reversed = 0;
        for (unsigned bit = 0; bit < 10; ++bit) reversed |= (i >> bit & 1) << (9 - bit);
        data[reversed] = in[each * 1024 + static_cast<int>(i)];
      }
      for (int half = 1; half < 1024; half *= 2) {
        for (int start = 0; start < 1024; start += 2 * half) {
          for (int k = 0; k < half; ++k) {
            const Float2 w = twiddles[k * (512 / half)], a = data[start + k], b = data[start + k + half];
            const Float2 turned = {b.x * w.x - b.y * w.y, b.x * w.y + b.y * w.x};
            data[start + k] = {a.x + turned.x, a.y + turned.y};
            data[start + k + half] = {a.x - turned.x, a.y - turned.y};
          }
        }
      }
    }
  });
}

void mandelbrot(int* out, int width, int height, int most) {
  // Rows in turn, as they take very different times.
  std::atomic<int> next{0};
  parallel(thread_count(), [&](int, int, int) {
    for (int y; (y = next.fetch_add(1)) < height;) {
      for (int x = 0; x < width; ++x) {
        const float cr = -2.0f + 3.0f * static_cast<float>(x) / static_cast<float>(width);
        const float ci = -1.5f + 3.0f * static_cast<float>(y) / static_cast<float>(height);
        float zr = 0.0f, zi = 0.0f;
        int i = 0;
        for (; i < most && zr * zr + zi * zi < 4.0f; ++i) {
          const float new_zr = zr * zr - zi * zi + cr;
          zi = 2.0f * zr * zi + ci;
          zr = new_zr;
        }
        out[y * width + x] = i;
      }
    }
  });
}

void black_scholes(float* call, float* put, const float* price, const float* strike, const float* years, float rate,
                   float volatility, int n) {
  parallel(n, [=](int begin, int end, int) {
    for (int i = begin; i < end; ++i) {
      const float root = std::sqrt(years[i]);
      const float d1 =
          (std::log(price[i] / strike[i]) + (rate + 0.5f * volatility * volatility) * years[i]) / (volatility * root);
      const float d2 = d1 - volatility * root;
      const float n1 = normal_distribution(d1), n2 = normal_distribution(d2);
      const float discount = std::exp(-rate * years[i]);
      call[i] = price[i] * n1 - strike[i] * discount * n2;
      put[i] = strike[i] * discount * (1.0f - n2) - price[i] * (1.0f - n1);
    }
  });
}

void monte_carlo(u32* hits, u32 seed, int rounds, int paths) {
  std::atomic<u32> all{0};
  parallel(paths, [&](int begin, int end, int) {
    u32 inside = 0;
    for (int i = begin; i < end; ++i) {
      u32 state = seed ^ (static_cast<u32>(i) * 2654435761u);
      state = state == 0 ? 1 : state;
      for (int k = 0; k < rounds; ++k) {
        const float x = static_cast<float>(next_random(state) >> 8) * (1.0f / 16777216.0f);
        const float y = static_cast<float>(next_random(state) >> 8) * (1.0f / 16777216.0f);
        if (x * x + y * y < 1.0f) ++inside;
      }
    }
    all += inside;
  });
  *hits = all;
}

void sort_blocks(u32* keys, int blocks) {
  parallel(blocks, [=](int begin, int end, int) {
    for (int block = begin; block < end; ++block) std::sort(keys + block * 1024, keys + block * 1024 + 1024);
  });
}

void hash_strings(u32* out, const u8* text, const int* starts, int n) {
  parallel(n, [=](int begin, int end, int) {
    for (int i = begin; i < end; ++i) {
      u32 hash = 2166136261u;
      for (int k = starts[i]; k < starts[i + 1]; ++k) hash = (hash ^ text[k]) * 16777619u;
      out[i] = hash;
    }
  });
}

void find_pattern(u32* count, const u8* text, int n, const u8* pattern, int length) {
  std::atomic<u32> all{0};
  parallel(n - length + 1, [&](int begin, int end, int) {
    u32 found = 0;
    for (int i = begin; i < end; ++i) {
      int k = 0;
      while (k < length && text[i + k] == pattern[k]) ++k;
      if (k == length) ++found;
    }
    all += found;
  });
  *count = all;
}

void search(int* found, const u32* sorted, const u32* keys, int size, int n) {
  parallel(n, [=](int begin, int end, int) {
    for (int i = begin; i < end; ++i)
      found[i] = static_cast<int>(std::lower_bound(sorted, sorted + size, keys[i]) - sorted);
  });
}

void heat(double* out, const double* in, int size) {
  parallel(size - 2, [=](int begin, int end, int) {
    const int plane = size * size;
    for (int z = begin + 1; z < end + 1; ++z) {
      for (int y = 1; y < size - 1; ++y) {
        for (int x = 1; x < size - 1; ++x) {
          const int i = (z * size + y) * size + x;
          out[i] =
              0.4 * in[i] + 0.1 * (in[i - 1] + in[i + 1] + in[i - size] + in[i + size] + in[i - plane] + in[i + plane]);
        }
      }
    }
  });
}

}  // extern "C"
