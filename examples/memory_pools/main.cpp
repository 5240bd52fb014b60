// A pool of one's own: what is freed serves the next allocation, and the pool says what it holds.
#include <cstdio>
#include <cucore/cucore.hpp>
#include <set>
#include <vector>

int main() {
  const cucore::Device device;
  device.set_current();
  const cucore::Stream stream = device.create_stream();
  const auto pool = cucore::DeviceMemoryResource::create(device, {.max_size = 1 << 28});

  constexpr std::size_t mebibyte = 1 << 20;
  std::set<cucore::DevicePointer> addresses;
  std::vector<cucore::Buffer> buffers;
  for (int i = 0; i < 3; ++i) addresses.insert(buffers.emplace_back(pool->allocate(mebibyte, stream)).handle());
  std::printf("three buffers: %zu MiB in use\n", pool->attributes().used_mem_current / mebibyte);

  buffers.clear();  // in the order of the stream: work that was submitted before still finds them
  stream.sync();
  const cucore::PoolAttributes now = pool->attributes();
  std::printf("closed: %zu MiB in use, %zu MiB at most\n", now.used_mem_current / mebibyte,
              now.used_mem_high / mebibyte);

  const cucore::Buffer again = pool->allocate(mebibyte, stream);
  if (!addresses.contains(again.handle())) return std::puts("new memory was taken"), 1;
  std::puts("the next allocation takes memory that was freed");
  try {
    pool->allocate(1 << 29, stream);
  } catch (const cucore::OutOfMemoryError& error) {
    std::printf("beyond the pool's own limit: %s\n", error.code_name().c_str());
  }
}
