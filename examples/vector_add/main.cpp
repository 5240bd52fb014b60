// Adds two vectors: one thread an element.
#include <algorithm>
#include <cstdio>
#include <cucore/cucore.hpp>
#include <span>

#include "kernels.cu.hpp"  // made by cucore_embed: a function for each kernel of kernels.cu

int main() {
  const cucore::Device device;
  device.set_current();
  const cucore::Stream stream = device.create_stream();

  constexpr unsigned n = 1'000'000;
  const auto pinned = cucore::LegacyPinnedMemoryResource::create();  // memory that kernels and the host both see
  cucore::Buffer buffers[3];
  std::span<float> arrays[3];
  for (int i = 0; i < 3; ++i) {
    buffers[i] = pinned->allocate(n * sizeof(float), stream);
    arrays[i] = {reinterpret_cast<float*>(buffers[i].handle()), n};
  }
  const auto& [x, y, out] = arrays;
  for (unsigned i = 0; i < n; ++i) x[i] = float(i % 1000);
  std::ranges::fill(y, 1.0f);

  kernels::add(stream, {.grid = {(n + 255) / 256}, .block = {256}}, buffers[0], buffers[1], buffers[2], int(n));
  stream.sync();

  for (unsigned i = 0; i < n; ++i)
    if (out[i] != x[i] + y[i]) return std::printf("element %u is wrong\n", i), 1;
  std::printf("%u sums, all right; the last is %g\n", n, out[n - 1]);
}
