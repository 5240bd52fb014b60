// Filters and turns a picture through textures.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cucore/cucore.hpp>
#include <span>
#include <vector>

#include "kernels.cu.hpp"

int main() {
  const cucore::Device device;
  device.set_current();
  const cucore::Stream stream = device.create_stream();
  const cucore::ObjectCode code = kernels::embedded_code().code(device);  // compiled, or found in the cache

  constexpr int width = 200, height = 160;
  std::vector<unsigned char> picture(width * height);  // a chessboard with a disc on it
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) {
      const bool disc = (x - 100) * (x - 100) + (y - 80) * (y - 80) < 50 * 50;
      picture[y * width + x] = disc ? 130 : (x / 25 + y / 20) % 2 ? 220 : 40;
    }
  const cucore::OpaqueArray array =
      device.create_opaque_array({.shape = {width, height}, .format = cucore::ArrayFormat::uint8});
  array.copy_from(std::as_bytes(std::span(picture)), stream);
  const auto resource = cucore::ResourceDescriptor::from_opaque_array(array);
  const cucore::TextureObject texels = device.create_texture_object(resource);  // whole elements, the edge repeated
  const cucore::TextureObject smooth =
      device.create_texture_object(resource, {.address_mode = {cucore::AddressMode::mirror},
                                              .filter_mode = cucore::FilterMode::linear,
                                              .read_mode = cucore::ReadMode::normalized_float});

  const auto pinned = cucore::LegacyPinnedMemoryResource::create();
  const cucore::Buffer lines = pinned->allocate(width * height, stream);
  const cucore::Buffer rotated = pinned->allocate(width * height * sizeof(float), stream);
  const cucore::LaunchConfig config{.grid = {(width + 15) / 16, (height + 15) / 16}, .block = {16, 16}};
  cucore::launch(stream, config, code.get_kernel("edges"), texels, lines, width, height);
  cucore::launch(stream, config, code.get_kernel("turned"), smooth, rotated, width, height, 0.5f);
  stream.sync();

  const std::span edges(reinterpret_cast<const unsigned char*>(lines.handle()), width * height);
  const auto at = [&](int x, int y) {
    return int(picture[std::clamp(y, 0, height - 1) * width + std::clamp(x, 0, width - 1)]);
  };
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) {
      int across = 0, down = 0;
      for (const int d : {-1, 0, 1}) {
        across += (2 - std::abs(d)) * (at(x + 1, y + d) - at(x - 1, y + d));
        down += (2 - std::abs(d)) * (at(x + d, y + 1) - at(x + d, y - 1));
      }
      if (edges[y * width + x] != std::min(255, (std::abs(across) + std::abs(down)) / 4)) return std::puts("wrong"), 1;
    }
  const float middle = reinterpret_cast<const float*>(rotated.handle())[80 * width + 100];
  if (std::abs(middle * 255 - 130) > 1) return std::puts("the middle does not stay"), 1;
  std::printf("%.0f%% of %d x %d pixels are edges\n",
              100.0 * double(std::ranges::count_if(edges, [](int edge) { return edge > 40; })) / (width * height),
              width, height);
}
