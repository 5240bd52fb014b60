// Prefix sums of an array, by blocks and then over the blocks.
#include <cstdio>
#include <cucore/cucore.hpp>

#include "kernels.cu.hpp"

int main() {
  const cucore::Device device;
  device.set_current();
  const cucore::Stream stream = device.create_stream();

  constexpr unsigned n = 200'000, block = 512, blocks = (n + block - 1) / block;
  const auto pinned = cucore::LegacyPinnedMemoryResource::create();
  const cucore::Buffer x = pinned->allocate(n * sizeof(int), stream);
  const cucore::Buffer out = pinned->allocate(n * sizeof(int), stream);
  const cucore::Buffer sums = device.allocate(blocks * sizeof(int), stream);
  const cucore::Buffer total = device.allocate(sizeof(int), stream);
  int* const values = reinterpret_cast<int*>(x.handle());
  for (unsigned i = 0; i < n; ++i) values[i] = int(i % 7);

  const cucore::LaunchConfig all{.grid = {blocks}, .block = {block}};
  kernels::scan_blocks(stream, all, x, out, sums, int(n));
  kernels::scan_blocks(stream, {.grid = {1}, .block = {block}}, sums, sums, total, int(blocks));
  kernels::add_sums(stream, all, out, sums, int(n));
  stream.sync();

  const int* const found = reinterpret_cast<const int*>(out.handle());
  int expected = 0;
  for (unsigned i = 0; i < n; ++i) {
    expected += values[i];
    if (found[i] != expected) return std::printf("element %u is wrong\n", i), 1;
  }
  std::printf("%u prefix sums, all right; the last is %d\n", n, found[n - 1]);
}
