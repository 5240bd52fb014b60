// Launches the kernels of kernels.cu by the functions that cucore_embed made: source, and compiled ahead.
#include <cucore/cucore.hpp>
#include <iostream>

#include "ahead.cu.hpp"
#include "kernels.cu.hpp"

struct Pair {
  float a, b;
};

int main() {
  const cucore::Device device(0);
  const cucore::Stream stream = device.create_stream();
  const auto pinned = cucore::LegacyPinnedMemoryResource::create();
  constexpr int n = 256;
  const cucore::Buffer x = pinned->allocate(n * sizeof(float), stream), y = pinned->allocate(n * sizeof(float), stream);
  x.fill(2.0f, stream);
  y.fill(1.0f, stream);
  const cucore::LaunchConfig config{.grid = {1}, .block = {n}};
  kernels::saxpy(stream, config, 3.0, x, y, n);               // 7
  kernels::add_pair(stream, config, y, Pair{0.5f, 0.5f}, n);  // 8
  ahead_of_time::twice(stream, config, y, n);                 // 16
  stream.sync();
  const float* const values = reinterpret_cast<const float*>(y.handle());
  for (int i = 0; i < n; ++i)
    if (values[i] != 16.0f) return std::cout << "element " << i << " is " << values[i] << "\n", 1;
  std::cout << "embedded kernels ran\n";
}
