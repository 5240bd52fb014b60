// Sums an array: shuffles within a warp, shared memory within a block, one atomic addition a block.
#include <cstdio>
#include <cucore/cucore.hpp>
#include <numeric>

#include "kernels.cu.hpp"

int main() {
  const cucore::Device device;
  device.set_current();
  const cucore::Stream stream = device.create_stream();

  constexpr int n = 5'000'000;
  const auto pinned = cucore::LegacyPinnedMemoryResource::create();
  const cucore::Buffer x = pinned->allocate(n * sizeof(int), stream);
  const cucore::Buffer total = pinned->allocate(sizeof(long long), stream);
  int* const values = reinterpret_cast<int*>(x.handle());
  std::iota(values, values + n, 0);
  total.fill(0, stream);

  kernels::sum(stream, {.grid = {128}, .block = {256}}, x, total, n);
  stream.sync();

  const long long found = *reinterpret_cast<const long long*>(total.handle());
  if (found != n * (n - 1LL) / 2) return std::printf("%lld is wrong\n", found), 1;
  std::printf("0 + 1 + ... + %d = %lld\n", n - 1, found);
}
