// Estimates pi by random points, with a generator that needs no state.
#include <cmath>
#include <cstdio>
#include <cucore/cucore.hpp>
#include <numbers>

#include "kernels.cu.hpp"

int main() {
  const cucore::Device device;
  device.set_current();
  const cucore::Stream stream = device.create_stream();

  constexpr int n = 10'000'000;
  const cucore::Buffer count = cucore::LegacyPinnedMemoryResource::create()->allocate(8, stream);
  count.fill(0, stream);
  kernels::count(stream, {.grid = {64}, .block = {256}}, count, n);
  stream.sync();

  const auto inside = *reinterpret_cast<const unsigned long long*>(count.handle());
  const double pi = 4.0 * double(inside) / n;
  if (std::abs(pi - std::numbers::pi) > 0.002) return std::printf("%g is wrong\n", pi), 1;
  std::printf("%llu of %d points are in the circle: pi is about %.4f\n", inside, n, pi);
}
