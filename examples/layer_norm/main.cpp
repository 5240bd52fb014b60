// Layer normalisation of the rows of a matrix, a warp a row.
#include <cmath>
#include <cstdio>
#include <cucore/cucore.hpp>
#include <numeric>

#include "kernels.cu.hpp"

int main() {
  const cucore::Device device;
  device.set_current();
  const cucore::Stream stream = device.create_stream();

  constexpr unsigned rows = 100, columns = 768;
  constexpr float epsilon = 1e-5f;
  const auto pinned = cucore::LegacyPinnedMemoryResource::create();
  const auto array = [&](unsigned n) { return pinned->allocate(n * sizeof(float), stream); };
  const auto values = [](const cucore::Buffer& buffer) { return reinterpret_cast<float*>(buffer.handle()); };
  const cucore::Buffer x = array(rows * columns), gain = array(columns), bias = array(columns);
  const cucore::Buffer out = array(rows * columns);
  for (unsigned i = 0; i < rows * columns; ++i) values(x)[i] = std::sin(float(i)) * 3 + 7;
  for (unsigned i = 0; i < columns; ++i) values(gain)[i] = 0.5f + float(i) / (columns - 1);
  bias.fill(0.1f, stream);

  kernels::layer_norm(stream, {.grid = {(rows + 7) / 8}, .block = {32, 8}}, x, gain, bias, out, int(rows), int(columns),
                      epsilon);
  stream.sync();

  for (unsigned row = 0; row < rows; ++row) {
    const float *const in = values(x) + row * columns, *const found = values(out) + row * columns;
    const double mean = std::accumulate(in, in + columns, 0.0) / columns;
    double variance = 0;
    for (unsigned i = 0; i < columns; ++i) variance += (in[i] - mean) * (in[i] - mean) / columns;
    for (unsigned i = 0; i < columns; ++i) {
      const double expected = (in[i] - mean) / std::sqrt(variance + double(epsilon)) * values(gain)[i] + 0.1;
      if (std::abs(found[i] - expected) > 1e-4) return std::printf("row %u is wrong\n", row), 1;
    }
  }
  const auto mean = [&](const cucore::Buffer& of) {
    return std::accumulate(values(of), values(of) + columns, 0.0) / columns;
  };
  std::printf("%u rows, all right; row 0 had the mean %.3f, and has %.3f\n", rows, mean(x), mean(out));
}
