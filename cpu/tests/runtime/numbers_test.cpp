// What the checker of numbers says of a result, which results it asks about, and where it is told to be quiet.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <initializer_list>
#include <limits>
#include <string>
#include <vector>

#include "cpu/analysis/instructions/number_checks.hpp"
#include "cpu/ptx/parser.hpp"
#include "cpu/runtime/checker/number_values.hpp"
#include "cpu/runtime/checker/quiet_places.hpp"

namespace {

using namespace cucore::cpu;
using namespace cucore::cpu::runtime;
using analysis::NumberFormat;
using analysis::NumberOperation;
using analysis::NumberTest;

constexpr float inf = std::numeric_limits<float>::infinity();

std::uint64_t bits(float value) { return std::bit_cast<std::uint32_t>(value); }

Computed computed(NumberOperation operation, float result, std::initializer_list<float> operands,
                  std::uint8_t flags = 0) {
  Computed made{};
  made.test = {.operation = operation, .result = NumberFormat::F32, .source = NumberFormat::F32, .flags = flags};
  made.result = number_of(NumberFormat::F32, bits(result));
  for (const float each : operands) made.operands[made.count++] = number_of(NumberFormat::F32, bits(each));
  return made;
}

TEST(numbers, of_small_formats_are_what_their_bits_say) {
  EXPECT_EQ(number_of(NumberFormat::F16, 0x3c00).value, 1);
  EXPECT_EQ(number_of(NumberFormat::F16, 0x7bff).value, 65504);
  EXPECT_TRUE(number_of(NumberFormat::F16, 0xfc00).is_infinite());
  EXPECT_TRUE(number_of(NumberFormat::F16, 0x7e00).is_nan());
  EXPECT_TRUE(number_of(NumberFormat::F16, 1).is_subnormal);
  EXPECT_EQ(number_of(NumberFormat::Bf16, 0xc040).value, -3);
  EXPECT_EQ(number_of(NumberFormat::E4m3, 0x7e).value, 448);
  EXPECT_TRUE(number_of(NumberFormat::E4m3, 0x7f).is_nan());
  EXPECT_EQ(number_of(NumberFormat::E5m2, 0x7b).value, 57344);
  EXPECT_TRUE(number_of(NumberFormat::E5m2, 0x7c).is_infinite());
}

TEST(numbers, that_are_made_are_told_from_those_that_are_handed_on) {
  using enum NumberOperation;
  const float nan = std::nanf("");
  EXPECT_EQ(judge(computed(Subtract, nan, {inf, inf})), NumberEvent::Nan);
  EXPECT_EQ(judge(computed(Subtract, nan, {nan, 1})), NumberEvent::Handed);
  EXPECT_EQ(judge(computed(Multiply, inf, {3e38F, 10})), NumberEvent::Overflow);
  EXPECT_EQ(judge(computed(Multiply, inf, {inf, 10})), NumberEvent::Handed);
  EXPECT_EQ(judge(computed(Divide, inf, {1, 0})), NumberEvent::DivisionByZero);
  EXPECT_EQ(judge(computed(Divide, inf, {1, 1e-40F}, NumberTest::flushes)), NumberEvent::DivisionByZero);
  EXPECT_EQ(judge(computed(Divide, inf, {3e38F, 1e-5F})), NumberEvent::Overflow);
  EXPECT_EQ(judge(computed(Logarithm, -inf, {0})), NumberEvent::DivisionByZero);
  EXPECT_EQ(judge(computed(Multiply, 1e-40F, {1e-20F, 1e-20F})), NumberEvent::Underflow);
  EXPECT_EQ(judge(computed(Multiply, 1e-40F, {1e-40F, 1})), NumberEvent::Nothing);
  EXPECT_EQ(judge(computed(Multiply, 0, {1e-30F, 1e-30F})), NumberEvent::Underflow);
  EXPECT_EQ(judge(computed(Multiply, 0, {1e-40F, 1}, NumberTest::flushes)), NumberEvent::Nothing);
  EXPECT_EQ(judge(computed(Exponential, 0, {-inf})), NumberEvent::Nothing);
  EXPECT_EQ(judge(computed(Exponential, 0, {-200})), NumberEvent::Underflow);
}

TEST(numbers, that_cancel_have_two_bits_left_and_are_no_integers) {
  using enum NumberOperation;
  const float one = std::nextafterf(1.5F, 2);
  EXPECT_EQ(judge(computed(Subtract, one - 1.5F, {one, 1.5F}, NumberTest::may_cancel)), NumberEvent::Cancellation);
  EXPECT_EQ(judge(computed(Subtract, one - 1.5F, {one, 1.5F})), NumberEvent::Nothing);
  EXPECT_EQ(judge(computed(Subtract, 1, {8388609, 8388608}, NumberTest::may_cancel)), NumberEvent::Nothing);
  EXPECT_EQ(judge(computed(Subtract, 0, {one, one}, NumberTest::may_cancel)), NumberEvent::Nothing);
  EXPECT_EQ(equation(computed(Add, 1.5F, {3, -1.5F})), "3 + (-1.5) = 1.5");
}

/// The checks of a kernel with these instructions.
analysis::NumberChecks checks_of(const ptx::ParseResult& parsed) {
  return analysis::NumberChecks(parsed.module->functions[0]);
}

ptx::ParseResult kernel(const std::string& body) {
  ptx::ParseResult parsed = ptx::parse(
      ".version 8.6\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 p) {\n"
      ".reg .b32 %f<9>; .reg .pred %q; .reg .b64 %d;\n" +
      body + "ret;\n}\n");
  EXPECT_NE(parsed.module, nullptr);
  return parsed;
}

TEST(number_checks, leave_out_what_is_spelt_as_infinite) {
  const ptx::ParseResult parsed =
      kernel("fma.rn.f32 %f1, %f2, 0f7F800000, 0f7F800000;\nadd.f32 %f1, %f2, 0f3F800000;\n");
  EXPECT_EQ(checks_of(parsed).at(0), nullptr);
  EXPECT_NE(checks_of(parsed).at(1), nullptr);
}

TEST(number_checks, look_at_a_result_that_is_chosen_where_it_is_chosen) {
  const ptx::ParseResult parsed = kernel("rcp.rn.f32 %f1, %f2;\nselp.f32 %f3, %f4, %f1, %q;\nadd.f32 %f5, %f3, %f3;\n");
  const analysis::NumberChecks checks = checks_of(parsed);
  EXPECT_EQ(checks.at(0), nullptr);
  ASSERT_NE(checks.chosen_at(1), nullptr);
  EXPECT_EQ(checks.chosen_at(1)->front().producer, 0U);
  EXPECT_FALSE(checks.chosen_at(1)->front().if_true);
  EXPECT_NE(checks.at(2), nullptr);
  EXPECT_TRUE(checks.format_of(parsed.module->functions[0].body[1].operands[1].reg).has_value()) << "by way of selp";
}

TEST(number_checks, take_the_sum_of_two_products_for_a_difference_of_rounded_numbers) {
  const auto may_cancel = [](const std::string& body) {
    const ptx::ParseResult parsed = kernel(body);
    const ptx::Function& function = parsed.module->functions[0];
    return checks_of(parsed)
        .any_at(static_cast<std::uint32_t>(function.body.size()) - 2)
        ->test.has(NumberTest::may_cancel);
  };
  EXPECT_TRUE(may_cancel("mul.f32 %f1, %f2, %f3;\nneg.f32 %f7, %f1;\nfma.rn.f32 %f4, %f5, %f6, %f7;\n"));
  EXPECT_FALSE(may_cancel("mul.f32 %f1, %f5, %f6;\nneg.f32 %f7, %f1;\nfma.rn.f32 %f4, %f5, %f6, %f7;\n"));
  EXPECT_FALSE(may_cancel("fma.rn.f32 %f4, %f5, %f6, %f7;\n"));
}

TEST(quiet_places, name_kernels_files_lines_and_events) {
  std::vector<std::string> errors;
  const std::vector<QuietPlace> places = parse_quiet_places(
      "softmax, reduce_*  # on purpose\nattention.cu:40-60\nunderflow+nan=k.cu:7, cancellation=*", errors);
  EXPECT_TRUE(errors.empty());
  ASSERT_EQ(places.size(), 5U);
  EXPECT_TRUE(places[0].covers(NumberEvent::Nan, "softmax", "a.cu", 1));
  EXPECT_FALSE(places[0].covers(NumberEvent::Nan, "softmax2", "a.cu", 1));
  EXPECT_TRUE(places[0].covers(NumberEvent::Nan, "void softmax<float>(float*)", "a.cu", 1));
  EXPECT_TRUE(places[1].covers(NumberEvent::Nan, "reduce_max", "a.cu", 1));
  EXPECT_TRUE(places[2].covers(NumberEvent::Nan, "k", "/src/attention.cu", 60));
  EXPECT_FALSE(places[2].covers(NumberEvent::Nan, "k", "/src/attention.cu", 61));
  EXPECT_FALSE(places[2].covers(NumberEvent::Nan, "k", "/src/my_attention.cu", 50));
  EXPECT_TRUE(places[3].covers(NumberEvent::Underflow, "k", "k.cu", 7));
  EXPECT_FALSE(places[3].covers(NumberEvent::Overflow, "k", "k.cu", 7));
  EXPECT_TRUE(places[4].covers(NumberEvent::Cancellation, "any", "", 0));
}

TEST(quiet_places, that_say_nothing_are_errors) {
  for (const char* const wrong : {"nn=k", "nan="}) {
    std::vector<std::string> errors;
    EXPECT_TRUE(parse_quiet_places(wrong, errors).empty()) << wrong;
    EXPECT_EQ(errors.size(), 1U) << wrong;
  }
}

}  // namespace
