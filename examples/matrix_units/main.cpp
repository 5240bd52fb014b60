// Multiplies matrices of half-precision numbers by the matrix units, through the headers of WMMA.
#include <cstdint>
#include <cstdio>
#include <cucore/cucore.hpp>

#include "kernels.cu.hpp"

constexpr std::uint16_t halves[] = {0, 0x3c00, 0x4000, 0x4200, 0x4400, 0x4500, 0x4600};  // 0 to 6

int main() {
  const cucore::Device device;
  device.set_current();
  const cucore::Stream stream = device.create_stream();

  constexpr unsigned n = 128;
  const auto pinned = cucore::LegacyPinnedMemoryResource::create();
  const cucore::Buffer a = pinned->allocate(n * n * sizeof(std::uint16_t), stream);
  const cucore::Buffer b = pinned->allocate(n * n * sizeof(std::uint16_t), stream);
  const cucore::Buffer c = pinned->allocate(n * n * sizeof(float), stream);
  const auto of_a = [](unsigned i, unsigned j) { return (i + 2 * j) % 5; };
  const auto of_b = [](unsigned i, unsigned j) { return (3 * i + j) % 7; };
  for (unsigned i = 0; i < n; ++i)
    for (unsigned j = 0; j < n; ++j) {
      reinterpret_cast<std::uint16_t*>(a.handle())[i * n + j] = halves[of_a(i, j)];
      reinterpret_cast<std::uint16_t*>(b.handle())[i * n + j] = halves[of_b(i, j)];
    }

  kernels::product(stream, {.grid = {n / 16, n / 16}, .block = {32}}, a, b, c, int(n));
  stream.sync();

  float trace = 0;
  const float* const found = reinterpret_cast<const float*>(c.handle());
  for (unsigned i = 0; i < n; ++i) {
    for (unsigned j = 0; j < n; ++j) {
      unsigned sum = 0;
      for (unsigned k = 0; k < n; ++k) sum += of_a(i, k) * of_b(k, j);
      if (found[i * n + j] != float(sum)) return std::printf("element (%u, %u) is wrong\n", i, j), 1;
    }
    trace += found[i * n + i];
  }
  std::printf("%u x %u product of halves, all right; its trace is %g\n", n, n, double(trace));
}
