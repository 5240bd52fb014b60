// Draws a ball, a ring and their shadows by ray marching; `ray_marcher FILE.pgm` keeps the picture.
#include <algorithm>
#include <cstdio>
#include <cucore/cucore.hpp>
#include <fstream>
#include <span>

#include "kernels.cu.hpp"

int main(int count, char** arguments) {
  const cucore::Device device;
  device.set_current();
  const cucore::Stream stream = device.create_stream();

  constexpr unsigned width = 480, height = 360;
  const auto pinned = cucore::LegacyPinnedMemoryResource::create();
  const cucore::Buffer picture = pinned->allocate(width * height, stream);
  const cucore::Buffer depth = pinned->allocate(width * height * sizeof(float), stream);
  kernels::render(stream, {.grid = {width / 16, height / 8}, .block = {16, 8}}, picture, depth, int(width),
                  int(height));
  stream.sync();

  const std::span ways(reinterpret_cast<const float*>(depth.handle()), width * height);
  const auto met = [](float way) { return way < 20; };
  std::printf("%.0f%% of the rays meet something, the nearest after %.2f\n",
              100.0 * double(std::ranges::count_if(ways, met)) / double(ways.size()), double(std::ranges::min(ways)));
  if (count > 1)
    std::ofstream(arguments[1], std::ios::binary)
        << "P5 " << width << " " << height << " 255\n"
        << std::string_view(reinterpret_cast<const char*>(picture.handle()), picture.size());
  // The floor below, the sky above.
  return std::ranges::all_of(ways.last(width), met) && std::ranges::none_of(ways.first(width), met) ? 0 : 1;
}
