// The vector form against the scalar reference: equal bits for random kernels in blocks of many shapes, and what it
// refuses.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "cpu/tests/compiler/random_kernels.hpp"
#include "cpu/tests/compiler/stand_in.hpp"
#include "cpu/tests/compiler/vector/kernels.hpp"

namespace cucore::cpu {

namespace {

Words run(TestModule& module, Extent block) {
  constexpr std::uint32_t grid = 2;
  Words out(std::size_t{grid} * block.x * block.y * block.z * random_kernel_outputs, 0xabababab);
  module.launch("k", {grid, 1, 1}, block, random_kernel_input().data(), out.data(), 19U);
  return out;
}

/// How often the vector form took a kernel.
unsigned expect_one_result_of(std::uint32_t seed, RandomKind kind) {
  unsigned taken = 0;
  const std::string text = random_kernel(seed, kind);
  TestModule scalar(text, FormOfCode::Scalar);
  TestModule vector(text, FormOfCode::Vector);
  TestModule masked(text, FormOfCode::Masked);
  for (unsigned n = 0; n < 3; ++n) {
    const Extent block = random_kernel_block(seed * 3 + n);
    const Words expected = run(scalar, block);
    const Words computed = run(vector, block);
    const Words under_masks = run(masked, block);
    taken += vector.refusal.empty() ? 1 : 0;
    EXPECT_EQ(computed, expected) << "seed " << seed << ", block " << block.x << "x" << block.y << "x" << block.z
                                  << "\n"
                                  << text;
    EXPECT_EQ(under_masks, expected) << "seed " << seed << " under masks, block " << block.x << "x" << block.y << "x"
                                     << block.z << "\n"
                                     << text;
  }
  return taken;
}

void expect_one_result_of(RandomKind kind) {
  unsigned taken = 0;
  const auto [first, count] = random_kernels_to_run();
  for (std::uint32_t seed = first; seed < first + count && !testing::Test::HasFailure(); ++seed)
    taken += expect_one_result_of(seed, kind);
  EXPECT_GT(taken, count * 3 / 2);  // or the test says little
}

}  // namespace

TEST(VectorForm, computes_what_the_scalar_form_does_in_random_control_flow) { expect_one_result_of(RandomKind::Tame); }

TEST(VectorForm, computes_what_the_scalar_form_does_in_wild_random_kernels) { expect_one_result_of(RandomKind::Wild); }

TEST(VectorForm, computes_what_the_scalar_form_does_in_random_searches) { expect_one_result_of(RandomKind::Searching); }

TEST(VectorForm, takes_a_loop_in_which_whole_warps_wait_for_another_one) {
  // The first warp waits for the second, that for the third; the last one waits for none.
  const std::string text = kernel(
      ".shared .align 4 .b8 flags[64];\nshr.u32 %r2, %r0, 5;\nand.b32 %r3, %r0, 31;\n"
      "setp.lt.u32 %p0, %r0, 16;\n@%p0 mov.u32 %r4, 0;\n@%p0 mov.u32 %r5, flags;\n@%p0 mad.lo.u32 %r5, %r0, 4, %r5;\n"
      "@%p0 st.shared.u32 [%r5], %r4;\nbar.sync 0;\n"
      "mov.u32 %r5, flags;\nmad.lo.u32 %r5, %r2, 4, %r5;\nmov.u32 %r1, 1;\nsetp.eq.u32 %p1, %r2, 3;\n@%p1 bra L1;\n"
      "L0: ld.volatile.shared.u32 %r1, [%r5+4];\nsetp.ne.u32 %p2, %r1, 0;\n"
      "vote.sync.all.pred %p3, %p2, 0xffffffff;\n@!%p3 bra L0;\nadd.u32 %r1, %r1, 1;\n"
      "L1: st.volatile.shared.u32 [%r5], %r1;\n");
  std::string refusal;
  for (const FormOfCode form : {FormOfCode::Vector, FormOfCode::Masked}) {
    const Words out = run_form(text, form, 128, &refusal);
    EXPECT_EQ(refusal, "");
    EXPECT_EQ(out, run_form(text, FormOfCode::Scalar, 128));
    EXPECT_EQ(out[0], 4U);
  }
}

TEST(VectorForm, takes_a_loop_in_which_one_thread_waits_between_barriers) {
  const std::string text = kernel(
      ".shared .align 4 .b8 flag[4];\nsetp.eq.u32 %p0, %r0, 0;\n@%p0 st.shared.u32 [flag], 0;\nbar.sync 0;\n"
      "setp.ne.u32 %p1, %r0, 70;\n@%p1 bra L0;\nst.volatile.shared.u32 [flag], 5;\nL0: bar.sync 0;\n"
      "setp.ne.u32 %p1, %r0, 0;\n@%p1 bra L2;\nL1: ld.volatile.shared.u32 %r2, [flag];\nsetp.eq.u32 %p2, %r2, 0;\n"
      "@%p2 bra L1;\nL2: bar.sync 0;\nld.shared.u32 %r1, [flag];\n");
  std::string refusal;
  const Words out = run_form(text, FormOfCode::Vector, 100, &refusal);
  EXPECT_EQ(refusal, "");
  EXPECT_EQ(out, Words(100, 5));
}

TEST(VectorForm, refuses_loops_in_which_lanes_wait_apart) {
  const std::string text = kernel(
      "mov.u32 %r1, 0;\nsetp.lt.u32 %p0, %r0, 7;\n@%p0 bra L1;\nL0: ld.volatile.global.u32 %r2, [%a0+8];\n"
      "setp.eq.u32 %p1, %r2, 1;\n@%p1 bra L0;\nbra L2;\nL1: ld.volatile.global.u32 %r2, [%a0];\n"
      "setp.eq.u32 %p1, %r2, 2;\n@%p1 bra L1;\nL2:\n");
  std::string refusal;
  const Words out = run_form(text, FormOfCode::Vector, 40, &refusal);
  EXPECT_TRUE(refusal.starts_with("a loop that waits for other threads at PTX line ")) << refusal;
  EXPECT_EQ(out, Words(40, 0));
}

/// Each maximum is three ways, of which one or the other is taken by NaN.
TEST(VectorForm, takes_a_long_chain_of_maxima_that_know_of_nan) {
  std::string body = ".reg .f32 %f<4>;\nmov.f32 %f0, 0f00000000;\n";
  for (int n = 0; n < 150; ++n) {
    const std::string end = "E" + std::to_string(n);
    body += "mad.lo.u32 %r2, %r0, " + std::to_string(2 * n + 1) + ", 77;\nmov.b32 %f1, %r2;\n" +
            "setp.nan.f32 %p0, %f0, %f0;\n@%p0 bra " + end + ";\nsetp.nan.f32 %p1, %f1, %f1;\nmov.f32 %f2, %f0;\n" +
            "mov.f32 %f0, %f1;\n@%p1 bra " + end + ";\nmax.f32 %f0, %f1, %f2;\n" + end + ":\n";
  }
  body += "mov.b32 %r1, %f0;\n";
  const std::string text = kernel(body);
  std::string refusal;
  const Words out = run_form(text, FormOfCode::Vector, 64, &refusal);
  EXPECT_EQ(refusal, "");
  EXPECT_EQ(out, run_form(text, FormOfCode::Scalar, 64));
}

TEST(VectorForm, takes_a_loop_that_some_lanes_wait_in_while_the_others_end) {
  const std::string text = kernel(
      "setp.eq.u32 %p0, %r0, 0;\n@%p0 bra L1;\nL0: ld.volatile.global.u32 %r2, [%a0];\nsetp.eq.u32 %p1, %r2, 0;\n"
      "@%p1 bra L0;\nL1: mov.u32 %r1, 7;\n");
  std::string refusal;
  const Words out = run_form(text, FormOfCode::Vector, 40, &refusal);
  EXPECT_EQ(refusal, "");
  EXPECT_TRUE(std::all_of(out.begin(), out.end(), [](std::uint32_t word) { return word == 7; }));
}

TEST(VectorForm, refuses_a_warp_operation_that_only_some_lanes_reach) {
  std::string refusal;
  const std::string text = kernel(
      "mov.u32 %r1, %r0;\nand.b32 %r2, %r0, 1;\nsetp.eq.u32 %p0, %r2, 0;\n@%p0 bra L0;\n"
      "shfl.sync.bfly.b32 %r1, %r0, 2, 31, 0xaaaaaaaa;\nL0: shfl.sync.bfly.b32 %r1, %r1, 1, 31, 0xffffffff;\n");
  const Words out = run_form(text, FormOfCode::Vector, 32, &refusal);
  EXPECT_EQ(refusal, "a warp operation that only some lanes of a warp reach");
  EXPECT_EQ(out, run_form(text, FormOfCode::Scalar, 32));
}

TEST(VectorForm, takes_a_warp_operation_of_lanes_that_the_others_never_join_again) {
  std::string refusal;
  const std::string text = kernel(
      "mov.u32 %r1, %r0;\nand.b32 %r2, %r0, 1;\nsetp.eq.u32 %p0, %r2, 0;\n@%p0 bra L0;\n"
      "shfl.sync.bfly.b32 %r1, %r0, 2, 31, 0xaaaaaaaa;\nL0:\n");
  const Words out = run_form(text, FormOfCode::Vector, 32, &refusal);
  EXPECT_EQ(refusal, "");
  EXPECT_EQ(out, run_form(text, FormOfCode::Scalar, 32));
}

TEST(VectorForm, takes_a_warp_operation_that_whole_warps_reach) {
  std::string refusal;
  const std::string text = kernel(
      "mov.u32 %r1, %r0;\nsetp.gt.u32 %p0, %r0, 31;\n@%p0 bra L0;\n"
      "shfl.sync.down.b32 %r1, %r0, 3, 31, 0xffffffff;\nL0:\n");
  for (const unsigned threads : {32U, 64U, 100U, 256U, 512U}) {
    const Words out = run_form(text, FormOfCode::Vector, threads, &refusal);
    EXPECT_EQ(refusal, "");
    EXPECT_EQ(out, run_form(text, FormOfCode::Scalar, threads)) << threads;
  }
}

/// A loop whose middle tells whether it ends, which some lanes do not come to in each iteration. %r2 counts iterations,
/// the same for all lanes of one; %r3 is 5 or 7 by the way through the last iteration but one.
std::string kernel_with_iterations_cut_short(const std::string& middle, const std::string& test) {
  return kernel(
      "mov.u32 %r1, 0;\nmov.u32 %r2, 0;\nmov.u32 %r3, 0;\nmov.u32 %r4, 0;\nmov.u32 %r5, 0;\n"
      "L0: add.u32 %r2, %r2, 1;\nmad.lo.u32 %r1, %r1, 3, %r3;\nadd.u32 %r6, %r0, %r2;\nand.b32 %r6, %r6, 1;\n"
      "setp.eq.u32 %p0, %r6, 0;\n@%p0 bra L1;\n" +
      middle + test +
      "@%p1 bra L2;\nmov.u32 %r3, 5;\nbra L0;\nL1: mov.u32 %r3, 7;\nbra L0;\n"
      "L2: mov.u32 %r5, 3;\nL3: mad.lo.u32 %r1, %r1, 31, %r2;\nadd.u32 %r1, %r1, %r4;\nsub.u32 %r5, %r5, 1;\n"
      "setp.ne.u32 %p2, %r5, 0;\n@%p2 bra L3;\n");
}

TEST(VectorForm, knows_that_lanes_which_cut_an_iteration_short_leave_the_loop_in_another) {
  const std::string text = kernel_with_iterations_cut_short("", "setp.gt.u32 %p1, %r2, 5;\n");
  const Words expected = run_form(text, FormOfCode::Scalar, 64);
  EXPECT_NE(expected[0], expected[1]);
  for (const FormOfCode form : {FormOfCode::Vector, FormOfCode::Masked}) {
    std::string refusal;
    EXPECT_EQ(run_form(text, form, 64, &refusal), expected);
    EXPECT_EQ(refusal, "");
  }
}

TEST(VectorForm, refuses_a_warp_operation_that_lanes_come_to_in_different_iterations) {
  const std::string text = kernel_with_iterations_cut_short(
      "shfl.sync.bfly.b32 %r7, %r2, 1, 31, 0xffffffff;\nmad.lo.u32 %r4, %r4, 3, %r7;\nadd.u32 %r8, %r8, 1;\n",
      "setp.eq.u32 %p1, %r8, 3;\n");
  std::string refusal;
  const Words out = run_form(text, FormOfCode::Vector, 32, &refusal);
  EXPECT_EQ(refusal, "a warp operation that only some lanes of a warp reach");
  EXPECT_EQ(out, run_form(text, FormOfCode::Scalar, 32));
}

TEST(VectorForm, ends_a_search_that_ends_for_each_lane_in_an_iteration_of_its_own) {
  // In a table without gaps, so no lane comes to the load from address zero.
  const std::string text = kernel(
      "mov.u32 %r2, 0;\nmov.u32 %r3, 15;\n"
      "L0: add.u32 %r4, %r2, %r3;\nshr.u32 %r4, %r4, 1;\nmul.lo.u32 %r5, %r4, 3;\nadd.u32 %r6, %r5, 3;\n"
      "setp.ge.u32 %p0, %r0, %r6;\n@%p0 bra L1;\nsetp.ge.u32 %p1, %r0, %r5;\n@%p1 bra L3;\n"
      "sub.u32 %r3, %r4, 1;\nbra L2;\nL1: add.u32 %r2, %r4, 1;\n"
      "L2: setp.ge.u32 %p2, %r3, %r2;\n@%p2 bra L0;\nmov.u64 %a2, 0;\nld.global.u32 %r4, [%a2];\n"
      "L3: ld.global.u32 %r7, [%a0];\nand.b32 %r7, %r7, 0;\nmov.u32 %r1, 0;\n"
      "L4: mad.lo.u32 %r1, %r1, 31, %r4;\nadd.u32 %r7, %r7, 1;\nsetp.lt.u32 %p3, %r7, 4;\n@%p3 bra L4;\n");
  const Words expected = run_form(text, FormOfCode::Scalar, 40);
  EXPECT_EQ(expected[39], 13 * (1 + 31 + 31 * 31 + 31 * 31 * 31));
  EXPECT_EQ(run_form(text, FormOfCode::Vector, 40), expected);
  EXPECT_EQ(run_form(text, FormOfCode::Masked, 40), expected);
}

TEST(VectorFormDeathTest, accesses_address_zero_where_a_kernel_does) {
  const std::string text = kernel(
      "mov.u32 %r1, 0;\nsetp.lt.u32 %p0, %r0, 40;\n@%p0 bra L0;\nbra L1;\n"
      "L0: mov.u64 %a2, 0;\nld.global.u32 %r1, [%a2];\nL1:\n");
  for (const FormOfCode form : {FormOfCode::Scalar, FormOfCode::Vector, FormOfCode::Masked})
    EXPECT_DEATH(run_form(text, form, 64), "");
}

TEST(VectorForm, lets_the_halves_of_a_warp_converge_among_themselves) {
  const std::string halves =
      "and.b32 %r2, %r0, 31;\nsetp.lt.u32 %p0, %r2, 16;\nselp.b32 %r3, 0xffff, 0xffff0000, %p0;\n"
      "and.b32 %r4, %r0, 5;\nsetp.ne.u32 %p1, %r4, 0;\n";
  for (const std::string& operation : {
           std::string("vote.sync.ballot.b32 %r1, %p1, %r3;\n"),
           std::string("setp.lt.u32 %p1, %r2, 16;\nvote.sync.all.pred %p2, %p1, %r3;\nselp.b32 %r1, 1, 0, %p2;\n"),
           std::string("setp.lt.u32 %p1, %r2, 16;\nvote.sync.any.pred %p2, %p1, %r3;\nselp.b32 %r1, 1, 0, %p2;\n"),
           std::string("shfl.sync.down.b32 %r1, %r0, 4, 31, %r3;\n"),
           std::string("shfl.sync.bfly.b32 %r1, %r0, %r4, 31, %r3;\n"),
       }) {
    for (const unsigned threads : {32U, 64U, 100U}) {
      const std::string text = kernel(halves + operation);
      EXPECT_EQ(run_form(text, FormOfCode::Vector, threads), run_form(text, FormOfCode::Scalar, threads)) << operation;
    }
  }
}

TEST(VectorForm, takes_an_early_exit_before_a_barrier) {
  std::string refusal;
  const std::string text =
      kernel("setp.gt.u32 %p0, %r0, 50;\n@%p0 ret;\nmov.u32 %r1, 5;\nbar.sync 0;\nadd.u32 %r1, %r1, %r0;\n");
  for (const unsigned threads : {32U, 64U, 300U, 512U}) {
    const Words out = run_form(text, FormOfCode::Vector, threads, &refusal);
    EXPECT_EQ(refusal, "");
    EXPECT_EQ(out, run_form(text, FormOfCode::Scalar, threads)) << threads;
  }
}

TEST(VectorForm, takes_a_barrier_between_two_sides_of_the_same_test) {
  std::string refusal;
  const std::string text = kernel(
      ".shared .align 4 .b8 tile[8];\nmov.u32 %r1, %r0;\nsetp.gt.s32 %p0, %r0, 0;\n@%p0 bra L0;\n"
      "ld.global.u32 %r2, [%a0+8];\nst.shared.u32 [tile], %r2;\nL0: bar.sync 0;\nsetp.ne.s32 %p1, %r0, 0;\n"
      "@%p1 bra L1;\nld.shared.u32 %r1, [tile];\nadd.u32 %r1, %r1, 7;\nL1: bar.sync 0;\n");
  for (const unsigned threads : {64U, 300U, 1024U}) {
    const Words out = run_form(text, FormOfCode::Vector, threads, &refusal);
    EXPECT_EQ(refusal, "");
    EXPECT_EQ(out, run_form(text, FormOfCode::Scalar, threads));
  }
}

TEST(VectorForm, keeps_what_lives_across_barriers_of_a_block_of_several_groups) {
  // Shared memory is written before and read after each of `rounds` barriers, by everyone from someone else; a sum, a
  // loaded value, a predicate and a pair of local words live across all of them.
  const std::string text = kernel(
      ".shared .align 4 .b8 tile[4096];\n.local .align 4 .b8 own[8];\n.reg .u32 %tile, %mine, %other, %rounds;\n.reg "
      ".u64 %own;\n"
      "mov.u32 %tile, tile;\nshl.b32 %mine, %r0, 2;\nadd.u32 %mine, %tile, %mine;\nmov.u64 %own, own;\n"
      "ld.global.u32 %r5, [%a1];\nand.b32 %r6, %r5, 1;\nsetp.eq.u32 %p3, %r6, 0;\nst.local.u32 [%own], %r0;\n"
      "mul.lo.u32 %r7, %r0, %r0;\nst.local.u32 [%own+4], %r7;\nmov.u32 %r1, 0;\nmov.u32 %rounds, 0;\n"
      "L1: add.u32 %r8, %r1, %r7;\nst.shared.u32 [%mine], %r8;\nxor.b32 %r9, %r0, 31;\nmin.u32 %r9, %r9, %n;\n"
      "bar.sync 0;\nshl.b32 %other, %r9, 2;\nadd.u32 %other, %tile, %other;\nld.shared.u32 %r10, [%other];\n"
      "bar.sync 0;\n@%p3 add.u32 %r10, %r10, 3;\nld.local.u32 %r11, [%own];\nld.local.u32 %r12, [%own+4];\n"
      "sub.u32 %r10, %r10, %r11;\nxor.b32 %r10, %r10, %r12;\nadd.u32 %r1, %r1, %r10;\nadd.u32 %r1, %r1, %r5;\n"
      "st.local.u32 [%own], %r10;\nadd.u32 %rounds, %rounds, 1;\nsetp.lt.u32 %p4, %rounds, 5;\n@%p4 bra L1;\n");
  for (const unsigned threads : {40U, 256U, 300U, 512U, 1000U}) {
    std::string own = text;
    own.replace(own.find("%n;"), 2, std::to_string(threads - 1));
    std::string refusal;
    EXPECT_EQ(run_form(own, FormOfCode::Vector, threads, &refusal), run_form(own, FormOfCode::Scalar, threads));
    EXPECT_EQ(refusal, "");
  }
}

TEST(VectorForm, needs_no_fibers_for_barriers) {
  const std::string text = kernel("bar.sync 0;\nmov.u32 %r1, %r0;\n");
  TestModule scalar(text, FormOfCode::Scalar);
  TestModule vector(text, FormOfCode::Vector);
  EXPECT_TRUE(scalar.compile("k", {1024, 1, 1})->info.needs_fibers);
  EXPECT_FALSE(vector.compile("k", {1024, 1, 1})->info.needs_fibers);
}

TEST(VectorForm, keeps_values_that_wait_at_different_barriers_in_the_same_memory) {
  auto frame_bytes = [](unsigned barriers) {
    std::string body = "mov.u32 %r1, 0;\n";
    for (unsigned n = 0; n < barriers; ++n) {
      body += "ld.volatile.global.u32 %r2, [%a1];\nadd.u32 %r2, %r2, " + std::to_string(n) +
              ";\nbar.sync 0;\nadd.u32 %r1, %r1, %r2;\n";
    }
    TestModule module(kernel(body), FormOfCode::Vector);
    const KernelInfo info = module.compile("k", {1000, 1, 1})->info;
    EXPECT_EQ(module.refusal, "");
    return info.waiting_bytes;
  };
  EXPECT_LE(frame_bytes(30), 2 * frame_bytes(3));  // groups may be smaller
}

TEST(VectorForm, computes_again_behind_a_barrier_what_is_quickly_made_of_the_thread_index) {
  auto frame_bytes = [](const std::string& operation) {
    TestModule module(
        kernel("and.b32 %r2, %r0, 5;\nxor.b32 %r2, %r2, 3;\n" + operation + "bar.sync 0;\nadd.u32 %r1, %r2, 1;\n"),
        FormOfCode::Vector);
    return module.compile("k", {1000, 1, 1})->info.waiting_bytes;
  };
  EXPECT_GE(frame_bytes("ld.global.u32 %r2, [%a1];\n"), frame_bytes("") + 4 * 1000);
}

TEST(VectorForm, runs_long_kernels_with_barriers_in_groups_of_less_than_a_warp) {
  std::string body =
      ".shared .align 4 .b8 tile[128];\n.reg .u32 %mine, %other;\nmov.u32 %mine, tile;\nmov.u32 %other, tile;\n"
      "shl.b32 %r2, %r0, 2;\nadd.u32 %mine, %mine, %r2;\nxor.b32 %r2, %r2, 124;\nadd.u32 %other, %other, %r2;\n"
      "ld.global.u32 %r1, [%a1];\n";
  for (unsigned n = 0; n < 2; ++n) {
    body += "st.shared.u32 [%mine], %r1;\nbar.sync 0;\nld.shared.u32 %r3, [%other];\nbar.sync 0;\n";
    for (unsigned k = 0; k < 800; ++k) body += "mad.lo.u32 %r1, %r1, %r3, " + std::to_string(n + k) + ";\n";
  }
  TestModule scalar(kernel(body), FormOfCode::Scalar);
  TestModule vector(kernel(body), FormOfCode::Vector);
  vector.march = plain_processor;
  Words expected(32, 5);
  Words computed(32, 5);
  scalar.launch("k", {1, 1, 1}, {32, 1, 1}, expected.data());
  vector.launch("k", {1, 1, 1}, {32, 1, 1}, computed.data());
  EXPECT_EQ(computed, expected);
  EXPECT_EQ(vector.refusal, "");
  EXPECT_GT(vector.compile("k", {32, 1, 1})->info.waiting_bytes, 0U) << "several groups";
}

TEST(VectorForm, runs_smaller_groups_where_more_lives_through_a_loop_than_registers_hold) {
  // Eight lanes to each of sixteen registers; a group that is the whole block keeps nothing across the barrier.
  auto waiting_bytes = [](unsigned sums) {
    std::string body = "mov.u32 %r1, 0;\nmov.u32 %r2, 0;\n.reg .u32 %s<9>;\n";
    for (unsigned n = 0; n < sums; ++n) body += "mov.u32 %s" + std::to_string(n) + ", %r0;\n";
    body += "L1: bar.sync 0;\nld.volatile.global.u32 %r3, [%a1];\n";
    for (unsigned n = 0; n < sums; ++n) {
      const std::string sum = "%s" + std::to_string(n);
      body += "mad.lo.u32 " + sum + ", " + sum + ", %r3, " + std::to_string(n) + ";\n";
    }
    body += "add.u32 %r2, %r2, 1;\nsetp.lt.u32 %p0, %r2, 9;\n@%p0 bra L1;\n";
    for (unsigned n = 0; n < sums; ++n) body += "xor.b32 %r1, %r1, %s" + std::to_string(n) + ";\n";
    TestModule module(kernel(body), FormOfCode::Vector);
    module.march = plain_processor;
    const std::uint32_t bytes = module.compile("k", {128, 1, 1})->info.waiting_bytes;
    EXPECT_EQ(module.refusal, "");
    EXPECT_EQ(run_form(kernel(body), FormOfCode::Vector, 128), run_form(kernel(body), FormOfCode::Scalar, 128));
    return bytes;
  };
  EXPECT_EQ(waiting_bytes(1), 0U);
  EXPECT_GT(waiting_bytes(8), 0U);
}

TEST(VectorForm, refuses_several_barriers_in_a_block_of_several_groups) {
  std::string refusal;
  const std::string text = kernel("mov.u32 %r1, %r0;\nbar.sync 0;\nadd.u32 %r1, %r1, 1;\nbar.sync 1;\n");
  for (const unsigned threads : {32U, 1000U}) {
    EXPECT_EQ(run_form(text, FormOfCode::Vector, threads, &refusal), run_form(text, FormOfCode::Scalar, threads));
    EXPECT_EQ(refusal, threads == 32 ? "" : "several barriers in a block of several groups");
  }
}

TEST(VectorForm, narrows_halves_that_were_made_ready_in_another_block) {
  // What is narrowed does not change in the loop, so it may be made before it.
  const std::string text = kernel(
      ".reg .f32 %f<2>;\nmul.lo.u32 %r2, %r0, 0x01234567;\nmov.b32 %f0, %r2;\nnot.b32 %r3, %r2;\nmov.b32 %f1, %r3;\n"
      "and.b32 %r4, %r0, 1;\nsetp.eq.u32 %p0, %r4, 0;\nmov.u32 %r1, 0;\nmov.u32 %r5, 0;\n"
      "L1: vote.sync.ballot.b32 %r6, %p0, 0xffffffff;\n@!%p0 bra L2;\nvote.sync.ballot.b32 %r7, %p0, %r6;\n"
      "cvt.rn.f16x2.f32 %r1, %f0, %f1;\nadd.u32 %r1, %r1, %r7;\nL2: add.u32 %r5, %r5, 1;\nsetp.lt.u32 %p1, %r5, 2;\n"
      "@%p1 bra L1;\nadd.u32 %r1, %r1, %r2;\n");
  for (const unsigned threads : {32U, 64U})
    EXPECT_EQ(run_form(text, FormOfCode::Vector, threads), run_form(text, FormOfCode::Scalar, threads));
}

TEST(VectorForm, runs_short_branches_of_some_lanes_under_a_mask) {
  // Lanes take a side of stores, one that makes a value, and one whose index wraps around between or outside them.
  for (const std::string& body : {
           std::string("setp.gt.u32 %p0, %r0, 20;\n@%p0 bra L1;\nst.global.u32 [%a1], 7;\nL1: ld.global.u32 %r1, "
                       "[%a1];\nadd.u32 %r1, %r1, %r0;\n"),
           std::string("ld.global.u32 %r1, [%a1];\nand.b32 %r2, %r0, 6;\nsetp.eq.u32 %p0, %r2, 4;\n@%p0 bra L1;\n"
                       "rem.u32 %r1, %r0, %r2;\nadd.u32 %r1, %r1, 5;\nL1: add.u32 %r1, %r1, 1;\n"),
           std::string("mov.u32 %r1, 99;\nsub.u32 %r2, %r0, 5;\nsetp.lt.u32 %p0, %r0, 5;\n@%p0 bra L1;\n"
                       "cvt.u64.u32 %a2, %r2;\nshr.u64 %a3, %a2, 20;\nshl.b64 %a2, %a2, 2;\nadd.u64 %a2, %a2, %a0;\n"
                       "ld.global.u32 %r1, [%a2+20];\ncvt.u32.u64 %r3, %a3;\nadd.u32 %r1, %r1, %r3;\nL1:\n"),
           std::string("mov.u32 %r1, 99;\nsub.u32 %r2, %r0, 5;\nsetp.eq.u32 %p0, %r0, 7;\n@%p0 bra L1;\n"
                       "cvt.u64.u32 %a2, %r2;\nshr.u64 %a3, %a2, 20;\nld.global.u32 %r1, [%a1];\ncvt.u32.u64 %r3, "
                       "%a3;\nadd.u32 %r1, %r1, %r3;\nL1:\n"),
           // Two tests, the second of a value that is made between them.
           std::string("mov.u32 %r1, 99;\nsetp.lt.u32 %p0, %r0, 3;\n@%p0 bra L1;\nxor.b32 %r2, %r0, 11;\n"
                       "setp.gt.u32 %p1, %r2, 40;\n@%p1 bra L1;\nsub.u32 %r3, %r0, 3;\nmul.wide.s32 %a2, %r3, 4;\n"
                       "add.u64 %a2, %a2, %a0;\nld.global.u32 %r1, [%a2+12];\nadd.u32 %r1, %r1, %r2;\nL1:\n"),
       }) {
    for (const unsigned threads : {16U, 40U, 64U, 256U, 1024U}) {
      std::string refusal;
      const std::string text = kernel(body);
      EXPECT_EQ(run_form(text, FormOfCode::Vector, threads, &refusal), run_form(text, FormOfCode::Scalar, threads))
          << body << threads;
      EXPECT_EQ(refusal, "");
    }
  }
}

TEST(VectorForm, extends_indices_that_wrap_around_inside_a_chunk_as_each_lane_would) {
  const std::string text = kernel(
      "sub.u32 %r2, %r0, 5;\nmov.u32 %r1, 99;\nsetp.gt.u32 %p0, %r2, 1000;\n"
      "mul.wide.u32 %a2, %r2, 4;\nadd.u64 %a3, %a0, %a2;\n@!%p0 st.global.u32 [%a3+20], %r2;\n"
      "cvt.u64.u32 %a4, %r2;\nshr.u64 %a4, %a4, 20;\ncvt.u32.u64 %r1, %a4;\n");
  for (const unsigned threads : {16U, 48U, 256U}) {
    std::string refusal;
    EXPECT_EQ(run_form(text, FormOfCode::Vector, threads, &refusal), run_form(text, FormOfCode::Scalar, threads));
    EXPECT_EQ(refusal, "");
  }
}

TEST(VectorForm, knows_in_which_bounds_the_index_of_a_thread_lies) {
  // Tests that all threads of the block pass make nobody diverge: the barrier behind them is one that all reach.
  const std::string barrier =
      "@!%p0 bra L0;\nst.global.u32 [%a1], 3;\nbar.sync 0;\nL0: bar.sync 0;\nld.global.u32 %r1, "
      "[%a1];\n";
  for (const char* const test : {
           "setp.lt.u32 %p0, %r0, 128;\n",
           "mov.u32 %r2, %warpid;\nsetp.lt.u32 %p0, %r2, 4;\n",
           "add.u32 %r2, %r0, 5;\nsub.u32 %r2, 133, %r2;\nsetp.gt.s32 %p0, %r2, 0;\n",
       }) {
    std::string refusal;
    const std::string text = kernel(test + barrier);
    EXPECT_EQ(run_form(text, FormOfCode::Vector, 128, &refusal), run_form(text, FormOfCode::Scalar, 128)) << test;
    EXPECT_EQ(refusal, "") << test;
    run_form(text, FormOfCode::Vector, 256, &refusal);
    EXPECT_EQ(refusal, "a barrier that only some threads of a block reach") << test;
  }
}

TEST(VectorForm, converts_all_kinds_of_floats_to_integers_as_the_scalar_form_does) {
  // 0 to 255 in each byte: small and large floats of both signs, beyond the range of each integer, and NaN.
  for (const char* const to : {"s32", "u32", "s16", "u8", "s64", "u64"}) {
    const std::string type = to;
    const bool is_long = type == "s64" || type == "u64";
    const std::string text =
        kernel(".reg .f32 %f<2>;\nmul.lo.u32 %r2, %r0, 0x01010101;\nmov.b32 %f0, %r2;\n" +
               (is_long ? "cvt.rzi." + type + ".f32 %a2, %f0;\nshr.u64 %a3, %a2, 32;\nxor.b64 %a2, %a2, %a3;\n" +
                              "cvt.u32.u64 %r1, %a2;\n"
                        : "cvt.rzi." + type + ".f32 %r1, %f0;\n"));
    std::string refusal;
    EXPECT_EQ(run_form(text, FormOfCode::Vector, 256, &refusal), run_form(text, FormOfCode::Scalar, 256)) << type;
    EXPECT_EQ(refusal, "");
  }
}

}  // namespace cucore::cpu
