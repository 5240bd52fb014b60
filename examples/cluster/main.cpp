// Blocks of a cluster read each other's shared memory (compute capability 9.0).
#include <cstdio>
#include <cucore/cucore.hpp>
#include <numeric>

#include "kernels.cu.hpp"

int main() {
  const cucore::Device device;
  device.set_current();
  const cucore::Stream stream = device.create_stream();

  constexpr unsigned clusters = 6, blocks = 4, threads = 128, n = clusters * blocks * threads;
  const auto pinned = cucore::LegacyPinnedMemoryResource::create();
  const cucore::Buffer x = pinned->allocate(n * sizeof(int), stream);
  const cucore::Buffer out = pinned->allocate(clusters * sizeof(int), stream);
  int* const values = reinterpret_cast<int*>(x.handle());
  std::iota(values, values + n, 0);

  // The grid counts clusters.
  kernels::sums(stream, {.grid = {clusters}, .block = {threads}, .cluster = cucore::Dim3{blocks}}, x, out);
  stream.sync();

  std::printf("%u clusters of %u blocks:", clusters, blocks);
  for (unsigned i = 0; i < clusters; ++i) {
    const int found = reinterpret_cast<const int*>(out.handle())[i];
    const int* const part = values + i * blocks * threads;
    if (found != std::accumulate(part, part + blocks * threads, 0)) return std::puts(" wrong"), 1;
    std::printf(" %d", found);
  }
  std::puts("");
}
