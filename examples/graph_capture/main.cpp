// Records launches, with two branches, into a graph, and runs the whole as one.
#include <cstdio>
#include <cucore/cucore.hpp>
#include <vector>

#include "kernels.cu.hpp"

int main() {
  const cucore::Device device;
  device.set_current();
  const cucore::Stream stream = device.create_stream();
  const cucore::ObjectCode code = kernels::embedded_code().code(device);  // compiled, or found in the cache
  const cucore::Kernel scale = code.get_kernel("scale"), shift = code.get_kernel("shift"), add = code.get_kernel("add");

  constexpr int n = 1024;
  const cucore::LaunchConfig config{.grid = {n / 256}, .block = {256}};
  const auto pinned = cucore::LegacyPinnedMemoryResource::create();
  const cucore::Buffer x = pinned->allocate(n * sizeof(int), stream), y = pinned->allocate(n * sizeof(int), stream);
  for (int i = 0; i < n; ++i) reinterpret_cast<int*>(x.handle())[i] = reinterpret_cast<int*>(y.handle())[i] = i;

  cucore::GraphBuilder builder = device.create_graph_builder();
  builder.begin_building();
  std::vector<cucore::GraphBuilder> forks = builder.split(2);  // one more: what is launched there does not wait
  cucore::launch(builder, config, scale, x, 2);
  cucore::launch(forks[0], config, shift, y, 1);
  cucore::GraphBuilder::join(builder, forks[0]);
  cucore::launch(builder, config, add, x, y);
  builder.end_building();
  const cucore::Graph graph = builder.complete();  // nothing has run yet

  for (int i = 0; i < 3; ++i) graph.launch(stream);
  stream.sync();

  const int* const found = reinterpret_cast<const int*>(x.handle());
  for (int i = 0; i < n; ++i) {
    int expected = i, other = i;
    for (int run = 0; run < 3; ++run) expected = 2 * expected + ++other;
    if (found[i] != expected) return std::printf("element %d is wrong\n", i), 1;
  }
  std::printf("three runs of three kernels, all right; the last element is %d\n", found[n - 1]);
}
