// Multiplies two matrices through tiles in shared memory.
#include <cstdio>
#include <cucore/cucore.hpp>

#include "kernels.cu.hpp"

int main() {
  const cucore::Device device;
  device.set_current();
  const cucore::Stream stream = device.create_stream();

  constexpr unsigned n = 256;
  const auto pinned = cucore::LegacyPinnedMemoryResource::create();
  const auto matrix = [&] { return pinned->allocate(n * n * sizeof(float), stream); };
  const auto values = [](const cucore::Buffer& buffer) { return reinterpret_cast<float*>(buffer.handle()); };
  const cucore::Buffer a = matrix(), b = matrix(), c = matrix();
  for (unsigned i = 0; i < n; ++i)
    for (unsigned j = 0; j < n; ++j) {
      values(a)[i * n + j] = float((i + 2 * j) % 5);
      values(b)[i * n + j] = float((3 * i + j) % 7);
    }

  kernels::product(stream, {.grid = {n / 16, n / 16}, .block = {16, 16}}, a, b, c, int(n));
  stream.sync();

  float trace = 0;
  for (unsigned i = 0; i < n; ++i) {
    for (unsigned j = 0; j < n; ++j) {
      float sum = 0;
      for (unsigned k = 0; k < n; ++k) sum += values(a)[i * n + k] * values(b)[k * n + j];
      if (values(c)[i * n + j] != sum) return std::printf("element (%u, %u) is wrong\n", i, j), 1;
    }
    trace += values(c)[i * n + i];
  }
  std::printf("%u x %u product, all right; its trace is %g\n", n, n, double(trace));
}
