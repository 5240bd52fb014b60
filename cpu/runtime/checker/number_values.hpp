// One floating-point result and its operands: what they are, and what became of them. No state.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "cpu/analysis/instructions/number_checks.hpp"

namespace cucore::cpu::runtime {

/// What the checker has to say of a result.
enum class NumberEvent : std::uint8_t {
  Nothing,
  Nan,
  Overflow,
  DivisionByZero,
  Underflow,
  Cancellation,
  Handed,  ///< NaN or infinite because an operand is
};

/// A number of any format.
struct Number {
  double value = 0;
  bool is_subnormal = false;  ///< in its own format
  analysis::NumberFormat format{};

  bool is_nan() const;
  bool is_infinite() const;
  bool is_special() const { return is_nan() || is_infinite(); }
};

Number number_of(analysis::NumberFormat format, std::uint64_t bits);
std::string number_in_words(const Number& number);

/// A result with the operands that it was made of.
struct Computed {
  analysis::NumberTest test;
  Number result;
  Number operands[3];
  std::size_t count = 0;  ///< of operands
};

NumberEvent judge(const Computed& computed);

/// "1e+30 * 1e+20 = inf"
std::string equation(const Computed& computed);

/// "Overflow to infinity", which a report's headline begins with.
std::string headline(NumberEvent event, const Computed& computed);

/// Nearly nothing is left of `sum`, although what it was made of is no small integer and so perhaps not exact.
bool is_cancelled(double summand, double sum, unsigned fraction_bits);

}  // namespace cucore::cpu::runtime
