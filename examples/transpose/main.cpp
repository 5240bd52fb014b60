// Transposes a matrix through tiles of shared memory, so that reads and writes both go along rows.
#include <cstdio>
#include <cucore/cucore.hpp>
#include <numeric>

#include "kernels.cu.hpp"

int main() {
  const cucore::Device device;
  device.set_current();
  const cucore::Stream stream = device.create_stream();

  constexpr unsigned rows = 1000, columns = 700;
  const auto pinned = cucore::LegacyPinnedMemoryResource::create();
  const cucore::Buffer matrix = pinned->allocate(rows * columns * sizeof(float), stream);
  const cucore::Buffer transposed = pinned->allocate(rows * columns * sizeof(float), stream);
  float* const in = reinterpret_cast<float*>(matrix.handle());
  const float* const out = reinterpret_cast<const float*>(transposed.handle());
  std::iota(in, in + rows * columns, 0.0f);

  kernels::transpose(stream, {.grid = {(columns + 31) / 32, (rows + 31) / 32}, .block = {32, 8}}, matrix, transposed,
                     int(rows), int(columns));
  stream.sync();

  for (unsigned row = 0; row < rows; ++row)
    for (unsigned column = 0; column < columns; ++column)
      if (out[column * rows + row] != in[row * columns + column]) return std::puts("an element is wrong"), 1;
  std::printf("%u x %u transposed; row 1 begins %g %g %g\n", rows, columns, out[rows], out[rows + 1], out[rows + 2]);
}
