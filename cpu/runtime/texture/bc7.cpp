// BC7: up to three lines of colours of eight bits, alpha with them or on a line of its own.
#include <array>
#include <cstdint>
#include <utility>

#include "cpu/runtime/texture/partitioned_blocks.hpp"

namespace cucore::cpu::runtime {

namespace {

struct Mode7 {
  std::uint8_t lines, partition_bits, rotation_bits, selection_bits, colour_bits, alpha_bits;
  bool has_bit_of_end, has_bit_of_line;
  std::uint8_t place_bits, second_place_bits;
};
constexpr std::array<Mode7, 8> modes7{{{3, 4, 0, 0, 4, 0, true, false, 3, 0},
                                       {2, 6, 0, 0, 6, 0, false, true, 3, 0},
                                       {3, 6, 0, 0, 5, 0, false, false, 2, 0},
                                       {2, 6, 0, 0, 7, 0, true, false, 2, 0},
                                       {1, 0, 2, 1, 5, 6, false, false, 2, 3},
                                       {1, 0, 2, 0, 7, 8, false, false, 2, 2},
                                       {1, 0, 0, 0, 7, 7, true, false, 4, 0},
                                       {2, 6, 0, 0, 5, 5, true, false, 2, 0}}};

}  // namespace

void decode_bc7(const std::byte* block, unsigned n, float (&texel)[4]) {
  Bits bits(block);
  unsigned number = 0;
  while (number < modes7.size() && bits.next(1) == 0) ++number;
  if (number == modes7.size()) {
    for (float& each : texel) each = 0;  // reserved
    return;
  }
  const Mode7& mode = modes7[number];
  const unsigned partition = bits.next(mode.partition_bits);
  const std::uint32_t rotation = bits.next(mode.rotation_bits), selection = bits.next(mode.selection_bits);
  const unsigned ends_count = 2U * mode.lines;
  std::uint32_t ends[6][4] = {};
  for (unsigned c = 0; c < 3; ++c)
    for (unsigned e = 0; e < ends_count; ++e) ends[e][c] = bits.next(mode.colour_bits);
  for (unsigned e = 0; e < ends_count; ++e) ends[e][3] = bits.next(mode.alpha_bits);
  const bool has_more = mode.has_bit_of_end || mode.has_bit_of_line;
  const unsigned colour_bits = mode.colour_bits + (has_more ? 1U : 0U);
  const unsigned alpha_bits = mode.alpha_bits == 0 ? 0 : mode.alpha_bits + (has_more ? 1U : 0U);
  if (has_more) {
    std::uint32_t last = 0;
    for (unsigned e = 0; e < ends_count; ++e) {
      if (mode.has_bit_of_end || e % 2 == 0) last = bits.next(1);
      for (std::uint32_t& channel : ends[e]) channel = channel << 1 | last;
    }
  }
  for (unsigned e = 0; e < ends_count; ++e) {
    for (unsigned c = 0; c < 3; ++c) ends[e][c] = widened(ends[e][c], colour_bits);
    ends[e][3] = alpha_bits == 0 ? 255 : widened(ends[e][3], alpha_bits);
  }
  const unsigned line = line_of(mode.lines, partition, n);
  const unsigned places = bits.position();
  std::uint32_t weights[2];  // of colours and of alpha
  weights[0] = weights[1] = weight_at(bits, places, mode.place_bits, mode.lines, partition, n);
  if (mode.second_place_bits != 0) {
    const unsigned second = places + 16U * mode.place_bits - mode.lines;
    weights[1] = weight_at(bits, second, mode.second_place_bits, 1, 0, n);
    if (selection != 0) std::swap(weights[0], weights[1]);
  }
  for (unsigned c = 0; c < 4; ++c) {
    const std::uint32_t value = between(ends[2 * line][c], ends[2 * line + 1][c], weights[c == 3 ? 1 : 0]);
    texel[c] = static_cast<float>(value) / 255.0F;
  }
  if (rotation != 0) std::swap(texel[rotation - 1], texel[3]);
}

}  // namespace cucore::cpu::runtime
