// Block compression: see block_compression.hpp. BC1 to BC5 hold two end points of a line and a place on it for each
// texel; BC6H and BC7 up to three such lines in one of many layouts of bits.
#include "cpu/runtime/texture/block_compression.hpp"

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <span>

namespace cucore::cpu::runtime {
namespace {

constexpr unsigned side = 4;

/// The 128 bits of a block, lowest first.
class Bits {
 public:
  explicit Bits(const std::byte* block) { std::memcpy(words_.data(), block, sizeof words_); }

  std::uint32_t at(unsigned first, unsigned count) const {
    std::uint32_t value = 0;
    for (unsigned n = 0; n < count; ++n)
      value |= static_cast<std::uint32_t>(words_[(first + n) / 64] >> (first + n) % 64 & 1) << n;
    return value;
  }
  std::uint32_t next(unsigned count) { return at(std::exchange(position_, position_ + count), count); }
  unsigned position() const { return position_; }

 private:
  std::array<std::uint64_t, 2> words_{};
  unsigned position_ = 0;
};

// ---- BC1 to BC5
// -------------------------------------------------------------------------------------------------------------

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

// ---- lines of BC6H and BC7
// ----------------------------------------------------------------------------------------------------

/// Which of two lines a texel is on, a bit each.
constexpr std::array<std::uint16_t, 64> halves{
    0xcccc, 0x8888, 0xeeee, 0xecc8, 0xc880, 0xfeec, 0xfec8, 0xec80, 0xc800, 0xffec, 0xfe80, 0xe800, 0xffe8,
    0xff00, 0xfff0, 0xf000, 0xf710, 0x008e, 0x7100, 0x08ce, 0x008c, 0x7310, 0x3100, 0x8cce, 0x088c, 0x3110,
    0x6666, 0x366c, 0x17e8, 0x0ff0, 0x718e, 0x399c, 0xaaaa, 0xf0f0, 0x5a5a, 0x33cc, 0x3c3c, 0x55aa, 0x9696,
    0xa55a, 0x73ce, 0x13c8, 0x324c, 0x3bdc, 0x6996, 0xc33c, 0x9966, 0x0660, 0x0272, 0x04e4, 0x4e40, 0x2720,
    0xc936, 0x936c, 0x39c6, 0x639c, 0x9336, 0x9cc6, 0x817e, 0xe718, 0xccf0, 0x0fcc, 0x7744, 0xee22};

/// Which of three, two bits each.
constexpr std::array<std::uint32_t, 64> thirds{
    0xaa685050, 0x6a5a5040, 0x5a5a4200, 0x5450a0a8, 0xa5a50000, 0xa0a05050, 0x5555a0a0, 0x5a5a5050,
    0xaa550000, 0xaa555500, 0xaaaa5500, 0x90909090, 0x94949494, 0xa4a4a4a4, 0xa9a59450, 0x2a0a4250,
    0xa5945040, 0x0a425054, 0xa5a5a500, 0x55a0a0a0, 0xa8a85454, 0x6a6a4040, 0xa4a45000, 0x1a1a0500,
    0x0050a4a4, 0xaaa59090, 0x14696914, 0x69691400, 0xa08585a0, 0xaa821414, 0x50a4a450, 0x6a5a0200,
    0xa9a58000, 0x5090a0a8, 0xa8a09050, 0x24242424, 0x00aa5500, 0x24924924, 0x24499224, 0x50a50a50,
    0x500aa550, 0xaaaa4444, 0x66660000, 0xa5a0a5a0, 0x50a050a0, 0x69286928, 0x44aaaa44, 0x66666600,
    0xaa444444, 0x54a854a8, 0x95809580, 0x96969600, 0xa85454a8, 0x80959580, 0xaa141414, 0x96960000,
    0xaaaa1414, 0xa05050a0, 0xa0a5a5a0, 0x96000000, 0x40804080, 0xa9a8a9a8, 0xaaaaaa44, 0x2a4a5254};

/// The texels whose places have a bit less, since it is known to be 0: the first one, and one of each other line.
constexpr std::array<std::uint8_t, 64> second_of_halves{15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15,
                                                        15, 2,  8,  2,  2,  8,  8,  15, 2,  8,  2,  2,  8,  8,  2,  2,
                                                        15, 15, 6,  8,  2,  8,  15, 15, 2,  8,  2,  2,  2,  15, 15, 6,
                                                        6,  2,  6,  8,  15, 15, 2,  2,  15, 15, 15, 15, 15, 2,  2,  15};
constexpr std::array<std::uint8_t, 64> second_of_thirds{
    3, 3,  15, 15, 8, 3,  15, 15, 8,  8, 6,  6, 6,  5,  3,  3,  3, 3,  8, 15, 3, 3, 6, 10, 5, 8,  8, 6,  8,  5,  15, 15,
    8, 15, 3,  5,  6, 10, 8,  15, 15, 3, 15, 5, 15, 15, 15, 15, 3, 15, 5, 5,  5, 8, 5, 10, 5, 10, 8, 13, 15, 12, 3,  3};
constexpr std::array<std::uint8_t, 64> third_of_thirds{15, 8, 8,  3,  15, 15, 3,  8,  15, 15, 15, 15, 15, 15, 15, 8,
                                                       15, 8, 15, 3,  15, 8,  15, 8,  3,  15, 6,  10, 15, 15, 10, 8,
                                                       15, 3, 15, 10, 10, 8,  9,  10, 6,  15, 8,  15, 3,  6,  6,  8,
                                                       15, 3, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 3,  15, 15, 8};

unsigned line_of(unsigned lines, unsigned partition, unsigned n) {
  if (lines == 1) return 0;
  return lines == 2 ? halves[partition] >> n & 1 : thirds[partition] >> 2 * n & 3;
}

bool is_shorter(unsigned lines, unsigned partition, unsigned n) {
  return n == 0 || (lines == 2 && n == second_of_halves[partition]) ||
         (lines == 3 && (n == second_of_thirds[partition] || n == third_of_thirds[partition]));
}

/// The place of texel n, of places that begin at bit `first`.
std::uint32_t place_of(const Bits& bits, unsigned first, unsigned width, unsigned lines, unsigned partition,
                       unsigned n) {
  for (unsigned each = 0; each < n; ++each) first += width - (is_shorter(lines, partition, each) ? 1 : 0);
  return bits.at(first, width - (is_shorter(lines, partition, n) ? 1 : 0));
}

/// How far from the first end point to the second, in 64ths.
std::uint32_t weight_of(std::uint32_t place, unsigned width) {
  constexpr std::array<std::uint8_t, 4> of_two{0, 21, 43, 64};
  constexpr std::array<std::uint8_t, 8> of_three{0, 9, 18, 27, 37, 46, 55, 64};
  constexpr std::array<std::uint8_t, 16> of_four{0, 4, 9, 13, 17, 21, 26, 30, 34, 38, 43, 47, 51, 55, 60, 64};
  return width == 2 ? of_two[place] : width == 3 ? of_three[place] : of_four[place];
}

// ---- BC7
// -------------------------------------------------------------------------------------------------------------------

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

/// To eight bits, the highest ones once more behind the lowest.
std::uint32_t widened(std::uint32_t value, unsigned bits) {
  value <<= 8 - bits;
  return value | value >> bits;
}

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
  weights[0] = weights[1] =
      weight_of(place_of(bits, places, mode.place_bits, mode.lines, partition, n), mode.place_bits);
  if (mode.second_place_bits != 0) {
    const unsigned second = places + 16U * mode.place_bits - mode.lines;
    weights[1] = weight_of(place_of(bits, second, mode.second_place_bits, 1, 0, n), mode.second_place_bits);
    if (selection != 0) std::swap(weights[0], weights[1]);
  }
  for (unsigned c = 0; c < 4; ++c) {
    const std::uint32_t weight = weights[c == 3 ? 1 : 0];
    const std::uint32_t value = (ends[2 * line][c] * (64 - weight) + ends[2 * line + 1][c] * weight + 32) >> 6;
    texel[c] = static_cast<float>(value) / 255.0F;
  }
  if (rotation != 0) std::swap(texel[rotation - 1], texel[3]);
}

// ---- BC6H
// ------------------------------------------------------------------------------------------------------------------

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

void decode_bc6h(const std::byte* block, unsigned n, bool is_signed, float (&texel)[4]) {
  Bits bits(block);
  for (float& each : texel) each = 0;
  texel[3] = 1;
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
  const std::uint32_t weight = weight_of(place_of(bits, bits.position(), width, lines, partition, n), width);
  for (unsigned c = 0; c < 3; ++c) {
    const auto end = [&](unsigned e) {
      std::uint32_t value = raw[e][c];
      const std::uint32_t mask = (std::uint32_t{1} << mode->width) - 1;
      if (e != 0 && mode->deltas[c] != 0)
        value = (raw[0][c] + static_cast<std::uint32_t>(extended(value, mode->deltas[c]))) & mask;
      return unquantized(is_signed ? extended(value, mode->width) : static_cast<std::int32_t>(value), mode->width,
                         is_signed);
    };
    const auto part = static_cast<std::int32_t>(weight);
    texel[c] = half_between((end(2 * line) * (64 - part) + end(2 * line + 1) * part + 32) >> 6, is_signed);
  }
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
