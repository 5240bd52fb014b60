// The sums of wgmma in floats, as Hopper makes them: before an addition all products and the sum before are aligned to
// the largest exponent among them and cut off below the bits that are kept. Rows of them at once, in vectors.
#pragma once

#include <cstddef>
#include <cstdint>

#include "cpu/analysis/instructions/matrix_form.hpp"

namespace cucore::cpu::device_library {

/// Bits below the largest exponent that a sum keeps.
constexpr int kept_bits(analysis::Element a) { return analysis::bits_of(a) == 8 ? 13 : 25; }

/// The exponents by which elements are aligned: those of subnormal numbers are the format's least. False if a value is
/// not finite.
bool exponents_of(analysis::Element element, const double* values, std::size_t count, std::int32_t* exponents);

/// One row of a product: its part of A and, for each of its elements, the row of B that it belongs to.
struct RowOfProduct {
  const double* a;
  const std::int32_t* a_exponents;
  std::uint32_t depth;
  const double* b;
  const std::int32_t* b_exponents;
  const std::uint32_t* rows_of_b;
  std::uint32_t columns;  ///< of B
  analysis::Element d;
  int kept;
};

/// Adds the products to the sums of some columns, all of which are finite; `first` and `count` are multiples of eight.
void add_aligned(const RowOfProduct& row, std::uint32_t first, std::uint32_t count, double* sums);

/// The patterns of binary32 that sums are cut off to. `kept` as above, of eight-bit factors; otherwise 0.
void cut_off(const double* sums, std::size_t count, int kept, std::uint32_t* patterns);

}  // namespace cucore::cpu::device_library
