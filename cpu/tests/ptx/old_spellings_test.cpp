// What PTX of old leaves unsaid: defaults before ISA 1.4, flushing on sm_1x, parameters in the body of a kernel.
#include "cpu/tests/ptx/sources.hpp"

namespace cucore::cpu::ptx {
namespace {

constexpr const char* registers = "{ .reg .f32 %f<4>; .reg .f64 %d<4>; .reg .u32 %r<4>; .reg .pred %p; ";

Instruction first_of(const std::string& head, const std::string& statement) {
  const ParseResult parsed = accept(head + "\n.entry k " + registers + statement + " exit; }");
  return parsed.module == nullptr ? Instruction{} : parsed.module->functions.front().body.front();
}

TEST(PtxOldSpellings, before_1_4_functions_were_approximate_and_double_precision_rounded_to_nearest) {
  const std::string head = ".version 1.3\n.target sm_13";
  for (const char* text : {"div.f32 %f1, %f2, %f3;", "rcp.f32 %f1, %f2;", "sqrt.f32 %f1, %f2;", "rsqrt.f32 %f1, %f2;",
                           "sin.f32 %f1, %f2;", "ex2.f32 %f1, %f2;", "rsqrt.f64 %d1, %d2;"})
    EXPECT_TRUE(first_of(head, text).has(Modifier::Approx)) << text;
  for (const char* text : {"div.f64 %d1, %d2, %d3;", "mad.f64 %d1, %d2, %d3, %d1;", "sqrt.f64 %d1, %d2;"})
    EXPECT_TRUE(first_of(head, text).has(Modifier::Rn)) << text;
  EXPECT_FALSE(first_of(head, "div.full.f32 %f1, %f2, %f3;").has(Modifier::Approx));
  EXPECT_FALSE(first_of(".version 1.4\n.target sm_13", "div.f32 %f1, %f2, %f3;").has(Modifier::Approx));
}

TEST(PtxOldSpellings, mad_of_single_precision_needs_no_rounding_in_any_version) {
  EXPECT_TRUE(first_of(".version 3.0\n.target sm_20", "mad.f32 %f1, %f2, %f3, %f1;").has(Modifier::Rn));
  EXPECT_FALSE(first_of(".version 3.0\n.target sm_20", "mad.rz.f32 %f1, %f2, %f3, %f1;").has(Modifier::Rn));
  EXPECT_FALSE(first_of(".version 3.0\n.target sm_20", "mad.lo.u32 %r1, %r2, %r3, %r1;").has(Modifier::Rn));
}

TEST(PtxOldSpellings, sm_1x_flushes_subnormals_of_single_precision) {
  EXPECT_TRUE(first_of(".version 1.4\n.target sm_13", "add.f32 %f1, %f2, %f3;").has(Modifier::Ftz));
  EXPECT_TRUE(first_of(".version 1.4\n.target sm_13", "setp.lt.f32 %p, %f2, %f3;").has(Modifier::Ftz));
  EXPECT_TRUE(first_of(".version 1.4\n.target sm_13", "cvt.rn.f32.f64 %f1, %d1;").has(Modifier::Ftz));
  EXPECT_FALSE(first_of(".version 1.4\n.target sm_13", "add.f64 %d1, %d2, %d3;").has(Modifier::Ftz));
  EXPECT_FALSE(first_of(".version 2.0\n.target sm_20", "add.f32 %f1, %f2, %f3;").has(Modifier::Ftz));
  EXPECT_FALSE(first_of(".version 8.6\n.target sm_100", "add.f32 %f1, %f2, %f3;").has(Modifier::Ftz));
}

TEST(PtxOldSpellings, before_1_4_the_parameters_of_a_kernel_stand_in_its_body) {
  const std::string body = "\n.entry k { .param .u64 a; .param .u32 n; .reg .u32 %r; ld.param.u32 %r, [n]; exit; }";
  const ParseResult old = accept(".version 1.3\n.target sm_13" + body);
  EXPECT_EQ(function(old, "k").parameters.size(), 2U);
  const ParseResult later = accept(".version 2.0\n.target sm_20" + body);
  EXPECT_EQ(function(later, "k").parameters.size(), 0U);
}

}  // namespace
}  // namespace cucore::cpu::ptx
