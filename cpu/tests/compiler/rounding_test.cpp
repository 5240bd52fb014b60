// Arithmetic in every rounding, flushed and not, in each form and compiled for processors with rounding in their
// instructions and without, against the C library in the processor's mode.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cfenv>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <random>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "cpu/tests/compiler/stand_in.hpp"

namespace cucore::cpu {

namespace {

enum class Operation { Add, Sub, Mul, Div, Rcp, Sqrt, Fma };
constexpr std::pair<Operation, const char*> operations[] = {
    {Operation::Add, "add"}, {Operation::Sub, "sub"},   {Operation::Mul, "mul"}, {Operation::Div, "div"},
    {Operation::Rcp, "rcp"}, {Operation::Sqrt, "sqrt"}, {Operation::Fma, "fma"}};
constexpr std::pair<const char*, int> modes[] = {
    {"rn", FE_TONEAREST}, {"rm", FE_DOWNWARD}, {"rp", FE_UPWARD}, {"rz", FE_TOWARDZERO}};

template <typename Float>
using Bits = std::conditional_t<sizeof(Float) == 4, std::uint32_t, std::uint64_t>;

unsigned operands_of(Operation operation) {
  return operation == Operation::Fma ? 3 : operation == Operation::Rcp || operation == Operation::Sqrt ? 1 : 2;
}

template <typename Float>
Float flushed(Float value) {
  return std::fpclassify(value) == FP_SUBNORMAL ? std::copysign(Float{0}, value) : value;
}

/// As the C library has it, which obeys the processor's mode.
template <typename Float>
Float result_of(Operation operation, const volatile Float& a, const volatile Float& b, const volatile Float& c) {
  switch (operation) {
    case Operation::Add:
      return a + b;
    case Operation::Sub:
      return a - b;
    case Operation::Mul:
      return a * b;
    case Operation::Div:
      return a / b;
    case Operation::Rcp:
      return Float{1} / a;
    case Operation::Sqrt:
      return std::sqrt(Float{a});
    default:
      return std::fma(Float{a}, Float{b}, Float{c});
  }
}

/// Whether the result would be less than the least normal number if rounding knew no least exponent: GPUs, which flush
/// what they have rounded, flush that. Processors do not agree on it.
bool is_small(Operation operation, float a, float b, float c) {
  const volatile double wide[] = {a, b, c};
  const volatile double result = result_of<double>(operation, wide[0], wide[1], wide[2]);
  const volatile double moved = result * 0x1p100;
  const volatile float rounded = static_cast<float>(moved);
  return std::fabs(rounded) < 0x1p-26F;
}

/// Flushing decides after rounding.
template <typename Float>
Float expected_of(Operation operation, int mode, bool flushes, const Float* own) {
  volatile Float a = flushes ? flushed(own[0]) : own[0];
  volatile Float b = flushes ? flushed(own[1]) : own[1];
  volatile Float c = flushes ? flushed(own[2]) : own[2];
  std::fesetround(mode);
  volatile Float result = result_of<Float>(operation, a, b, c);  // written, and the operands read, in that mode
  if constexpr (sizeof(Float) == sizeof(float))
    if (flushes && is_small(operation, a, b, c)) result = std::copysign(Float{0}, Float{result});
  std::fesetround(FE_TONEAREST);
  return result;
}

/// Three for each thread, one after the other: the ends of the range and zeros in all combinations; then, of all
/// magnitudes, sums that cancel, that nearly do, and any; at last products, quotients and sums about the least normal
/// number.
template <typename Float>
std::vector<Float> operands_of_threads() {
  using Limits = std::numeric_limits<Float>;
  const Float tiny = std::ldexp(Float{1.5}, (Limits::min_exponent - Limits::digits) / 2);
  std::vector<Float> ends{0, 1, Limits::denorm_min(), Limits::min(), Limits::max(), Limits::infinity(), tiny};
  for (std::size_t n = ends.size(); n > 0; --n) ends.push_back(-ends[n - 1]);
  ends.push_back(Limits::quiet_NaN());
  std::vector<Float> operands;
  for (const Float a : ends) {
    for (const Float b : ends) {
      for (const Float c : ends) operands.insert(operands.end(), {a, b, c});
    }
  }
  std::mt19937_64 random(1);
  const auto any = [&] { return std::bit_cast<Float>(static_cast<Bits<Float>>(random())); };
  for (unsigned n = 0; n < 6000; ++n) {
    const Float a = any();
    const Float b = any();
    const Float steps[] = {
        -a * b, std::nextafter(-a * b, Float{0}), std::ldexp(-a * b, 1), std::ldexp(-a * b, -30), any(), any()};
    operands.insert(operands.end(), {a, b, steps[n % std::size(steps)]});
  }
  const auto significand = [&] { return 1 + std::ldexp(static_cast<Float>(random() >> 40), -24); };
  for (unsigned n = 0; n < 6000; ++n) {
    const int exponent = static_cast<int>(random() % 200) - 100;
    const Float a = std::ldexp(significand(), exponent);
    const Float near_least =
        std::ldexp(1 + Limits::epsilon() * (static_cast<Float>(random() % 9) - 4) / 2, Limits::min_exponent - 1);
    const Float quotient = near_least / a;
    const Float parts[] = {0, std::ldexp(significand(), Limits::min_exponent - 2), -near_least / 2,
                           std::ldexp(significand(), Limits::min_exponent + static_cast<int>(random() % 20))};
    const Float c = parts[n % std::size(parts)];
    const Float inverse = a / near_least;
    operands.insert(operands.end(), {a, n % 8 < 4 ? (near_least - c) / a : n % 2 == 0 ? quotient : inverse, c});
  }
  operands.resize(operands.size() / 96 * 96);
  return operands;
}

/// Loads three operands and stores %f3.
std::string rounding_kernel(const std::string& body, bool is_single) {
  const std::string size = is_single ? "4" : "8";
  const std::string type = is_single ? ".f32" : ".f64";
  const std::string bytes[] = {"", "+" + size, is_single ? "+8" : "+16"};
  std::string text =
      ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 in, .param .u64 out)\n{\n"
      ".reg .u32 %r<4>;\n.reg .u64 %a<4>;\n.reg " +
      type +
      " %f<4>;\nld.param.u64 %a0, [in];\nld.param.u64 %a1, [out];\n"
      "mov.u32 %r0, %tid.x;\nmov.u32 %r1, %ctaid.x;\nmad.lo.u32 %r0, %r1, 32, %r0;\nmad.wide.u32 %a0, %r0, " +
      (is_single ? "12" : "24") + ", %a0;\nmad.wide.u32 %a1, %r0, " + size + ", %a1;\n";
  for (unsigned n = 0; n < 3; ++n)
    text += "ld.global" + type + " %f" + std::to_string(n) + ", [%a0" + bytes[n] + "];\n";
  return text + body + "\nst.global" + type + " [%a1], %f3;\nret;\n}\n";
}

std::string instruction(Operation operation, const std::string& spelling) {
  std::string text = spelling + " %f3";
  for (unsigned n = 0; n < operands_of(operation); ++n) text += ", %f" + std::to_string(n);
  return text + ";";
}

template <typename Float>
void check_in_all_forms(const std::string& body, const std::string& march, const std::vector<Float>& operands,
                        const std::vector<Float>& expected) {
  const auto count = static_cast<std::uint32_t>(expected.size());
  for (const FormOfCode form : {FormOfCode::Scalar, FormOfCode::Vector, FormOfCode::Masked}) {
    TestModule module(rounding_kernel(body, sizeof(Float) == 4), form);
    module.march = march;
    std::vector<Float> results(count);
    module.launch("k", {count / 32, 1, 1}, {32, 1, 1}, operands.data(), results.data());
    EXPECT_EQ(module.refusal, "");
    for (std::uint32_t n = 0; n < count; ++n) {
      const Float* const own = &operands[std::size_t{3} * n];
      if (std::isnan(expected[n]) && std::isnan(results[n])) continue;
      ASSERT_EQ(std::bit_cast<Bits<Float>>(results[n]), std::bit_cast<Bits<Float>>(expected[n]))
          << body << " in form " << static_cast<int>(form) << " of " << own[0] << ' ' << own[1] << ' ' << own[2];
    }
  }
}

template <typename Float>
void check(const std::string& march) {
  const std::vector<Float> operands = operands_of_threads<Float>();
  const auto count = static_cast<std::uint32_t>(operands.size() / 3);
  constexpr bool is_single = sizeof(Float) == 4;
  for (const auto& [operation, name] : operations) {
    for (const auto& [suffix, mode] : modes) {
      for (const bool flushes : {false, true}) {
        if (flushes && !is_single) continue;
        const std::string spelling =
            std::string(name) + '.' + suffix + (flushes ? ".ftz" : "") + (is_single ? ".f32" : ".f64");
        std::vector<Float> expected(count);
        for (std::uint32_t n = 0; n < count; ++n)
          expected[n] = expected_of(operation, mode, flushes, &operands[std::size_t{3} * n]);
        check_in_all_forms(instruction(operation, spelling), march, operands, expected);
      }
    }
  }
}

std::string literal(float number) {
  char text[16];
  std::snprintf(text, sizeof text, "0f%08X", std::bit_cast<std::uint32_t>(number));
  return text;
}

}  // namespace

TEST(Rounding, of_floats_is_as_the_instruction_says) { check<float>(""); }
TEST(Rounding, of_floats_is_as_the_instruction_says_where_the_processor_has_none_in_instructions) {
  check<float>(plain_processor);
}
TEST(Rounding, of_doubles_is_as_the_instruction_says) { check<double>(""); }
TEST(Rounding, of_doubles_is_as_the_instruction_says_where_the_processor_has_none_in_instructions) {
  check<double>(plain_processor);
}

TEST(Rounding, of_doubles_to_floats_is_as_the_instruction_says) {
  std::vector<double> operands = operands_of_threads<double>();
  for (std::size_t n = 0; n < operands.size(); n += 3) {  // of the size of floats, and near one or between two
    int exponent = 0;
    if (n % 2 == 0) operands[n] = std::ldexp(std::frexp(operands[n], &exponent), static_cast<int>(n % 290) - 155);
    if (n % 4 == 0)
      operands[n] = std::nextafter(static_cast<double>(static_cast<float>(operands[n])), n % 8 == 0 ? 1 : -1);
  }
  for (const auto& [suffix, mode] : modes) {
    std::vector<double> expected(operands.size() / 3);
    for (std::size_t n = 0; n < expected.size(); ++n) {
      volatile double from = operands[3 * n];
      std::fesetround(mode);
      volatile float to = static_cast<float>(from);
      std::fesetround(FE_TONEAREST);
      expected[n] = static_cast<double>(to);
    }
    const std::string body =
        ".reg .f32 %single;\ncvt." + std::string(suffix) + ".f32.f64 %single, %f0;\ncvt.f64.f32 %f3, %single;";
    check_in_all_forms(body, "", operands, expected);
    check_in_all_forms(body, plain_processor, operands, expected);
  }
}

/// The patterns that halves have: each is its own, and what lies between two goes to the even one.
TEST(Rounding, to_halves_is_to_the_nearest_even) {
  for (const std::string type : {"f16", "bf16"}) {
    const auto value = [&](std::uint32_t pattern) -> double {
      if (type == "bf16") return std::bit_cast<float>(pattern << 16);
      const int exponent = static_cast<int>(pattern >> 10 & 31);
      return exponent == 0 ? std::ldexp(pattern & 1023, -24) : std::ldexp(1024 + (pattern & 1023), exponent - 25);
    };
    std::vector<double> operands;
    std::vector<double> expected;
    for (std::uint32_t pattern = 0; pattern < (type == "f16" ? 0x7bffU : 0x7f7fU); ++pattern) {
      const double low = value(pattern);
      const double high = value(pattern + 1);
      const double middle = low + (high - low) / 2;
      const double from = pattern % 3 == 0 ? middle : std::nextafter(middle, pattern % 3 == 1 ? low : high);
      const double sign = pattern % 5 == 0 ? -1 : 1;
      operands.insert(operands.end(), {sign * from, 0, 0});
      expected.push_back(sign * (from == middle ? (pattern % 2 == 0 ? low : high) : from < middle ? low : high));
    }
    operands.resize(expected.size() / 32 * 96);
    expected.resize(expected.size() / 32 * 32);
    const std::string body = type == "f16" ? ".reg .b16 %h;\ncvt.rn.f16.f64 %h, %f0;\ncvt.f64.f16 %f3, %h;"
                                           : ".reg .b16 %h;\n.reg .b32 %w;\n.reg .f32 %s;\ncvt.rn.bf16.f64 %h, %f0;\n"
                                             "mov.b32 %w, {0, %h};\nmov.b32 %s, %w;\ncvt.f64.f32 %f3, %s;";
    check_in_all_forms(body, "", operands, expected);
    check_in_all_forms(body, plain_processor, operands, expected);
  }
}

/// Where the compiler knows that nothing is flushed, and just beyond.
TEST(Rounding, of_floats_flushes_what_constants_leave_small) {
  for (const float constant : {1.0F, -0x1.fffffep-1F, 0x1.8p60F, 0x1p-70F, -0x1.8p-71F, 0x1.234p-100F, -0x1p-101F,
                               0x1p-120F, 0x1.8p-126F, 0x1.8p-127F, 0.0F, std::numeric_limits<float>::infinity()}) {
    for (const auto& [operation, name] : operations) {
      const unsigned count = operands_of(operation);
      if (count == 1 || operation == Operation::Div) continue;
      std::vector<float> operands = operands_of_threads<float>();
      for (std::size_t n = 0; n < operands.size(); n += 3) {
        const float step =
            1 + std::numeric_limits<float>::epsilon() * static_cast<float>(static_cast<int>(n / 9 % 9) - 4);
        if (n / 3 % 3 != 0) {
          if (operation == Operation::Mul) operands[n] = std::numeric_limits<float>::min() / constant * step;
          if (operation == Operation::Add) operands[n] = -constant * step;
          if (operation == Operation::Sub) operands[n] = constant * step;
          if (operation == Operation::Fma) operands[n + 1] = -constant / operands[n] * step;
        }
        operands[n + count - 1] = constant;
      }
      std::vector<float> expected(operands.size() / 3);
      for (std::size_t n = 0; n < expected.size(); ++n)
        expected[n] = expected_of(operation, FE_TONEAREST, true, &operands[3 * n]);
      std::string given = std::string(name) + ".rn.ftz.f32 %f3, %f0, " + (count == 3 ? "%f1, " : "");
      check_in_all_forms(given + literal(constant) + ";", "", operands, expected);
      check_in_all_forms("mov.f32 %f" + std::to_string(count - 1) + ", " + literal(constant) + ";\n" +
                             instruction(operation, std::string(name) + ".rn.ftz.f32"),
                         "", operands, expected);
    }
  }
}

TEST(Rounding, of_floats_flushes_results_before_they_are_operands) {
  const std::vector<float> operands = operands_of_threads<float>();
  std::vector<float> expected(operands.size() / 3);
  for (std::size_t n = 0; n < expected.size(); ++n) {
    const float product = expected_of(Operation::Mul, FE_TONEAREST, true, &operands[3 * n]);
    const float next[] = {product, 0x1p40F, operands[3 * n + 2]};
    expected[n] = expected_of(Operation::Fma, FE_TONEAREST, true, next);
  }
  check_in_all_forms("mul.rn.ftz.f32 %f0, %f0, %f1;\nfma.rn.ftz.f32 %f3, %f0, 0f53800000, %f2;", "", operands,
                     expected);
  // The same register written once, so that what is known of it counts.
  check_in_all_forms(
      ".reg .f32 %product;\nmul.rn.ftz.f32 %product, %f0, %f1;\n"
      "fma.rn.ftz.f32 %f3, %product, 0f53800000, %f2;",
      "", operands, expected);
}

}  // namespace cucore::cpu
