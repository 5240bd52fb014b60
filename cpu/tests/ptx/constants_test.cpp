// Literals and constant expressions.
#include <bit>

#include "cpu/tests/ptx/sources.hpp"

namespace cucore::cpu::ptx {
namespace {

/// The value of `expression` as the operand of a 64-bit move.
std::uint64_t value_of(const std::string& expression) {
  const ParseResult result = accept(kernel_of("mov.u64 %rd1, " + expression + ";"));
  if (result.module == nullptr) return 0xdead;
  const Operand& operand = function(result, "k").body[0].operands[1];
  EXPECT_EQ(operand.kind, Operand::Kind::Integer) << expression;
  return operand.integer;
}

Operand float_of(const std::string& literal) {
  const ParseResult result = accept(kernel_of("mov.f64 %fd1, " + literal + ";"));
  return result.module == nullptr ? Operand() : function(result, "k").body[0].operands[1];
}

TEST(PtxConstants, integers_have_every_base) {
  EXPECT_EQ(value_of("0"), 0U);
  EXPECT_EQ(value_of("42"), 42U);
  EXPECT_EQ(value_of("017"), 15U);
  EXPECT_EQ(value_of("0x1F"), 31U);
  EXPECT_EQ(value_of("0Xff"), 255U);
  EXPECT_EQ(value_of("0b101"), 5U);
  EXPECT_EQ(value_of("7U"), 7U);
  EXPECT_EQ(value_of("18446744073709551615"), ~std::uint64_t{0});
  EXPECT_EQ(value_of("WARP_SZ"), 32U);
}

TEST(PtxConstants, operators_bind_as_in_c) {
  EXPECT_EQ(value_of("4+5*2"), 14U);
  EXPECT_EQ(value_of("(4+5)*2"), 18U);
  EXPECT_EQ(value_of("20-4-3"), 13U);
  EXPECT_EQ(value_of("1<<4|1"), 17U);
  EXPECT_EQ(value_of("7&3^1"), 2U);
  EXPECT_EQ(value_of("1+1==2&&3>2"), 1U);
  EXPECT_EQ(value_of("0||4<=3"), 0U);
  EXPECT_EQ(value_of("7 % 4"), 3U);
  EXPECT_EQ(value_of("5>3 ? 10 : 20"), 10U);
  EXPECT_EQ(value_of("0 ? 10 : 0 ? 20 : 30"), 30U);
  EXPECT_EQ(value_of("~0"), ~std::uint64_t{0});
  EXPECT_EQ(value_of("!5+1"), 1U);
  EXPECT_EQ(value_of("-(3)*2"), static_cast<std::uint64_t>(-6));
  EXPECT_EQ(value_of("WARP_SZ*2"), 64U);
}

TEST(PtxConstants, one_unsigned_operand_makes_arithmetic_unsigned) {
  EXPECT_EQ(value_of("-8/2"), static_cast<std::uint64_t>(-4));
  EXPECT_EQ(value_of("-8/2U"), static_cast<std::uint64_t>(-8) / 2);
  EXPECT_EQ(value_of("-1<0"), 1U);
  EXPECT_EQ(value_of("-1<0U"), 0U);
  EXPECT_EQ(value_of("-8>>1"), static_cast<std::uint64_t>(-4));
  EXPECT_EQ(value_of("(.u64)-8>>1"), static_cast<std::uint64_t>(-8) >> 1);
  EXPECT_EQ(value_of("(.s64)8/-3"), static_cast<std::uint64_t>(-2));
}

TEST(PtxConstants, arithmetic_that_traps_on_hosts_has_a_value) {
  EXPECT_EQ(value_of("(-9223372036854775807-1)/-1"), std::uint64_t{1} << 63);
  EXPECT_EQ(value_of("(-9223372036854775807-1)%-1"), 0U);
  EXPECT_EQ(value_of("1<<64"), 0U);
  EXPECT_EQ(value_of("-1>>99"), ~std::uint64_t{0});
  EXPECT_EQ(value_of("9223372036854775807+1"), std::uint64_t{1} << 63);
}

TEST(PtxConstants, floating_point_literals_keep_their_bits) {
  EXPECT_EQ(float_of("0d3FF8000000000000").float_bits, std::bit_cast<std::uint64_t>(1.5));
  EXPECT_FALSE(float_of("0d3FF8000000000000").is_single);
  EXPECT_EQ(float_of("0f3fc00000").float_bits, 0x3fc00000U);
  EXPECT_TRUE(float_of("0F3FC00000").is_single);
  EXPECT_EQ(float_of("1.5e-3").float_bits, std::bit_cast<std::uint64_t>(1.5e-3));
  EXPECT_EQ(float_of(".5").float_bits, std::bit_cast<std::uint64_t>(0.5));
  EXPECT_EQ(float_of("5.").float_bits, std::bit_cast<std::uint64_t>(5.0));
  EXPECT_EQ(float_of("-1e3").float_bits, std::bit_cast<std::uint64_t>(-1000.0));
  EXPECT_EQ(float_of("1.0+2.0*3.0").float_bits, std::bit_cast<std::uint64_t>(7.0));
  EXPECT_EQ(float_of("0d7FF8000000000001").float_bits, 0x7FF8000000000001U);
}

TEST(PtxConstants, bad_literals_and_expressions_are_refused) {
  const std::pair<const char*, const char*> cases[] = {
      {"09", "octal"},
      {"0x", "no digits"},
      {"0x1G", "runs into a name"},
      {"123L", "name"},
      {"0b12", "binary"},
      {"1/0", "division by zero"},
      {"1 % 0", "division"},
      {"0f3f8", "eight"},
      {"0d3ff", "sixteen"},
      {"0f3f8000000", "runs"},
      {"1.5&2", "needs integers"},
      {"~1.5", "needs an integer"},
      {"(1", "')'"},
      {"1?2", "':'"},
      {"0f3f800000+1", "0f constant"},
      {"'a'", "does not belong"},
      {"1+", "a constant"},
      {"(.s64)1.5", "cast"},
  };
  for (const auto& [expression, message] : cases) {
    const std::string text = refuse(kernel_of(std::string("mov.u64 %rd1, ") + expression + ";"));
    EXPECT_NE(text.find(message), std::string::npos) << expression << ": " << text;
  }
}

}  // namespace
}  // namespace cucore::cpu::ptx
