// Shares work among all devices of the machine; CUCORE_CPU_DEVICES=2 gives the CPU device a second one.
#include <cstdio>
#include <cucore/cucore.hpp>
#include <vector>

#include "kernels.cu.hpp"

int main() {
  constexpr unsigned share = 1'000'000;
  std::vector<cucore::Stream> streams;
  std::vector<cucore::Buffer> sums;
  for (const cucore::Device& device : cucore::Device::all()) {
    device.set_current();
    const cucore::Stream& stream = streams.emplace_back(device.create_stream());
    const cucore::Buffer& sum =
        sums.emplace_back(cucore::LegacyPinnedMemoryResource::create()->allocate(sizeof(long long), stream));
    sum.fill(0, stream);
    // Embedded kernels are compiled and loaded for the device of the stream. The launch returns at once.
    kernels::sum(stream, {.grid = {16}, .block = {256}}, sum, unsigned(device.ordinal()) * share, share);
  }

  unsigned long long total = 0;
  for (std::size_t i = 0; i < streams.size(); ++i) {
    streams[i].device().set_current();
    streams[i].sync();
    const auto part = *reinterpret_cast<const unsigned long long*>(sums[i].handle());
    std::printf("device %zu: %llu\n", i, part);
    total += part;
  }
  const unsigned long long n = share * streams.size();
  if (total != n * (n - 1) / 2) return std::puts("the sum is wrong"), 1;
  std::printf("together: %llu\n", total);
}
