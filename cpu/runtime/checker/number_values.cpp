// Results and what became of them: see number_values.hpp.
#include "cpu/runtime/checker/number_values.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>

namespace cucore::cpu::runtime {
namespace {

using analysis::bits_of;
using analysis::fraction_bits;
using analysis::NumberFormat;
using analysis::NumberOperation;
using analysis::NumberTest;

/// A format of `exponent` and `fraction` bits whose largest exponent is for infinity and NaN.
Number small_number(NumberFormat format, std::uint64_t bits) {
  const unsigned fraction = fraction_bits(format);
  const unsigned all = bits_of(format);
  const std::uint64_t most = (std::uint64_t{1} << (all - 1 - fraction)) - 1;
  const std::uint64_t exponent = bits >> fraction & most;
  const std::uint64_t rest = bits & ((std::uint64_t{1} << fraction) - 1);
  const int bias = static_cast<int>(most / 2);
  const double sign = (bits >> (all - 1) & 1) != 0 ? -1 : 1;
  const bool has_infinity = format != NumberFormat::E4m3;
  double value = 0;
  if (exponent == most && (has_infinity || rest == 7)) {
    value = rest == 0 && has_infinity ? HUGE_VAL : std::nan("");
  } else if (exponent == 0) {
    value = std::ldexp(static_cast<double>(rest), 1 - bias - static_cast<int>(fraction));
  } else {
    value = std::ldexp(static_cast<double>(rest | std::uint64_t{1} << fraction),
                       static_cast<int>(exponent) - bias - static_cast<int>(fraction));
  }
  return {.value = sign * value, .is_subnormal = exponent == 0 && rest != 0, .format = format};
}

/// Of eight bits.
double smallest_normal_of_eight(NumberFormat format) {
  return format == NumberFormat::E4m3 ? std::ldexp(1, -6) : std::ldexp(1, -14);
}
/// From here on a number is nearer to what would follow the largest.
double first_too_large(NumberFormat format) { return format == NumberFormat::E4m3 ? 464 : 61440; }

bool divides(NumberOperation operation) {
  return operation == NumberOperation::Divide || operation == NumberOperation::Reciprocal ||
         operation == NumberOperation::ReciprocalSquareRoot || operation == NumberOperation::Logarithm;
}

/// What has a pole at zero.
const Number& divisor(const Computed& computed) {
  return computed.operands[computed.test.operation == NumberOperation::Divide ? 1 : 0];
}

bool counts_as_zero(const Number& number, const NumberTest& test) {
  return number.value == 0 || (number.is_subnormal && test.has(NumberTest::flushes));
}

template <typename Question>
bool any_operand(const Computed& computed, const Question& question) {
  return std::any_of(computed.operands, computed.operands + computed.count, question);
}

/// Of a result that is zero.
bool is_underflow_to_zero(const Computed& computed) {
  const auto& [test, result, operands, count] = computed;
  if (any_operand(computed, [&](const Number& each) { return each.is_subnormal && test.has(NumberTest::flushes); }))
    return false;
  const auto value = [&](std::size_t n) { return computed.operands[n].value; };
  switch (test.operation) {
    case NumberOperation::Add:
      return value(0) + value(1) != 0;
    case NumberOperation::Subtract:
      return value(0) - value(1) != 0;
    case NumberOperation::Multiply:
      return value(0) != 0 && value(1) != 0;
    case NumberOperation::MultiplyAdd:
      return value(0) != 0 && value(1) != 0 && (value(2) == 0 || std::fma(value(0), value(1), value(2)) != 0);
    case NumberOperation::Divide:
      return value(0) != 0 && !computed.operands[1].is_special();
    case NumberOperation::Reciprocal:
    case NumberOperation::Exponential:
      return !computed.operands[0].is_special();
    case NumberOperation::Convert:
      return value(0) != 0;
    default:
      return false;
  }
}

NumberEvent judge_eight_bits(const Computed& computed) {
  const Number& source = computed.operands[0];
  if (source.is_special()) return NumberEvent::Handed;
  const double size = std::fabs(source.value);
  if (size >= first_too_large(computed.test.result)) return NumberEvent::Overflow;
  return size != 0 && size < smallest_normal_of_eight(computed.test.result) &&
                 std::fabs(computed.result.value) < smallest_normal_of_eight(computed.test.result)
             ? NumberEvent::Underflow
             : NumberEvent::Nothing;
}

}  // namespace

bool Number::is_nan() const { return std::isnan(value); }
bool Number::is_infinite() const { return std::isinf(value); }

Number number_of(NumberFormat format, std::uint64_t bits) {
  switch (format) {
    case NumberFormat::Unsigned:
      return {.value = static_cast<double>(bits), .format = format};
    case NumberFormat::Signed:
      return {.value = static_cast<double>(static_cast<std::int64_t>(bits)), .format = format};
    case NumberFormat::F64: {
      const auto value = std::bit_cast<double>(bits);
      return {.value = value, .is_subnormal = std::fpclassify(value) == FP_SUBNORMAL, .format = format};
    }
    case NumberFormat::F32: {
      const auto value = std::bit_cast<float>(static_cast<std::uint32_t>(bits));
      return {.value = value, .is_subnormal = std::fpclassify(value) == FP_SUBNORMAL, .format = format};
    }
    default:
      return small_number(format, bits);
  }
}

std::string number_in_words(const Number& number) {
  if (number.is_nan()) return "nan";
  char text[40];
  const int digits = number.format == NumberFormat::F64 ? 17 : number.format == NumberFormat::F32 ? 9 : 5;
  std::snprintf(text, sizeof text, "%.*g", digits, number.value);
  return text;
}

bool is_cancelled(double summand, double sum, unsigned fraction) {
  if (sum == 0 || !std::isfinite(summand) || !std::isfinite(sum)) return false;
  const int lost = static_cast<int>(fraction + 1 - analysis::most_bits_left);
  return std::fabs(summand) > std::ldexp(std::fabs(sum), lost);
}

namespace {

/// Integers that their format holds without a gap are exact.
bool is_small_integer(const Number& number) {
  return number.value == std::trunc(number.value) &&
         std::fabs(number.value) <= std::ldexp(1, static_cast<int>(fraction_bits(number.format)) + 1);
}

bool cancels(const Computed& computed) {
  if (!computed.test.has(NumberTest::may_cancel)) return false;
  const bool is_fma = computed.test.operation == NumberOperation::MultiplyAdd;
  const Number& summand = computed.operands[is_fma ? 2 : 0];
  if (!is_cancelled(summand.value, computed.result.value, fraction_bits(computed.test.result))) return false;
  return is_fma || !is_small_integer(computed.operands[0]) || !is_small_integer(computed.operands[1]);
}

}  // namespace

NumberEvent judge(const Computed& computed) {
  const auto& [test, result, operands, count] = computed;
  if (bits_of(test.result) == 8) return judge_eight_bits(computed);
  if (result.is_nan())
    return any_operand(computed, [](const Number& each) { return each.is_nan(); }) ? NumberEvent::Handed
                                                                                   : NumberEvent::Nan;
  if (result.is_infinite()) {
    if (any_operand(computed, [](const Number& each) { return each.is_special(); })) return NumberEvent::Handed;
    return divides(test.operation) && counts_as_zero(divisor(computed), test) ? NumberEvent::DivisionByZero
                                                                              : NumberEvent::Overflow;
  }
  if (result.is_subnormal)
    return any_operand(computed, [](const Number& each) { return each.is_subnormal; }) ? NumberEvent::Nothing
                                                                                       : NumberEvent::Underflow;
  if (result.value == 0) return is_underflow_to_zero(computed) ? NumberEvent::Underflow : NumberEvent::Nothing;
  return cancels(computed) ? NumberEvent::Cancellation : NumberEvent::Nothing;
}

std::string headline(NumberEvent event, const Computed& computed) {
  switch (event) {
    case NumberEvent::Nan:
      return "NaN made";
    case NumberEvent::Overflow:
      return bits_of(computed.test.result) == 8 && !computed.result.is_special() ? "Overflow to the largest number"
                                                                                 : "Overflow to infinity";
    case NumberEvent::DivisionByZero:
      return computed.test.operation == NumberOperation::Logarithm ? "Logarithm of zero" : "Division by zero";
    case NumberEvent::Underflow:
      return computed.result.value == 0 ? "Underflow to zero" : "Underflow to a subnormal number";
    default:
      return "Catastrophic cancellation";
  }
}

std::string equation(const Computed& computed) {
  const auto text = [&](std::size_t n) {
    const bool needs_brackets = n > 0 && std::signbit(computed.operands[n].value) && !computed.operands[n].is_nan();
    return needs_brackets ? "(" + number_in_words(computed.operands[n]) + ")" : number_in_words(computed.operands[n]);
  };
  const auto call = [&](const char* name) {
    return std::string(name) + "(" + number_in_words(computed.operands[0]) + ")";
  };
  std::string left;
  switch (computed.test.operation) {
    case NumberOperation::Add:
      left = text(0) + " + " + text(1);
      break;
    case NumberOperation::Subtract:
      left = text(0) + " - " + text(1);
      break;
    case NumberOperation::Multiply:
      left = text(0) + " * " + text(1);
      break;
    case NumberOperation::MultiplyAdd:
      left = text(0) + " * " + text(1) + " + " + text(2);
      break;
    case NumberOperation::Divide:
      left = text(0) + " / " + text(1);
      break;
    case NumberOperation::Reciprocal:
      left = "1 / " + text(0);
      break;
    case NumberOperation::SquareRoot:
      left = call("sqrt");
      break;
    case NumberOperation::ReciprocalSquareRoot:
      left = "1 / " + call("sqrt");
      break;
    case NumberOperation::Exponential:
      left = "2^" + call("");
      break;
    case NumberOperation::Logarithm:
      left = call("log2");
      break;
    case NumberOperation::Sine:
      left = call("sin");
      break;
    case NumberOperation::Cosine:
      left = call("cos");
      break;
    case NumberOperation::HyperbolicTangent:
      left = call("tanh");
      break;
    default:
      return number_in_words(computed.operands[0]) + " became " + number_in_words(computed.result);
  }
  return left + " = " + number_in_words(computed.result);
}

}  // namespace cucore::cpu::runtime
