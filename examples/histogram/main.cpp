// Counts how often each byte occurs, with atomics in shared memory.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cucore/cucore.hpp>
#include <numeric>
#include <span>

#include "kernels.cu.hpp"

int main() {
  const cucore::Device device;
  device.set_current();
  const cucore::Stream stream = device.create_stream();

  constexpr int n = 1'000'000;
  const auto pinned = cucore::LegacyPinnedMemoryResource::create();
  const cucore::Buffer data = pinned->allocate(n, stream);
  const cucore::Buffer counts = pinned->allocate(256 * sizeof(unsigned), stream);
  const std::span bytes(reinterpret_cast<unsigned char*>(data.handle()), n);
  std::array<unsigned, 256> expected{};
  for (std::uint64_t i = 0; i < n; ++i) {
    bytes[i] = static_cast<unsigned char>(i * 7919 % 128 + i * 104729 % 127);  // sums of two even spreads: a roof
    ++expected[bytes[i]];
  }
  counts.fill(0, stream);

  kernels::histogram(stream, {.grid = {32}, .block = {256}}, data, n, counts);
  stream.sync();

  const std::span found(reinterpret_cast<const unsigned*>(counts.handle()), 256);
  if (!std::ranges::equal(found, expected)) return std::puts("the counts are wrong"), 1;
  const auto most = std::ranges::max_element(found);
  std::printf("%u bytes counted; most often %d, %u times\n", std::accumulate(found.begin(), found.end(), 0u),
              int(most - found.begin()), *most);
}
