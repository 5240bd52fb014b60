// Copies boxes of a matrix into shared memory by a tensor map: TMA, compute capability 9.0.
#include <cstdio>
#include <cucore/cucore.hpp>

#include "kernels.cu.hpp"

int main() {
  const cucore::Device device;
  device.set_current();
  const cucore::Stream stream = device.create_stream();
  const cucore::Kernel sums = kernels::embedded_code().code(device).get_kernel("sums");

  constexpr unsigned rows = 64, columns = 256, across = columns / 64, down = rows / 16;
  const auto pinned = cucore::LegacyPinnedMemoryResource::create();
  const cucore::Buffer matrix = pinned->allocate(rows * columns * sizeof(float), stream);
  const cucore::Buffer out = pinned->allocate(across * down * sizeof(float), stream);
  float expected[across * down] = {};
  for (unsigned i = 0; i < rows * columns; ++i) {
    const auto value = float(i % 100);
    reinterpret_cast<float*>(matrix.handle())[i] = value;
    expected[i / columns / 16 * across + i % columns / 64] += value;
  }

  const cucore::StridedLayout layout({rows, columns}, sizeof(float));
  const auto boxes = cucore::TensorMap::tiled(matrix.handle(), layout, cucore::TensorMapDataType::float32, {16, 64});
  cucore::launch(stream, {.grid = {across, down}, .block = {64}}, sums, boxes, out);
  stream.sync();

  const float* const found = reinterpret_cast<const float*>(out.handle());
  for (unsigned i = 0; i < across * down; ++i)
    if (found[i] != expected[i]) return std::printf("box %u is wrong\n", i), 1;
  std::printf("%u boxes of 16 x 64, all right; the last sum is %g\n", across * down, double(found[across * down - 1]));
}
