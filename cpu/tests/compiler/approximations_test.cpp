// Functions with a stated error: within it over all mantissas and all magnitudes, and the same bits in each form and
// for each processor.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "cpu/tests/compiler/stand_in.hpp"

namespace cucore::cpu {

namespace {

constexpr std::uint32_t threads_of_block = 256;

/// All mantissas of [1, 2), then 2^20 patterns of all signs and magnitudes.
std::vector<float> arguments() {
  std::vector<float> all;
  for (std::uint32_t n = 0; n < 1U << 23; ++n) all.push_back(std::bit_cast<float>(0x3f800000 | n));
  for (std::uint32_t n = 0; n < 1U << 20; ++n) all.push_back(std::bit_cast<float>(n * 4093));
  return all;
}

std::vector<float> run(const std::string& instruction, FormOfCode form, const std::string& march,
                       const std::vector<float>& in) {
  TestModule module(
      ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 in, .param .u64 out)\n{\n"
      ".reg .u32 %r<4>;\n.reg .u64 %a<4>;\n.reg .f32 %f<4>;\nld.param.u64 %a0, [in];\nld.param.u64 %a1, [out];\n"
      "mov.u32 %r0, %tid.x;\nmov.u32 %r1, %ctaid.x;\nmad.lo.u32 %r0, %r1, 256, %r0;\n"
      "mad.wide.u32 %a0, %r0, 4, %a0;\nmad.wide.u32 %a1, %r0, 4, %a1;\nld.global.f32 %f0, [%a0];\n" +
          instruction + " %f1, %f0;\nst.global.f32 [%a1], %f1;\nret;\n}\n",
      form);
  module.march = march;
  std::vector<float> out(in.size());
  module.launch("k", {static_cast<std::uint32_t>(in.size() / threads_of_block), 1, 1}, {threads_of_block, 1, 1},
                in.data(), out.data());
  EXPECT_EQ(module.refusal, "");
  return out;
}

/// `Error(argument, result)`: in units of what is allowed; not a number if the result must not be that.
template <typename Error>
void check(const std::string& instruction, const Error& error) {
  const std::vector<float> in = arguments();
  const std::vector<float> reference = run(instruction, FormOfCode::Scalar, "", in);
  for (std::size_t n = 0; n < in.size(); ++n)
    ASSERT_LE(error(in[n], reference[n]), 1) << instruction << " of " << in[n] << " is " << reference[n];
  for (const auto& [form, march] : {std::pair<FormOfCode, const char*>{FormOfCode::Vector, ""},
                                    {FormOfCode::Masked, ""},
                                    {FormOfCode::Scalar, plain_processor},
                                    {FormOfCode::Vector, plain_processor}}) {
    const std::vector<float> mine = run(instruction, form, march, in);
    for (std::size_t n = 0; n < in.size(); ++n) {
      if (std::isnan(reference[n]) && std::isnan(mine[n])) continue;
      ASSERT_EQ(std::bit_cast<std::uint32_t>(mine[n]), std::bit_cast<std::uint32_t>(reference[n]))
          << instruction << " of " << in[n] << " for " << march;
    }
  }
}

/// Of a result whose relative error is allowed to be this; the same infinity, zero or no number where that is due.
double relative(double exact, float result, double allowed) {
  if (std::isnan(exact)) return std::isnan(result) ? 0 : 2;
  if (std::isinf(exact) || exact == 0) return result == exact && std::signbit(result) == std::signbit(exact) ? 0 : 2;
  return std::fabs(result - exact) / std::max(std::fabs(exact) * allowed, 0x1p-149);
}

}  // namespace

TEST(Approximations, of_base_two_logarithms_are_within_two_units) {
  check("lg2.approx.f32",
        [](float a, float result) { return relative(std::log2(static_cast<double>(a)), result, 0x1p-22); });
}

TEST(Approximations, of_powers_of_two_are_within_one_unit) {
  check("ex2.approx.f32", [](float a, float result) {
    const double exact = std::exp2(static_cast<double>(a));
    if (exact >= 0x1.ffffffp127) return result == INFINITY ? 0.0 : 2.0;
    if (exact < 0x1p-150) return result == 0 ? 0.0 : 2.0;
    return relative(exact, result, 0x1p-23);
  });
}

TEST(Approximations, of_sines_and_cosines_are_within_two_units_up_to_two_to_the_forty_five) {
  const auto of = [](double (*function)(double)) {
    return [function](float a, float result) {
      if (std::fabs(a) <= 0x1p45F || !std::isfinite(a))
        return relative(function(static_cast<double>(a)), result, 0x1p-22);
      return static_cast<double>(std::fabs(result));
    };
  };
  check("sin.approx.f32", of(std::sin));
  check("cos.approx.f32", of(std::cos));
}

TEST(Approximations, of_hyperbolic_tangents_are_within_two_units) {
  check("tanh.approx.f32",
        [](float a, float result) { return relative(std::tanh(static_cast<double>(a)), result, 0x1p-22); });
}

}  // namespace cucore::cpu
