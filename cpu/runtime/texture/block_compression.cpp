// Block compression: see block_compression.hpp. BC1 to BC5 hold two end points of a line and a place on it for each
// texel; BC6H and BC7 (partitioned_blocks.hpp) up to three such lines in one of many layouts of bits.
#include "cpu/runtime/texture/block_compression.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

#include "cpu/runtime/texture/partitioned_blocks.hpp"

namespace cucore::cpu::runtime {
namespace {

constexpr unsigned side = 4;

// What stands between end points is what an H100 gives, for all of them: it differs from the specifications by up to 5
// of 255.

/// A third of the way from one end point of five bits to the other, or half of it, in 255ths.
std::uint32_t between_fives(std::uint32_t first, std::uint32_t second, bool is_half) {
  return is_half ? (first + second) * 33 / 8 : (2 * first + second) * 22 / 8;
}

/// The same of end points of six bits.
std::uint32_t between_sixes(std::uint32_t first, std::uint32_t second, bool is_half) {
  const auto from = static_cast<int>(widened(first, 6)), way = static_cast<int>(widened(second, 6)) - from;
  return static_cast<std::uint32_t>(256 * from + way / 4 + 128 + way * (is_half ? 128 : 80)) / 256;
}

/// Eight bytes. `has_alpha`: where the first end point is not the larger one, there are two colours less between, and
/// black that is transparent.
void decode_colour(const std::byte* block, unsigned n, bool has_alpha, float (&texel)[4]) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, block, sizeof bits);
  const auto first = static_cast<std::uint32_t>(bits & 0xffff),
             second = static_cast<std::uint32_t>(bits >> 16 & 0xffff);
  const auto place = static_cast<unsigned>(bits >> (32 + 2 * n) & 3);
  const bool is_full = !has_alpha || first > second;
  const bool is_black = !is_full && place == 3;
  // Towards the second end point is away from the first.
  const std::uint32_t near = place % 2 == 0 ? first : second, far = place % 2 == 0 ? second : first;
  for (unsigned c = 0; c < 3; ++c) {
    const unsigned shift = c == 0 ? 11 : c == 1 ? 5 : 0, width = c == 1 ? 6 : 5;
    const auto channel = [&](std::uint32_t colour) { return colour >> shift & ((1U << width) - 1); };
    const std::uint32_t value = place < 2 ? widened(channel(near), width)
                                : c == 1  ? between_sixes(channel(near), channel(far), !is_full)
                                          : between_fives(channel(near), channel(far), !is_full);
    texel[c] = is_black ? 0.0F : static_cast<float>(value) / 255.0F;
  }
  texel[3] = is_black ? 0.0F : 1.0F;
}

/// One channel in eight bytes: end points of eight bits, places of three.
struct ChannelBlock {
  std::array<int, 2> ends;
  unsigned place;

  bool is_full() const { return ends[0] > ends[1]; }  ///< six places are between the end points, not four
  bool is_limit() const { return !is_full() && place >= 6; }
};

ChannelBlock channel_block(const std::byte* block, unsigned n, bool is_signed) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, block, sizeof bits);
  const auto number = [&](unsigned at) {
    const auto byte = static_cast<std::uint8_t>(bits >> 8 * at);
    return is_signed ? std::max<int>(static_cast<std::int8_t>(byte), -127) : static_cast<int>(byte);
  };
  return {{number(0), number(1)}, static_cast<unsigned>(bits >> (16 + 3 * n) & 7)};
}

/// The alpha of BC3.
float decode_alpha(const std::byte* block, unsigned n) {
  const ChannelBlock channel = channel_block(block, n, false);
  if (channel.is_limit()) return channel.place == 7 ? 1.0F : 0.0F;
  const auto place = static_cast<int>(channel.place);
  const auto fraction = [&](int of_first, int of_second) {
    return static_cast<float>(of_first * channel.ends[0] + of_second * channel.ends[1]) /
           (static_cast<float>(of_first + of_second) * 255.0F);
  };
  if (place < 2) return fraction(1 - place, place);
  return channel.is_full() ? fraction(8 - place, place - 1) : fraction(6 - place, place - 1);
}

/// A channel of BC4 and BC5: of sixteen bits, unlike that alpha.
float decode_channel(const std::byte* block, unsigned n, bool is_signed) {
  const ChannelBlock channel = channel_block(block, n, is_signed);
  if (channel.is_limit()) return channel.place == 7 ? 1.0F : is_signed ? -1.0F : 0.0F;
  // The weight of the second end point, in 257ths; where there is a sign, one more is added past the middle, of 258ths.
  constexpr std::array<int, 8> of_six{0, 257, 36, 72, 113, 144, 185, 221}, of_four{0, 257, 48, 96, 161, 209, 0, 0};
  const int weight = (channel.is_full() ? of_six : of_four)[channel.place];
  const auto [first, second] = channel.ends;
  if (!is_signed) return static_cast<float>(first * (257 - weight) + second * weight) / 65535.0F;
  const bool is_nearer = channel.place == 5 && channel.is_full() ? false : weight > 100;
  const int widened_weight = weight + (is_nearer ? 1 : 0);
  const auto highest = [](int end) { return end >= 64 ? 1 : end <= -64 ? -1 : 0; };
  const int value = first * (258 - widened_weight) + second * widened_weight + highest(is_nearer ? second : first);
  return static_cast<float>(value) / 32767.0F;
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
      texel[3] = decode_alpha(block, n);
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
