// Directed rounding of fma in both forms, compiled for a processor without rounding in its instructions, against the C
// library.
#include <gtest/gtest.h>

#include <bit>
#include <cfenv>
#include <cmath>
#include <iterator>
#include <limits>
#include <random>
#include <utility>
#include <vector>

#include "cpu/tests/compiler/stand_in.hpp"

namespace cucore::cpu {

namespace {

/// As the C library has it, which obeys the processor's mode.
float rounded_fma(int mode, float a, float b, float c) {
  const volatile float operands[] = {a, b, c};  // read, and the result written, in that mode
  volatile float result = 0;
  std::fesetround(mode);
  result = std::fma(operands[0], operands[1], operands[2]);
  std::fesetround(FE_TONEAREST);
  return result;
}

/// Operands of fma, one after the other: the ends of the range and zeros in all combinations; then, of all magnitudes,
/// sums that cancel, that nearly do, and any.
std::vector<float> fma_operands() {
  using Limits = std::numeric_limits<float>;
  std::vector<float> ends{0.0F,      1.0F, Limits::denorm_min(), Limits::min(), Limits::max(), Limits::infinity(),
                          0x1.8p-75F};
  for (std::size_t n = ends.size(); n > 0; --n) ends.push_back(-ends[n - 1]);
  ends.push_back(Limits::quiet_NaN());
  std::vector<float> operands;
  for (const float a : ends) {
    for (const float b : ends) {
      for (const float c : ends) operands.insert(operands.end(), {a, b, c});
    }
  }
  std::mt19937 random(1);
  for (unsigned n = 0; n < 6000; ++n) {
    const auto any = [&] { return std::bit_cast<float>(static_cast<std::uint32_t>(random())); };
    const float a = any();
    const float b = any();
    const float steps[] = {-a * b, std::nextafter(-a * b, 0.0F), std::ldexp(-a * b, 1), std::ldexp(-a * b, -30), any(),
                           any()};
    operands.insert(operands.end(), {a, b, steps[n % std::size(steps)]});
  }
  return operands;
}

}  // namespace

TEST(Rounding, of_fma_is_as_the_instruction_says_where_the_processor_has_no_rounding_in_instructions) {
  const std::vector<float> operands = fma_operands();
  const auto count = static_cast<std::uint32_t>(operands.size() / 3);
  constexpr std::pair<const char*, int> modes[] = {{"rm", FE_DOWNWARD}, {"rp", FE_UPWARD}, {"rz", FE_TOWARDZERO}};
  for (const auto& [name, mode] : modes) {
    const std::string text =
        ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 in, .param .u64 out)\n{\n"
        ".reg .u32 %r<4>;\n.reg .u64 %a<4>;\n.reg .f32 %f<4>;\nld.param.u64 %a0, [in];\nld.param.u64 %a1, [out];\n"
        "mov.u32 %r0, %tid.x;\nmov.u32 %r1, %ctaid.x;\nmad.lo.u32 %r0, %r1, 32, %r0;\n"
        "mad.wide.u32 %a0, %r0, 12, %a0;\nmad.wide.u32 %a1, %r0, 4, %a1;\nld.global.f32 %f0, [%a0];\n"
        "ld.global.f32 %f1, [%a0+4];\nld.global.f32 %f2, [%a0+8];\nfma." +
        std::string(name) + ".f32 %f3, %f0, %f1, %f2;\nst.global.f32 [%a1], %f3;\nret;\n}\n";
    for (const FormOfCode form : {FormOfCode::Scalar, FormOfCode::Vector}) {
      TestModule module(text, form);
      module.march = "x86-64-v3";
      std::vector<float> results(count);
      module.launch("k", {count / 32, 1, 1}, {32, 1, 1}, operands.data(), results.data());
      EXPECT_EQ(module.refusal, "");
      for (std::uint32_t n = 0; n < count / 32 * 32; ++n) {
        const float* const own = &operands[3 * n];
        const float expected = rounded_fma(mode, own[0], own[1], own[2]);
        if (std::isnan(expected)) {
          ASSERT_TRUE(std::isnan(results[n])) << name << ' ' << own[0] << ' ' << own[1] << ' ' << own[2];
        } else {
          ASSERT_EQ(std::bit_cast<std::uint32_t>(results[n]), std::bit_cast<std::uint32_t>(expected))
              << name << ' ' << own[0] << ' ' << own[1] << ' ' << own[2];
        }
      }
    }
  }
}

}  // namespace cucore::cpu
