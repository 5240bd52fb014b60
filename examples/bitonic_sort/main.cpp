// Sorts by a bitonic network: many short launches, whose configuration is checked once.
#include <algorithm>
#include <cstdio>
#include <cucore/cucore.hpp>
#include <span>

#include "kernels.cu.hpp"

int main() {
  const cucore::Device device;
  device.set_current();
  const cucore::Stream stream = device.create_stream();
  const cucore::Kernel step = kernels::embedded_code().code(device).get_kernel("step");

  constexpr unsigned n = 1 << 16;
  const cucore::Buffer x = cucore::LegacyPinnedMemoryResource::create()->allocate(n * sizeof(unsigned), stream);
  const std::span values(reinterpret_cast<unsigned*>(x.handle()), n);
  for (unsigned i = 0; i < n; ++i) values[i] = i * 2654435761u;  // well mixed, since it wraps

  const cucore::Launcher launcher(step, {.grid = {n / 256}, .block = {256}});
  int launches = 0;
  for (unsigned length = 2; length <= n; length *= 2)
    for (unsigned distance = length / 2; distance > 0; distance /= 2, ++launches) launcher(stream, x, length, distance);
  stream.sync();

  if (!std::ranges::is_sorted(values)) return std::puts("not sorted"), 1;
  std::printf("%u numbers sorted in %d launches\n", n, launches);
}
