// A thousand bodies attract each other; their energy has to stay.
#include <cmath>
#include <cstdio>
#include <cucore/cucore.hpp>

#include "kernels.cu.hpp"

int main() {
  const cucore::Device device;
  device.set_current();
  const cucore::Stream stream = device.create_stream();

  constexpr unsigned n = 1024;
  constexpr int steps = 100;
  constexpr float time = 0.01f;
  const auto pinned = cucore::LegacyPinnedMemoryResource::create();
  const cucore::Buffer bodies = pinned->allocate(n * 4 * sizeof(float), stream);
  const cucore::Buffer velocities = pinned->allocate(n * 4 * sizeof(float), stream);
  const cucore::Buffer potential = pinned->allocate(n * sizeof(float), stream);
  const auto energy = [&] {  // kinetic and potential; velocities and places have to be those of one moment
    stream.sync();
    double sum = 0;
    for (unsigned i = 0; i < n; ++i) {
      const float* const v = reinterpret_cast<const float*>(velocities.handle()) + i * 4;
      sum += 0.5 / n * (v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
      sum += reinterpret_cast<const float*>(potential.handle())[i];
    }
    return sum;
  };

  const cucore::LaunchConfig config{.grid = {n / 128}, .block = {128}};
  const auto pull = [&](float step) { kernels::pull(stream, config, bodies, velocities, potential, int(n), step); };
  kernels::place(stream, config, bodies, velocities, int(n));
  pull(0);
  const double before = energy();
  pull(time / 2);  // velocities half a step ahead: leapfrog
  for (int i = 0; i < steps; ++i) {
    kernels::move(stream, config, bodies, velocities, time);
    pull(time);
  }
  pull(-time / 2);

  if (std::abs(energy() / before - 1) > 1e-3) return std::puts("the energy has changed"), 1;
  std::printf("%u bodies, %d steps: the energy has changed by less than 0.1 %%\n", n, steps);
}
