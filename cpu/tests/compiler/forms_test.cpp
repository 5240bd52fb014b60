// Forms that the PTX grammar allows and compilers rarely emit: what inline assembly and other code generators write.
#include <gtest/gtest.h>

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "cpu/analysis/unsupported.hpp"
#include "cpu/tests/compiler/stand_in.hpp"

namespace cucore::cpu {
namespace {

/// A kernel `k` of (in, out) whose threads read 64 bits of their own into %in and write 64 bits from %out.
std::string kernel_with(const std::string& body, const std::string& before = "") {
  return R"(.version 8.7
.target sm_90
.address_size 64
)" + before +
         R"(
.visible .entry k(.param .u64 from, .param .u64 to)
{
  .reg .pred %p<8>;
  .reg .b16 %h<8>;
  .reg .b32 %r<16>, %t;
  .reg .b64 %d<8>, %in, %out, %from, %to;
  ld.param.u64 %from, [from];
  ld.param.u64 %to, [to];
  mov.u32 %t, %tid.x;
  mad.wide.u32 %from, %t, 8, %from;
  mad.wide.u32 %to, %t, 8, %to;
  ld.global.u64 %in, [%from];
  mov.b64 {%r0, %r1}, %in;
  mov.u64 %out, 0;
)" + body +
         R"(
  st.global.u64 [%to], %out;
  ret;
}
)";
}

std::vector<std::uint64_t> run(const std::string& text, std::vector<std::uint64_t> in) {
  TestModule module(text);
  std::vector<std::uint64_t> out(in.size(), 0xdddddddddddddddd);
  module.launch("k", {1}, {static_cast<std::uint32_t>(in.size())}, in.data(), out.data());
  return out;
}

using Values = std::vector<std::uint64_t>;

TEST(CodegenForms, any_instruction_may_be_guarded) {
  const std::string text = kernel_with(R"(
  setp.eq.u32 %p1, %r0, 1;
  @%p1 add.u64 %out, %out, 5;
  @!%p1 mov.u64 %out, 7;
  @%p1 st.global.u64 [%to], 99;
  @!%p1 ret;
  add.u64 %out, %out, 1;)");
  EXPECT_EQ(run(text, {1, 2}), (Values{6, 0xdddddddddddddddd}));
}

TEST(CodegenForms, a_guarded_branch_backwards_makes_a_loop) {
  EXPECT_EQ(run(kernel_with(R"(
again:
  add.u64 %out, %out, %in;
  sub.u64 %in, %in, 1;
  setp.ne.u64 %p1, %in, 0;
  @%p1 bra again;)"),
                {4, 10}),
            (Values{10, 55}));
}

TEST(CodegenForms, an_indexed_branch_takes_the_label_of_its_index_and_traps_beyond_the_list) {
  const std::string text = kernel_with(R"(
  list: .branchtargets zero, one, two;
  brx.idx %r0, list;
zero:
  mov.u64 %out, 10; bra.uni done;
one:
  mov.u64 %out, 11; bra.uni done;
two:
  mov.u64 %out, 12;
done:)");
  EXPECT_EQ(run(text, {2, 0, 1}), (Values{12, 10, 11}));
  EXPECT_EQ(observations().traps, 0);
  EXPECT_EQ(run(text, {3}), (Values{0xdddddddddddddddd}));
  EXPECT_EQ(observations().traps, 1);
}

TEST(CodegenForms, functions_may_take_and_return_registers) {
  const std::string before = R"(
.func (.reg .u32 %sum, .reg .pred %odd) sum_of(.reg .u32 %a, .reg .u32 %b)
{
  .reg .b32 %bit;
  add.u32 %sum, %a, %b;
  and.b32 %bit, %sum, 1;
  setp.ne.u32 %odd, %bit, 0;
  ret;
})";
  EXPECT_EQ(
      run(kernel_with("call (%r2, %p1), sum_of, (%r0, 5);\n  cvt.u64.u32 %out, %r2;\n  @%p1 add.u64 %out, %out, 100;",
                      before),
          {1, 2}),
      (Values{6, 107}));
}

TEST(CodegenForms, results_widen_to_their_register_by_the_sign_of_their_type) {
  EXPECT_EQ(run(kernel_with("cvt.s8.s32 %r2, %r0;\n  cvt.s64.s32 %out, %r2;"), {0x80, 0x17f}),
            (Values{0xffffffffffffff80, 0x7f}));
  EXPECT_EQ(run(kernel_with("ld.global.s16 %out, [%from];"), {0x8001, 0x17fff}), (Values{0xffffffffffff8001, 0x7fff}));
  EXPECT_EQ(run(kernel_with("ld.global.u16 %out, [%from];"), {0x1234518001}), (Values{0x8001}));
}

TEST(CodegenForms, a_store_takes_the_low_bits_of_a_wider_register) {
  EXPECT_EQ(
      run(kernel_with("st.global.u64 [%to], -1;\n  st.global.u8 [%to], %r0;\n  ld.global.u64 %out, [%to];"), {0x1234}),
      (Values{0xffffffffffffff34}));
}

TEST(CodegenForms, vector_registers_load_whole_and_read_by_component) {
  EXPECT_EQ(run(kernel_with(R"(
  .reg .v2 .u32 %v;
  ld.global.v2.u32 %v, [%from];
  cvt.u64.u32 %out, %v.y;
  cvt.u64.u32 %d1, %v.x;
  mad.lo.u64 %out, %out, 1000, %d1;)"),
                {0x0000000300000005}),
            (Values{3005}));
}

TEST(CodegenForms, vector_registers_move_whole_as_lists_and_as_one_value) {
  EXPECT_EQ(run(kernel_with(R"(
  .reg .v2 .u32 %v, %w;
  setp.ne.u32 %p1, %r0, 5;
  mov.b64 %v, %in;
  mov.v2.u32 %w, %v;
  mov.v2.u32 %w, {%w.y, %w.x};
  @%p1 mov.v2.u32 %w, {7, %r0};
  mov.v2.u32 {%r2, %r3}, %w;
  mov.b64 %out, %w;
  xor.b32 %r2, %r2, %r3;
  xor.b32 %r2, %r2, %r0;
  xor.b32 %r2, %r2, %r1;  // 0 unless the guard held
  cvt.u64.u32 %d1, %r2;
  shl.b64 %d1, %d1, 60;
  add.u64 %out, %out, %d1;)"),
                {0x0000000300000005, 0x0000000300000004}),
            (Values{0x0000000500000003, 0x4000000400000007}));
}

TEST(CodegenForms, unwanted_elements_and_results_go_to_the_sink) {
  EXPECT_EQ(run(kernel_with("mov.b64 {_, %r2}, %in;\n  cvt.u64.u32 %out, %r2;\n  atom.global.add.u64 _, [%from], 1;"),
                {0x0000000700000001}),
            (Values{7}));
}

TEST(CodegenForms, halves_pack_and_unpack_into_words) {
  EXPECT_EQ(run(kernel_with(R"(
  mov.b32 {%h1, %h2}, %r0;
  mov.b64 %out, {%h2, %h1, %h1, %h2};)"),
                {0xaaaa5555}),
            (Values{0xaaaa55555555aaaa}));
}

TEST(CodegenForms, a_pair_of_predicates_gets_a_comparison_and_its_opposite) {
  const std::string text = kernel_with(R"(
  setp.gt.u32 %p3, %r1, 0;
  setp.lt.and.u32 %p1|%p2, %r0, 10, !%p3;
  selp.u64 %out, 1, 0, %p1;
  @%p2 add.u64 %out, %out, 2;)");
  EXPECT_EQ(run(text, {5, 15, 0x100000005}), (Values{1, 2, 0}));
}

TEST(CodegenForms, inner_scopes_have_registers_of_their_own) {
  EXPECT_EQ(run(kernel_with(R"(
  {
    .reg .b32 x, %r2;
    mov.u32 x, 4; mov.u32 %r2, x;
    cvt.u64.u32 %out, %r2;
  }
  mov.u32 %r2, 1;
  {
    .reg .b32 x;
    add.u32 x, %r2, 2;
    cvt.u64.u32 %d1, x;
  }
  mad.lo.u64 %out, %out, 10, %d1;)"),
                {0}),
            (Values{43}));
}

TEST(CodegenForms, carries_reach_from_the_low_word_to_the_high) {
  EXPECT_EQ(run(kernel_with(R"(
  add.cc.u32 %r2, %r0, 1;
  addc.u32 %r3, %r1, 0;
  mov.b64 %out, {%r2, %r3};)"),
                {0x1ffffffff, 0xffffffffffffffff, 4}),
            (Values{0x200000000, 0, 5}));
}

TEST(CodegenForms, local_variables_have_generic_addresses_and_shared_ones_wrap_in_their_window) {
  EXPECT_EQ(run(kernel_with(R"(
  .local .align 8 .b8 frame[16];
  .shared .align 8 .b64 window[4];
  mov.u64 %d1, frame;
  cvta.local.u64 %d2, %d1;
  st.local.u64 [frame+8], %in;
  ld.u64 %out, [%d2+8];
  mov.u32 %r2, window;
  sub.u32 %r2, %r2, 8;
  st.shared.u64 [%r2+16], %out;
  cvta.shared.u64 %d3, window;
  ld.u64 %d4, [%d3+8];
  add.u64 %out, %out, %d4;)"),
                {21}),
            (Values{42}));
}

TEST(CodegenForms, registers_that_were_never_written_hold_something_harmless) {
  EXPECT_EQ(run(kernel_with("setp.eq.u32 %p1, %r9, %r9;\n  @%p1 mov.u64 %out, 3;"), {1}), (Values{3}));
}

TEST(CodegenForms, eight_bit_floats_round_to_even_and_saturate) {
  // From two .f32: the first operand fills the high byte.
  const auto e4m3 = [](std::uint32_t high, std::uint32_t low) {
    return run(kernel_with("cvt.rn.satfinite.e4m3x2.f32 %h1, %r1, %r0;\n  cvt.u64.u16 %out, %h1;"),
               {std::uint64_t{high} << 32 | low})[0];
  };
  EXPECT_EQ(e4m3(0x3f800000, 0xbf800000), 0x38b8U);  // 1, -1
  EXPECT_EQ(e4m3(0x43e00000, 0x7f800000), 0x7e7eU);  // 448 is the largest, infinity saturates
  EXPECT_EQ(e4m3(0x7fc00000, 0xff7fffff), 0x7ffeU);  // NaN, lowest
  EXPECT_EQ(e4m3(0x3f880000, 0x3f980000), 0x383aU);  // 1.0625 and 1.1875 are ties: to even
  EXPECT_EQ(e4m3(0x3b000000, 0x3a800000), 0x0100U);  // the smallest subnormal, and half of it
  EXPECT_EQ(
      run(kernel_with("cvt.rn.satfinite.e5m2x2.f32 %h1, %r1, %r0;\n  cvt.u64.u16 %out, %h1;"), {0x3f8000007f7fffff})[0],
      0x3c7bU);
  // And back to halves, exactly.
  EXPECT_EQ(run(kernel_with("cvt.u16.u32 %h1, %r0;\n  cvt.rn.f16x2.e4m3x2 %r2, %h1;\n  cvt.u64.u32 %out, %r2;"),
                {0x38b8, 0x7e01}),
            (Values{0x3c00bc00, 0x5f001800}));
  EXPECT_EQ(run(kernel_with("cvt.u16.u32 %h1, %r0;\n  cvt.rn.relu.f16x2.e5m2x2 %r2, %h1;\n  cvt.u64.u32 %out, %r2;"),
                {0x3cbc}),
            (Values{0x3c000000}));
}

TEST(CodegenForms, special_registers_come_from_the_launch) {
  EXPECT_EQ(run(kernel_with(R"(
  mov.u32 %r2, %envreg1;
  mov.u32 %r3, %envreg2;
  mov.b64 %out, {%r3, %r2};)"),
                {0}),
            (Values{0x1234567890abcdef}));
  EXPECT_EQ(run(kernel_with("mov.u32 %r2, %nsmid;\n  mov.u64 %d1, %gridid;\n  cvt.u64.u32 %out, %r2;\n"
                            "  mad.lo.u64 %out, %out, 10, %d1;"),
                {0}),
            (Values{37}));
}

TEST(CodegenForms, a_called_function_that_no_module_defines_is_an_error_of_the_kernel_that_calls_it) {
  TestModule module(kernel_with("call missing, ();", ".extern .func missing();"));
  const auto unsupported = analysis::find_unsupported(module.module());
  ASSERT_EQ(unsupported.size(), 1U);
  EXPECT_EQ(unsupported[0].reason, "function missing has no body here");
  EXPECT_THROW(module.compile("k"), std::runtime_error);
}

TEST(CodegenForms, modifiers_that_exclude_each_other_are_refused) {
  TestModule module(kernel_with("mad.wide.u32.lo %out, %r0, %r1, %out;"));
  ASSERT_EQ(analysis::find_unsupported(module.module()).size(), 1U);
}

}  // namespace
}  // namespace cucore::cpu
