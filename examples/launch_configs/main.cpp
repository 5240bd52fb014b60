// Lets the driver choose the block size, asks for occupancy, and launches with dynamic shared memory.
#include <algorithm>
#include <cstdio>
#include <cucore/cucore.hpp>
#include <span>

#include "kernels.cu.hpp"

int main() {
  const cucore::Device device;
  device.set_current();
  const cucore::Stream stream = device.create_stream();
  const cucore::ObjectCode code = kernels::embedded_code().code(device);  // compiled, or found in the cache
  const cucore::Kernel scale = code.get_kernel("scale"), staged = code.get_kernel("staged");

  constexpr int n = 100'000;
  const cucore::Buffer x = cucore::LegacyPinnedMemoryResource::create()->allocate(n * sizeof(float), stream);
  x.fill(1.0f, stream);

  // The block size with the highest occupancy, and as many as it takes.
  const auto config = cucore::LaunchConfig::for_kernel(scale, device, n);
  std::printf("scale: %u blocks of %u threads\n", config.grid.x, config.block.x);
  cucore::launch(stream, config, scale, x, 3.0f, n);

  for (const int block : {64, 256})  // what an element of shared memory a thread leaves room for
    std::printf("staged: %d blocks of %d threads on a multiprocessor\n",
                staged.occupancy(device).max_active_blocks_per_multiprocessor(block, 4 * std::size_t(block)), block);
  cucore::launch(stream, {.grid = {(n + 255) / 256}, .block = {256}, .shmem_size = 4 * 256}, staged, x, 5.0f, n);
  stream.sync();

  const std::span values(reinterpret_cast<const float*>(x.handle()), n);
  if (!std::ranges::all_of(values, [](float value) { return value == 15; })) return std::puts("wrong"), 1;
  std::printf("all %d elements are %g\n", n, values[0]);
}
