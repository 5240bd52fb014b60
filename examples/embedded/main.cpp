// Kernels as C++ functions, with no source text and no names in strings.
#include <cstdio>
#include <cucore/cucore.hpp>

#include "kernels.cu.hpp"  // made by cucore_embed

int main() {
  const cucore::Device device;
  const cucore::Stream stream = device.create_stream();
  constexpr int n = 1000;
  const cucore::Buffer x = cucore::LegacyPinnedMemoryResource::create()->allocate(n * sizeof(float), stream);
  x.fill(4.0f, stream);
  kernels::line(stream, {.grid = {4}, .block = {256}}, x, 10, 2, n);  // converts as a call of a C++ function
  stream.sync();
  const float last = reinterpret_cast<const float*>(x.handle())[n - 1];
  std::printf("10 * 4 + 2 = %g\n", double(last));
  return last == 42 ? 0 : 1;
}
