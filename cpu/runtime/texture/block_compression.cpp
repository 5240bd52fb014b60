// Block compression: see block_compression.hpp. BC1 to BC5 hold two end points of a line and a place on it for each
// texel; BC6H and BC7 (partitioned_blocks.hpp) up to three such lines in one of many layouts of bits.
#include "cpu/runtime/texture/block_compression.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "cpu/runtime/texture/partitioned_blocks.hpp"

namespace cucore::cpu::runtime {
namespace {

constexpr unsigned side = 4;

/// A colour of 5, 6 and 5 bits.
void colour_of(std::uint32_t packed, float (&colour)[3]) {
  colour[0] = static_cast<float>(packed >> 11) / 31.0F;
  colour[1] = static_cast<float>(packed >> 5 & 63) / 63.0F;
  colour[2] = static_cast<float>(packed & 31) / 31.0F;
}

/// Eight bytes. `has_alpha`: where the first end point is not the larger one, there are two colours less between, and
/// black that is transparent.
void decode_colour(const std::byte* block, unsigned n, bool has_alpha, float (&texel)[4]) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, block, sizeof bits);
  const auto first = static_cast<std::uint32_t>(bits & 0xffff),
             second = static_cast<std::uint32_t>(bits >> 16 & 0xffff);
  const auto place = static_cast<unsigned>(bits >> (32 + 2 * n) & 3);
  float ends[2][3];
  colour_of(first, ends[0]);
  colour_of(second, ends[1]);
  const bool is_full = !has_alpha || first > second;
  for (unsigned c = 0; c < 3; ++c) {
    const float a = ends[0][c], b = ends[1][c];
    texel[c] = place == 0   ? a
               : place == 1 ? b
               : !is_full   ? (place == 2 ? (a + b) / 2 : 0)
               : place == 2 ? (2 * a + b) / 3
                            : (a + 2 * b) / 3;
  }
  texel[3] = !is_full && place == 3 ? 0.0F : 1.0F;
}

/// One channel in eight bytes: end points of eight bits, places of three.
float decode_channel(const std::byte* block, unsigned n, bool is_signed) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, block, sizeof bits);
  const auto number = [&](unsigned at) {
    const auto byte = static_cast<std::uint8_t>(bits >> 8 * at);
    return is_signed ? std::max<int>(static_cast<std::int8_t>(byte), -127) : static_cast<int>(byte);
  };
  const int first = number(0), second = number(1);
  const auto place = static_cast<int>(bits >> (16 + 3 * n) & 7);
  const float largest = is_signed ? 127.0F : 255.0F;
  const auto fraction = [&](int of_first, int of_second) {
    return static_cast<float>(of_first * first + of_second * second) /
           (static_cast<float>(of_first + of_second) * largest);
  };
  if (place < 2) return fraction(1 - place, place);
  if (first > second) return fraction(8 - place, place - 1);
  if (place < 6) return fraction(6 - place, place - 1);
  return place == 7 ? 1.0F : is_signed ? -1.0F : 0.0F;
}

}  // namespace

void decode_texel(BlockFormat format, const std::byte* block, unsigned x, unsigned y, float (&texel)[4]) {
  const unsigned n = side * y + x;
  for (float& each : texel) each = 0;
  texel[3] = 1;
  switch (format) {
    case BlockFormat::None:
      return;
    case BlockFormat::Bc1:
      return decode_colour(block, n, true, texel);
    case BlockFormat::Bc2: {
      decode_colour(block + 8, n, false, texel);
      const auto pair = std::to_integer<unsigned>(block[n / 2]);
      texel[3] = static_cast<float>(pair >> 4 * (n % 2) & 15) / 15.0F;
      return;
    }
    case BlockFormat::Bc3:
      decode_colour(block + 8, n, false, texel);
      texel[3] = decode_channel(block, n, false);
      return;
    case BlockFormat::Bc5:
    case BlockFormat::Bc5Signed:
      texel[1] = decode_channel(block + 8, n, format == BlockFormat::Bc5Signed);
      texel[0] = decode_channel(block, n, format == BlockFormat::Bc5Signed);
      return;
    case BlockFormat::Bc4:
    case BlockFormat::Bc4Signed:
      texel[0] = decode_channel(block, n, format == BlockFormat::Bc4Signed);
      return;
    case BlockFormat::Bc6h:
    case BlockFormat::Bc6hSigned:
      return decode_bc6h(block, n, format == BlockFormat::Bc6hSigned, texel);
    case BlockFormat::Bc7:
      return decode_bc7(block, n, texel);
  }
}

}  // namespace cucore::cpu::runtime
