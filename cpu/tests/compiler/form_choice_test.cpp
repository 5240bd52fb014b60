// Which form of code the automatic choice takes.
#include <gtest/gtest.h>

#include <string>

#include "cpu/abi/checks.hpp"
#include "cpu/tests/compiler/stand_in.hpp"
#include "cpu/tests/compiler/vector/kernels.hpp"

namespace cucore::cpu {

namespace {

/// What the automatic choice makes of a kernel; `refusal` says why where it is the scalar form.
FormOfCode chosen(const std::string& text, unsigned threads, std::string* refusal = nullptr, std::uint32_t checks = 0) {
  TestModule module(text, FormOfCode::Auto);
  module.checks = checks;
  const FormOfCode form = module.compile("k", {threads, 1, 1})->info.form;
  if (refusal != nullptr) *refusal = module.refusal;
  return form;
}

/// A loop with five loads from anywhere and as many more pairs of instructions as said.
std::string wandering_loop(unsigned operations) {
  std::string body =
      "mov.u32 %r1, 0;\nmov.u32 %r3, 8;\nL0: and.b32 %r2, %r0, 15;\nmul.wide.u32 %a2, %r2, 4;\n"
      "add.u64 %a2, %a0, %a2;\n";
  for (const char* const at : {"[%a2]", "[%a2+32]", "[%a2+64]", "[%a2+96]", "[%a2+128]"})
    body += "ld.global.u32 %r0, " + std::string(at) + ";\nadd.u32 %r1, %r1, %r0;\n";
  for (unsigned n = 0; n < operations; ++n)
    body += "mul.lo.u32 %r1, %r1, " + std::to_string(2 * n + 3) + ";\nxor.b32 %r1, %r1, %r0;\n";
  return kernel(body + "sub.u32 %r3, %r3, 1;\nsetp.ne.u32 %p0, %r3, 0;\n@%p0 bra L0;\n");
}

}  // namespace

TEST(ChoiceOfForm, is_the_scalar_one_where_scattered_accesses_weigh_more_than_what_is_done_with_them) {
  std::string refusal;
  EXPECT_EQ(chosen(wandering_loop(0), 64, &refusal), FormOfCode::Scalar);
  EXPECT_EQ(refusal, "its scattered accesses");
  EXPECT_EQ(chosen(wandering_loop(8), 64, &refusal), FormOfCode::Vector);
  EXPECT_EQ(refusal, "");
}

TEST(ChoiceOfForm, is_the_same_with_the_checks_of_memory_and_of_numbers) {
  for (const std::uint32_t checks : {check_class::memory_checks, check_class::number_checks,
                                     check_class::memory_checks | check_class::number_checks}) {
    EXPECT_EQ(chosen(wandering_loop(0), 64, nullptr, checks), FormOfCode::Scalar);
    EXPECT_EQ(chosen(wandering_loop(8), 64, nullptr, checks), FormOfCode::Vector);
  }
}

TEST(ChoiceOfForm, is_the_scalar_one_where_vectors_lack_a_check) {
  auto why = [](const std::string& body, std::uint32_t checks) {
    std::string refusal;
    EXPECT_EQ(chosen(kernel(body), 64, &refusal, checks), FormOfCode::Scalar) << body;
    return refusal;
  };
  const std::string plain = "ld.global.u32 %r1, [%a1];\n";
  for (const std::uint32_t other : {check_class::race_checks, check_class::init_checks, check_class::sync_checks})
    EXPECT_EQ(why(plain, check_class::memory_checks | other), "checks other than of memory");
  const std::string two = ".local .b8 own[16];\n.local .b8 other[16];\nmov.u64 %a2, own;\n";
  const std::string generic = ".local .b8 own[16];\nmov.u64 %a2, own;\ncvta.local.u64 %a2, %a2;\n";
  EXPECT_EQ(why(two + plain, check_class::memory_checks), "checks of local variables");
  EXPECT_EQ(why(generic + plain, check_class::memory_checks), "checks of local variables at PTX line 15");
  EXPECT_EQ(why(".shared .align 16 .b8 all[16];\ncp.async.ca.shared.global [all], [%a1], 4;\n" + plain,
                check_class::memory_checks),
            "checks of cp.async.ca.shared.global at PTX line 14");
}

TEST(ChoiceOfForm, is_vectors_where_neighbours_lie_side_by_side) {
  EXPECT_EQ(chosen(kernel("ld.global.u32 %r1, [%a1];\nadd.u32 %r1, %r1, 1;\n"), 64), FormOfCode::Vector);
}

TEST(ChoiceOfForm, is_vectors_where_lanes_converge_whatever_they_access) {
  std::string text = wandering_loop(0);
  text.insert(text.find("L0:"), "bar.sync 0;\n");
  EXPECT_EQ(chosen(text, 64), FormOfCode::Vector);
}

TEST(ChoiceOfForm, computes_what_both_forms_do) {
  for (const std::string& text : {wandering_loop(0), wandering_loop(8)})
    EXPECT_EQ(run_form(text, FormOfCode::Auto, 64), run_form(text, FormOfCode::Scalar, 64));
}

}  // namespace cucore::cpu
