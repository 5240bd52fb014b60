// Softmax of the rows of a matrix, a block a row.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cucore/cucore.hpp>
#include <span>

#include "kernels.cu.hpp"

int main() {
  const cucore::Device device;
  device.set_current();
  const cucore::Stream stream = device.create_stream();

  constexpr unsigned rows = 64, columns = 1000;
  const auto pinned = cucore::LegacyPinnedMemoryResource::create();
  const cucore::Buffer x = pinned->allocate(rows * columns * sizeof(float), stream);
  const cucore::Buffer out = pinned->allocate(rows * columns * sizeof(float), stream);
  float* const in = reinterpret_cast<float*>(x.handle());
  for (unsigned i = 0; i < rows * columns; ++i)
    in[i] = float((i / columns * 37 + i % columns * 11) % 200);  // exp(199) is too large for a float

  kernels::softmax(stream, {.grid = {rows}, .block = {256}}, x, out, int(columns));
  stream.sync();

  const float* const found = reinterpret_cast<const float*>(out.handle());
  for (unsigned row = 0; row < rows; ++row) {
    const std::span values(in + row * columns, columns);
    const double top = *std::ranges::max_element(values);
    double sum = 0;
    for (const float value : values) sum += std::exp(value - top);
    for (unsigned i = 0; i < columns; ++i) {
      const double expected = std::exp(values[i] - top) / sum;
      if (std::abs(found[row * columns + i] - expected) > 1e-5 * expected + 1e-30) return std::puts("wrong"), 1;
    }
  }
  std::printf("%u rows, all right; the largest probability of row 0 is %.4f\n", rows,
              *std::ranges::max_element(std::span(found, columns)));
}
