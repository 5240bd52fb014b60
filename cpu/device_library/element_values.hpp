// The values of elements of matrices and tensors, the nearest pattern of a value, and where patterns lie in memory.
#pragma once

#include <cstdint>
#include <type_traits>

#include "cpu/analysis/instructions/matrix_form.hpp"

namespace cucore::cpu::device_library {

/// The element at `index` of consecutive elements of `bits` bits, as a pattern.
std::uint64_t pattern_at(const void* base, unsigned bits, std::uint64_t index);
void put_pattern(void* base, unsigned bits, std::uint64_t index, std::uint64_t pattern);

std::int32_t to_integer(analysis::Element element, std::uint64_t pattern);
double to_real(analysis::Element element, std::uint64_t pattern);

/// The value at `index` of consecutive elements: real numbers as double, others as an integer type.
template <typename Number>
Number value_at(analysis::Element element, const void* base, std::uint64_t index) {
  const std::uint64_t pattern = pattern_at(base, analysis::bits_of(element), index);
  if constexpr (std::is_same_v<Number, double>) {
    return to_real(element, pattern);
  } else {
    return to_integer(element, pattern);
  }
}

/// Of F16, Bf16, F32 and F64; every NaN is the canonical one of its type (F64's stay).
std::uint64_t from_real(analysis::Element element, double value);

}  // namespace cucore::cpu::device_library
