// Divisions of integers in the vector form, which has them as doubles: the same bits as in the scalar form.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "cpu/tests/compiler/stand_in.hpp"
#include "cpu/tests/compiler/vector/kernels.hpp"

namespace cucore::cpu {

TEST(VectorForm, divides_only_where_lanes_have_come_to_the_division) {
  // Thread 0 would divide by zero; which lanes do is known at compile time, the dividend is not.
  const std::string text = kernel(
      "mov.u32 %r1, 77;\nld.global.u32 %r2, [%a1];\nadd.u32 %r2, %r2, 12345;\nsetp.lt.u32 %p0, %r0, 2;\n"
      "@%p0 bra L2;\nmov.u32 %r3, 4;\nL1: ld.volatile.global.u32 %r4, [%a1];\nadd.u32 %r2, %r2, %r4;\n"
      "sub.u32 %r3, %r3, 1;\nsetp.ne.u32 %p1, %r3, 0;\n@%p1 bra L1;\nrem.s32 %r1, %r2, %r0;\nL2:\n");
  for (const unsigned threads : {32U, 128U})
    EXPECT_EQ(run_form(text, FormOfCode::Vector, threads), run_form(text, FormOfCode::Scalar, threads));
}

TEST(VectorForm, divides_integers_as_the_scalar_form_does) {
  // Of all sizes, by zero and by minus one too, and multiples of the divisor, one less and one more.
  for (const char* const type : {"u32", "s32", "u16", "s16"}) {
    for (const char* const operation : {"div", "rem"}) {
      const std::string bits = std::string(type).substr(1);
      std::string body = "mov.u32 %r1, 0;\n.reg .b16 %h<3>;\n";
      for (unsigned n = 0; n < 12; ++n) {
        const std::string factor = std::to_string(0x9e3779b1U + 0x3c6ef372U * n);
        body += "mad.lo.u32 %r2, %r0, " + factor + ", " + std::to_string(n) + ";\n";
        body += "and.b32 %r4, %r0, 31;\nmul.lo.u32 %r3, %r2, 0x85ebca6b;\n";
        body += (n % 2 != 0 ? "shr.u32" : "shr.s32") + std::string(" %r3, %r3, %r4;\n");
        if (n % 4 != 0)
          body += "shr.u32 %r2, %r2, %r4;\nmad.lo.u32 %r2, %r2, %r3, " + std::to_string(n % 4 - 2U) + ";\n";
        if (n == 6) body += "mov.u32 %r2, 0x80000000;\nmov.u32 %r3, %r0;\nsub.u32 %r3, %r3, 9;\n";
        const std::string what = std::string(operation) + "." + type;
        body += bits == "32" ? what + " %r4, %r2, %r3;\n"
                             : "cvt.u16.u32 %h0, %r2;\ncvt.u16.u32 %h1, %r3;\n" + what +
                                   " %h2, %h0, %h1;\ncvt.u32.u16 %r4, %h2;\n";
        body += "mad.lo.u32 %r1, %r1, 31, %r4;\n";
      }
      const std::string text = kernel(body);
      std::string refusal;
      EXPECT_EQ(run_form(text, FormOfCode::Vector, 1024, &refusal), run_form(text, FormOfCode::Scalar, 1024)) << type;
      EXPECT_EQ(refusal, "");
      EXPECT_EQ(run_form(text, FormOfCode::Masked, 1000), run_form(text, FormOfCode::Scalar, 1000)) << type;
    }
  }
}

TEST(VectorForm, divides_integers_by_one_divisor_as_the_scalar_form_does) {
  // Multiples of the divisor, one less and one more, where a reciprocal's last bit decides; and any dividends.
  const std::vector<std::uint32_t> divisors{0,          1,          2,          3,          5,          7,
                                            10,         49,         641,        12345,      65535,      65537,
                                            16777215,   33554433,   715827883,  0x7fffffff, 0x80000000, 0x80000001,
                                            0xaaaaaaab, 0xfffffff7, 0xfffffffe, 0xffffffff};
  for (const char* const type : {"u32", "s32", "u16", "s16"}) {
    for (const char* const operation : {"div", "rem"}) {
      const bool is_short = std::string(type).substr(1) == "16";
      const std::string what = std::string(operation) + "." + type;
      std::string body = "mov.u32 %r1, 0;\n.reg .b16 %h<3>;\n";
      for (const std::uint32_t divisor : divisors) {
        // Known only when it runs: that the block's number on y is 0.
        body += "mov.u32 %r3, %ctaid.y;\nxor.b32 %r3, %r3, " + std::to_string(divisor) + ";\n";
        for (const std::uint32_t factor : {0U, 1U, 0x9e3779b1U}) {
          body += "mul.lo.u32 %r2, %r0, " + std::to_string(factor) + ";\nmul.lo.u32 %r2, %r2, %r3;\n";
          body += "rem.u32 %r4, %r0, 3;\nadd.u32 %r2, %r2, %r4;\nsub.u32 %r2, %r2, 1;\n";
          if (factor == 0x9e3779b1U) body += "mul.lo.u32 %r2, %r0, 0x85ebca6b;\n";
          body += is_short ? "cvt.u16.u32 %h0, %r2;\ncvt.u16.u32 %h1, %r3;\n" + what +
                                 " %h2, %h0, %h1;\ncvt.u32.u16 %r4, %h2;\n"
                           : what + " %r4, %r2, %r3;\n";
          body += "mad.lo.u32 %r1, %r1, 31, %r4;\n";
        }
      }
      const std::string text = kernel(body);
      std::string refusal;
      EXPECT_EQ(run_form(text, FormOfCode::Vector, 1024, &refusal), run_form(text, FormOfCode::Scalar, 1024)) << what;
      EXPECT_EQ(refusal, "");
      EXPECT_EQ(run_form(text, FormOfCode::Masked, 1000), run_form(text, FormOfCode::Scalar, 1000)) << what;
    }
  }
}

}  // namespace cucore::cpu
