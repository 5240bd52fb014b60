// What BC6H and BC7 have in common: blocks of up to three lines, each with two end points, and for each texel which of
// them it is on, and where.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

namespace cucore::cpu::runtime {

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

/// To eight bits, the highest ones once more behind the lowest.
constexpr std::uint32_t widened(std::uint32_t value, unsigned bits) {
  value <<= 8 - bits;
  return value | value >> bits;
}

/// Of so many lines, which one a texel is on.
unsigned line_of(unsigned lines, unsigned partition, unsigned n);

/// How far texel n is from the first end point to the second, in 64ths, by places that begin at bit `first`.
std::uint32_t weight_at(const Bits& bits, unsigned first, unsigned width, unsigned lines, unsigned partition,
                        unsigned n);

/// Between two end points.
template <typename Number>
Number between(Number first, Number second, std::uint32_t weight) {
  const auto part = static_cast<Number>(weight);
  return (first * (64 - part) + second * part + 32) >> 6;
}

void decode_bc6h(const std::byte* block, unsigned n, bool is_signed, float (&texel)[4]);
void decode_bc7(const std::byte* block, unsigned n, float (&texel)[4]);

}  // namespace cucore::cpu::runtime
