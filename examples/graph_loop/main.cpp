// A loop inside a graph: the device decides whether it goes on, and the host waits once.
#include <cmath>
#include <cstdio>
#include <cucore/cucore.hpp>

#include "kernels.cu.hpp"

int main() {
  const cucore::Device device;
  device.set_current();
  const cucore::Stream stream = device.create_stream();
  const cucore::Kernel step = kernels::embedded_code().code(device).get_kernel("step");

  const auto pinned = cucore::LegacyPinnedMemoryResource::create();
  const cucore::Buffer root = pinned->allocate(sizeof(double), stream), steps = pinned->allocate(sizeof(int), stream);
  double& found = *reinterpret_cast<double*>(root.handle());
  int& taken = *reinterpret_cast<int*>(steps.handle());
  found = 1, taken = 0;

  const cucore::GraphDefinition definition;
  const cucore::GraphCondition again = definition.create_condition(1);
  const cucore::ConditionalNode loop = definition.while_loop(again);
  loop.branches()[0].launch({.grid = {1}, .block = {1}}, step, root, steps, 2.0, again);
  definition.instantiate().launch(stream);
  stream.sync();

  if (std::abs(found * found - 2) > 1e-12) return std::printf("%g is wrong\n", found), 1;
  std::printf("the square root of 2 is %.12f, after %d steps\n", found, taken);
}
