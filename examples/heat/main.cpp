// Heat spreads in a plate with two hot edges.
#include <cmath>
#include <cstdio>
#include <cucore/cucore.hpp>
#include <vector>

#include "kernels.cu.hpp"

int main() {
  const cucore::Device device;
  device.set_current();
  const cucore::Stream stream = device.create_stream();

  constexpr unsigned n = 128;
  constexpr int steps = 2000;
  constexpr double rate = 0.2;
  const auto pinned = cucore::LegacyPinnedMemoryResource::create();
  const cucore::Buffer now = pinned->allocate(n * n * sizeof(double), stream);
  const cucore::Buffer next = pinned->allocate(n * n * sizeof(double), stream);
  double* const plate = reinterpret_cast<double*>(now.handle());
  std::vector<double> expected(n * n), old;
  for (unsigned i = 0; i < n * n; ++i) plate[i] = expected[i] = i < n || i % n == 0 ? 100 : 0;
  next.copy_from(now, stream);

  const cucore::LaunchConfig config{.grid = {n / 32, n / 8}, .block = {32, 8}};
  for (int i = 0; i < steps / 2; ++i) {  // to and fro
    kernels::step(stream, config, now, next, int(n), rate);
    kernels::step(stream, config, next, now, int(n), rate);
  }
  stream.sync();

  for (int i = 0; i < steps; ++i) {
    old = expected;
    for (unsigned y = 1; y < n - 1; ++y)
      for (unsigned x = 1; x < n - 1; ++x) {
        const unsigned c = y * n + x;
        expected[c] += rate * (old[c - 1] + old[c + 1] + old[c - n] + old[c + n] - 4 * old[c]);
      }
  }
  for (unsigned i = 0; i < n * n; ++i)
    if (std::abs(plate[i] - expected[i]) > 1e-9 * expected[i]) return std::printf("cell %u is wrong\n", i), 1;
  std::printf("after %d steps the middle has %.3f degrees\n", steps, plate[n / 2 * n + n / 2]);
}
