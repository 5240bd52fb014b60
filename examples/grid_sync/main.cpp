// All blocks of a grid meet at a barrier in the kernel: a cooperative launch.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cucore/cucore.hpp>
#include <numeric>

#include "kernels.cu.hpp"

int main() {
  const cucore::Device device;
  device.set_current();
  const cucore::Stream stream = device.create_stream();

  constexpr int n = 100'000;
  const auto pinned = cucore::LegacyPinnedMemoryResource::create();
  const cucore::Buffer x = pinned->allocate(n * sizeof(double), stream);
  const cucore::Buffer total = pinned->allocate(sizeof(double), stream);
  double* const values = reinterpret_cast<double*>(x.handle());
  std::iota(values, values + n, 0.0);
  total.fill(0, stream);

  // All of them have to be resident together; more are refused.
  kernels::normalise(stream, {.grid = {32}, .block = {128}, .is_cooperative = true}, x, total, n);
  stream.sync();

  const double sum = *reinterpret_cast<const double*>(total.handle());
  for (int i = 0; i < n; ++i)
    if (std::abs(values[i] * sum - i) > 1e-9 * i) return std::printf("element %d is wrong\n", i), 1;
  std::printf("the sum was %.0f, and is %.6f\n", sum, std::accumulate(values, values + n, 0.0));
}
