// Values of elements: see element_values.hpp.
#include "cpu/device_library/element_values.hpp"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

namespace cucore::cpu::device_library {
namespace {

using analysis::Element;

/// A float of few bits. `has_infinity`: the highest exponent is kept for infinities and NaNs, as IEEE has it; otherwise
/// all ones alone is a NaN.
double small_float(std::uint64_t pattern, int exponent_bits, int fraction_bits, bool has_infinity) {
  const std::uint64_t fraction = pattern & ((1U << fraction_bits) - 1);
  const auto exponent = static_cast<int>(pattern >> fraction_bits & ((1U << exponent_bits) - 1));
  const std::uint64_t sign = (pattern >> (exponent_bits + fraction_bits) & 1) << 63;
  const int bias = (1 << (exponent_bits - 1)) - 1;
  constexpr int wide_bias = 1023;
  const auto power = [](int of_two) { return static_cast<std::uint64_t>(of_two + wide_bias) << 52; };
  const bool is_highest = exponent == (1 << exponent_bits) - 1;
  std::uint64_t magnitude = 0;
  if (is_highest && has_infinity && fraction == 0) {
    magnitude = std::bit_cast<std::uint64_t>(std::numeric_limits<double>::infinity());
  } else if (is_highest && (has_infinity || fraction == (1U << fraction_bits) - 1)) {
    magnitude = std::bit_cast<std::uint64_t>(std::numeric_limits<double>::quiet_NaN());
  } else if (exponent == 0) {
    const double unit = std::bit_cast<double>(power(1 - bias - fraction_bits));
    magnitude = std::bit_cast<std::uint64_t>(static_cast<double>(fraction) * unit);
  } else {
    magnitude = power(exponent - bias) | fraction << (52 - fraction_bits);
  }
  return std::bit_cast<double>(magnitude | sign);
}

std::uint64_t half_pattern(double value) {
  if (std::isnan(value)) return 0x7fff;
  const std::uint64_t sign = std::signbit(value) ? 0x8000 : 0;
  const double magnitude = std::fabs(value);
  if (magnitude >= 65520) return sign | 0x7c00;
  const int exponent = magnitude < 0x1p-14 ? -14 : std::ilogb(magnitude);
  const auto units = static_cast<std::uint64_t>(std::nearbyint(std::ldexp(magnitude, 10 - exponent)));
  // Units below 1024 are those of a subnormal number; 2048 carry into the exponent by themselves.
  return sign | ((static_cast<std::uint64_t>(exponent + 14) << 10) + units);
}

std::uint64_t brain_pattern(double value) {
  if (std::isnan(value)) return 0x7fff;
  const auto bits = std::bit_cast<std::uint32_t>(static_cast<float>(value));
  return (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
}

}  // namespace

std::uint64_t pattern_at(const void* base, unsigned bits, std::uint64_t index) {
  const auto* bytes = static_cast<const std::uint8_t*>(base) + index * bits / 8;
  if (bits < 8) return static_cast<unsigned>(*bytes) >> index * bits % 8 & ((1U << bits) - 1);
  std::uint64_t pattern = 0;
  std::memcpy(&pattern, bytes, bits / 8);
  return pattern;
}

void put_pattern(void* base, unsigned bits, std::uint64_t index, std::uint64_t pattern) {
  auto* bytes = static_cast<std::uint8_t*>(base) + index * bits / 8;
  if (bits >= 8) {
    std::memcpy(bytes, &pattern, bits / 8);
    return;
  }
  const unsigned shift = static_cast<unsigned>(index * bits % 8);
  const unsigned mask = ((1U << bits) - 1) << shift;
  *bytes = static_cast<std::uint8_t>((*bytes & ~mask) | static_cast<unsigned>(pattern) << shift);
}

std::int32_t to_integer(Element element, std::uint64_t pattern) {
  switch (element) {
    case Element::S8:
      return static_cast<std::int8_t>(pattern);
    case Element::S4:
      return static_cast<std::int32_t>(pattern ^ 8) - 8;
    default:
      return static_cast<std::int32_t>(static_cast<std::uint32_t>(pattern));
  }
}

double to_real(Element element, std::uint64_t pattern) {
  const auto word = static_cast<std::uint32_t>(pattern);
  switch (element) {
    case Element::F16:
      return small_float(pattern, 5, 10, true);
    case Element::Bf16:
      return static_cast<double>(std::bit_cast<float>(word << 16));
    case Element::Tf32:
      return static_cast<double>(std::bit_cast<float>(word & 0xffffe000));  // the low bits are not looked at
    case Element::E4m3:
      return small_float(pattern, 4, 3, false);
    case Element::E5m2:
      return small_float(pattern, 5, 2, true);
    case Element::F64:
      return std::bit_cast<double>(pattern);
    default:
      return static_cast<double>(std::bit_cast<float>(word));
  }
}

std::uint64_t from_real(Element element, double value) {
  if (element == Element::F64) return std::bit_cast<std::uint64_t>(value);
  if (element == Element::F16) return half_pattern(value);
  if (element == Element::Bf16) return brain_pattern(value);
  return std::isnan(value) ? 0x7fffffff : std::bit_cast<std::uint32_t>(static_cast<float>(value));
}

}  // namespace cucore::cpu::device_library
