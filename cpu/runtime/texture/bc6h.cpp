// BC6H: one or two lines of colours of halves, whose end points' bits lie in one of fourteen orders.
#include <cstdint>
#include <cstdlib>
#include <span>

#include "cpu/runtime/memory/texel_format.hpp"
#include "cpu/runtime/texture/partitioned_blocks.hpp"

namespace cucore::cpu::runtime {

namespace {

/// Bits of one channel of one end point, as they come: the first of them is bit `lowest`.
struct Field {
  std::uint8_t end, channel, lowest, count;
};
struct Mode6 {
  std::uint8_t number, bits;  ///< of the mode, as the block begins
  std::uint8_t width;         ///< of the first end point
  std::uint8_t deltas[3];     ///< widths of the others, which are differences from it; 0: they are as wide, and none
  bool has_two_lines;
  std::span<const Field> fields;
};
enum Channel : std::uint8_t { R, G, B };

constexpr Field fields_0[] = {{2, G, 4, 1},  {2, B, 4, 1}, {3, B, 4, 1}, {0, R, 0, 10}, {0, G, 0, 10},
                              {0, B, 0, 10}, {1, R, 0, 5}, {3, G, 4, 1}, {2, G, 0, 4},  {1, G, 0, 5},
                              {3, B, 0, 1},  {3, G, 0, 4}, {1, B, 0, 5}, {3, B, 1, 1},  {2, B, 0, 4},
                              {2, R, 0, 5},  {3, B, 2, 1}, {3, R, 0, 5}, {3, B, 3, 1}};
constexpr Field fields_1[] = {{2, G, 5, 1}, {3, G, 4, 1}, {3, G, 5, 1}, {0, R, 0, 7}, {3, B, 0, 1}, {3, B, 1, 1},
                              {2, B, 4, 1}, {0, G, 0, 7}, {2, B, 5, 1}, {3, B, 2, 1}, {2, G, 4, 1}, {0, B, 0, 7},
                              {3, B, 3, 1}, {3, B, 5, 1}, {3, B, 4, 1}, {1, R, 0, 6}, {2, G, 0, 4}, {1, G, 0, 6},
                              {3, G, 0, 4}, {1, B, 0, 6}, {2, B, 0, 4}, {2, R, 0, 6}, {3, R, 0, 6}};
constexpr Field fields_2[] = {{0, R, 0, 10}, {0, G, 0, 10}, {0, B, 0, 10}, {1, R, 0, 5}, {0, R, 10, 1}, {2, G, 0, 4},
                              {1, G, 0, 4},  {0, G, 10, 1}, {3, B, 0, 1},  {3, G, 0, 4}, {1, B, 0, 4},  {0, B, 10, 1},
                              {3, B, 1, 1},  {2, B, 0, 4},  {2, R, 0, 5},  {3, B, 2, 1}, {3, R, 0, 5},  {3, B, 3, 1}};
constexpr Field fields_6[] = {{0, R, 0, 10}, {0, G, 0, 10}, {0, B, 0, 10}, {1, R, 0, 4},  {0, R, 10, 1},
                              {3, G, 4, 1},  {2, G, 0, 4},  {1, G, 0, 5},  {0, G, 10, 1}, {3, G, 0, 4},
                              {1, B, 0, 4},  {0, B, 10, 1}, {3, B, 1, 1},  {2, B, 0, 4},  {2, R, 0, 4},
                              {3, B, 0, 1},  {3, B, 2, 1},  {3, R, 0, 4},  {2, G, 4, 1},  {3, B, 3, 1}};
constexpr Field fields_10[] = {{0, R, 0, 10}, {0, G, 0, 10}, {0, B, 0, 10}, {1, R, 0, 4},  {0, R, 10, 1},
                               {2, B, 4, 1},  {2, G, 0, 4},  {1, G, 0, 4},  {0, G, 10, 1}, {3, B, 0, 1},
                               {3, G, 0, 4},  {1, B, 0, 5},  {0, B, 10, 1}, {2, B, 0, 4},  {2, R, 0, 4},
                               {3, B, 1, 1},  {3, B, 2, 1},  {3, R, 0, 4},  {3, B, 4, 1},  {3, B, 3, 1}};
constexpr Field fields_14[] = {{0, R, 0, 9}, {2, B, 4, 1}, {0, G, 0, 9}, {2, G, 4, 1}, {0, B, 0, 9},
                               {3, B, 4, 1}, {1, R, 0, 5}, {3, G, 4, 1}, {2, G, 0, 4}, {1, G, 0, 5},
                               {3, B, 0, 1}, {3, G, 0, 4}, {1, B, 0, 5}, {3, B, 1, 1}, {2, B, 0, 4},
                               {2, R, 0, 5}, {3, B, 2, 1}, {3, R, 0, 5}, {3, B, 3, 1}};
constexpr Field fields_18[] = {{0, R, 0, 8}, {3, G, 4, 1}, {2, B, 4, 1}, {0, G, 0, 8}, {3, B, 2, 1},
                               {2, G, 4, 1}, {0, B, 0, 8}, {3, B, 3, 1}, {3, B, 4, 1}, {1, R, 0, 6},
                               {2, G, 0, 4}, {1, G, 0, 5}, {3, B, 0, 1}, {3, G, 0, 4}, {1, B, 0, 5},
                               {3, B, 1, 1}, {2, B, 0, 4}, {2, R, 0, 6}, {3, R, 0, 6}};
constexpr Field fields_22[] = {{0, R, 0, 8}, {3, B, 0, 1}, {2, B, 4, 1}, {0, G, 0, 8}, {2, G, 5, 1}, {2, G, 4, 1},
                               {0, B, 0, 8}, {3, G, 5, 1}, {3, B, 4, 1}, {1, R, 0, 5}, {3, G, 4, 1}, {2, G, 0, 4},
                               {1, G, 0, 6}, {3, G, 0, 4}, {1, B, 0, 5}, {3, B, 1, 1}, {2, B, 0, 4}, {2, R, 0, 5},
                               {3, B, 2, 1}, {3, R, 0, 5}, {3, B, 3, 1}};
constexpr Field fields_26[] = {{0, R, 0, 8}, {3, B, 1, 1}, {2, B, 4, 1}, {0, G, 0, 8}, {2, B, 5, 1}, {2, G, 4, 1},
                               {0, B, 0, 8}, {3, B, 5, 1}, {3, B, 4, 1}, {1, R, 0, 5}, {3, G, 4, 1}, {2, G, 0, 4},
                               {1, G, 0, 5}, {3, B, 0, 1}, {3, G, 0, 4}, {1, B, 0, 6}, {2, B, 0, 4}, {2, R, 0, 5},
                               {3, B, 2, 1}, {3, R, 0, 5}, {3, B, 3, 1}};
constexpr Field fields_30[] = {{0, R, 0, 6}, {3, G, 4, 1}, {3, B, 0, 1}, {3, B, 1, 1}, {2, B, 4, 1}, {0, G, 0, 6},
                               {2, G, 5, 1}, {2, B, 5, 1}, {3, B, 2, 1}, {2, G, 4, 1}, {0, B, 0, 6}, {3, G, 5, 1},
                               {3, B, 3, 1}, {3, B, 5, 1}, {3, B, 4, 1}, {1, R, 0, 6}, {2, G, 0, 4}, {1, G, 0, 6},
                               {3, G, 0, 4}, {1, B, 0, 6}, {2, B, 0, 4}, {2, R, 0, 6}, {3, R, 0, 6}};
constexpr Field fields_3[] = {{0, R, 0, 10}, {0, G, 0, 10}, {0, B, 0, 10}, {1, R, 0, 10}, {1, G, 0, 10}, {1, B, 0, 10}};
constexpr Field fields_7[] = {{0, R, 0, 10}, {0, G, 0, 10}, {0, B, 0, 10}, {1, R, 0, 9}, {0, R, 10, 1},
                              {1, G, 0, 9},  {0, G, 10, 1}, {1, B, 0, 9},  {0, B, 10, 1}};
constexpr Field fields_11[] = {{0, R, 0, 10}, {0, G, 0, 10}, {0, B, 0, 10}, {1, R, 0, 8}, {0, R, 11, 1}, {0, R, 10, 1},
                               {1, G, 0, 8},  {0, G, 11, 1}, {0, G, 10, 1}, {1, B, 0, 8}, {0, B, 11, 1}, {0, B, 10, 1}};
constexpr Field fields_15[] = {{0, R, 0, 10}, {0, G, 0, 10}, {0, B, 0, 10}, {1, R, 0, 4},  {0, R, 15, 1},
                               {0, R, 14, 1}, {0, R, 13, 1}, {0, R, 12, 1}, {0, R, 11, 1}, {0, R, 10, 1},
                               {1, G, 0, 4},  {0, G, 15, 1}, {0, G, 14, 1}, {0, G, 13, 1}, {0, G, 12, 1},
                               {0, G, 11, 1}, {0, G, 10, 1}, {1, B, 0, 4},  {0, B, 15, 1}, {0, B, 14, 1},
                               {0, B, 13, 1}, {0, B, 12, 1}, {0, B, 11, 1}, {0, B, 10, 1}};

constexpr Mode6 modes6[] = {{0, 2, 10, {5, 5, 5}, true, fields_0},    {1, 2, 7, {6, 6, 6}, true, fields_1},
                            {2, 5, 11, {5, 4, 4}, true, fields_2},    {6, 5, 11, {4, 5, 4}, true, fields_6},
                            {10, 5, 11, {4, 4, 5}, true, fields_10},  {14, 5, 9, {5, 5, 5}, true, fields_14},
                            {18, 5, 8, {6, 5, 5}, true, fields_18},   {22, 5, 8, {5, 6, 5}, true, fields_22},
                            {26, 5, 8, {5, 5, 6}, true, fields_26},   {30, 5, 6, {0, 0, 0}, true, fields_30},
                            {3, 5, 10, {0, 0, 0}, false, fields_3},   {7, 5, 11, {9, 9, 9}, false, fields_7},
                            {11, 5, 12, {8, 8, 8}, false, fields_11}, {15, 5, 16, {4, 4, 4}, false, fields_15}};

std::int32_t extended(std::uint32_t value, unsigned bits) {
  const std::uint32_t sign = std::uint32_t{1} << (bits - 1);
  return static_cast<std::int32_t>((value ^ sign) - sign);
}

/// An end point as a number of 16 bits, 17 with its sign.
std::int32_t unquantized(std::int32_t value, unsigned bits, bool is_signed) {
  if (!is_signed) {
    if (bits >= 15 || value == 0) return value;
    return value == (1 << bits) - 1 ? 0xffff : ((value << 16) + 0x8000) >> bits;
  }
  if (bits >= 16) return value;
  const std::int32_t size = std::abs(value);
  const std::int32_t wide = size == 0                       ? 0
                            : size >= (1 << (bits - 1)) - 1 ? 0x7fff
                                                            : ((size << 15) + 0x4000) >> (bits - 1);
  return value < 0 ? -wide : wide;
}

/// The half that the numbers between end points stand for.
float half_between(std::int32_t value, bool is_signed) {
  std::uint32_t half;
  if (is_signed)
    half = value < 0 ? 0x8000U | static_cast<std::uint32_t>((-value * 31) >> 5)
                     : static_cast<std::uint32_t>((value * 31) >> 5);
  else
    half = static_cast<std::uint32_t>((value * 31) >> 6);
  const auto bits = static_cast<std::uint16_t>(half);
  return channel_float({.kind = TexelFormat::Kind::Half, .channel_bytes = 2, .channels = 1},
                       reinterpret_cast<const std::byte*>(&bits), 0);
}

}  // namespace

void decode_bc6h(const std::byte* block, unsigned n, bool is_signed, float (&texel)[4]) {
  Bits bits(block);
  for (float& each : texel) each = 0;  // alpha, too: an H100 gives 0
  std::uint32_t number = bits.next(2);
  if (number >= 2) number |= bits.next(3) << 2;
  const Mode6* mode = nullptr;
  for (const Mode6& each : modes6)
    if (each.number == number) mode = &each;
  if (mode == nullptr) return;  // reserved: black
  std::uint32_t raw[4][3] = {};
  for (const Field& field : mode->fields) raw[field.end][field.channel] |= bits.next(field.count) << field.lowest;
  const unsigned partition = mode->has_two_lines ? bits.next(5) : 0;
  const unsigned lines = mode->has_two_lines ? 2 : 1, width = mode->has_two_lines ? 3 : 4;
  const unsigned line = line_of(lines, partition, n);
  const std::uint32_t weight = weight_at(bits, bits.position(), width, lines, partition, n);
  for (unsigned c = 0; c < 3; ++c) {
    const auto end = [&](unsigned e) {
      std::uint32_t value = raw[e][c];
      const std::uint32_t mask = (std::uint32_t{1} << mode->width) - 1;
      if (e != 0 && mode->deltas[c] != 0)
        value = (raw[0][c] + static_cast<std::uint32_t>(extended(value, mode->deltas[c]))) & mask;
      return unquantized(is_signed ? extended(value, mode->width) : static_cast<std::int32_t>(value), mode->width,
                         is_signed);
    };
    texel[c] = half_between(between(end(2 * line), end(2 * line + 1), weight), is_signed);
  }
}

}  // namespace cucore::cpu::runtime
