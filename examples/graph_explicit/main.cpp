// Builds a graph node by node, runs it, and runs it with other arguments without building it again.
#include <cstdio>
#include <cucore/cucore.hpp>

#include "kernels.cu.hpp"

int main() {
  const cucore::Device device;
  device.set_current();
  const cucore::Stream stream = device.create_stream();
  const cucore::ObjectCode code = kernels::embedded_code().code(device);  // compiled, or found in the cache
  const cucore::Kernel shift = code.get_kernel("shift"), multiply = code.get_kernel("multiply");

  constexpr unsigned n = 256;
  const cucore::LaunchConfig config{.grid = {1}, .block = {n}};
  const cucore::Buffer x = device.allocate(n * sizeof(int), stream), y = device.allocate(n * sizeof(int), stream);
  const cucore::Buffer out = cucore::LegacyPinnedMemoryResource::create()->allocate(n * sizeof(int), stream);
  const int* const found = reinterpret_cast<const int*>(out.handle());

  const cucore::GraphDefinition definition;
  const auto left = definition.memset(x, 0, n).launch(config, shift, x, 3);   // each node after the one it is called on
  const auto right = definition.memset(y, 0, n).launch(config, shift, y, 5);  // beside the two on the left
  const auto product = definition.join({left, right}).launch(config, multiply, x, y, out);
  product.callback([] { std::puts("a run is done"); });
  const cucore::Graph graph = definition.instantiate();

  graph.launch(stream);
  stream.sync();
  std::printf("3 * 5 = %d\n", found[0]);
  if (found[n - 1] != 15) return 1;

  graph[right].update(config, shift, y, 7);
  graph.launch(stream);
  stream.sync();
  std::printf("3 * 7 = %d\n", found[0]);
  return found[n - 1] == 21 ? 0 : 1;
}
