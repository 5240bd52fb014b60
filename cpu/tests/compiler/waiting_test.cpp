// Which loops let other threads, or other blocks, run: see cpu/analysis/flow/waiting_loops.hpp.
#include <gtest/gtest.h>

#include "cpu/tests/compiler/stand_in.hpp"
#include "cpu/tests/compiler/vector/kernels.hpp"

namespace cucore::cpu {

namespace {

struct Counted {
  Words out;
  int yields, laps;
  bool is_vector;
};

Counted run_and_count(const std::string& body, FormOfCode form, unsigned threads) {
  TestModule module(
      ".version 8.0\n.target sm_80\n.address_size 64\n"
      ".func (.reg .u32 %r) meet_and_read(.reg .u64 %a)\n{\nbar.sync 0;\nld.global.u32 %r, [%a];\n"
      "bar.sync 0;\nret;\n}\n" +
          kernel(".shared .align 4 .b8 said[4];\n.local .align 4 .b8 kept[4];\n" + body)
              .substr(std::string(".version 8.0\n.target sm_80\n.address_size 64\n").size()),
      form);
  const Observations before = observations();
  Words out(threads, 0);
  module.launch("k", {1, 1, 1}, {threads, 1, 1}, out.data());
  const bool is_vector = module.compile("k", {threads, 1, 1})->info.form == FormOfCode::Vector;
  return {out, observations().yields - before.yields, observations().laps - before.laps, is_vector};
}

/// The first thread counts in out[0] to 5 and says in shared memory what it has read; %r1 becomes that.
const char* const one_looks =
    "setp.ne.u32 %p0, %r0, 0;\n"
    "L0: @%p0 bra L1;\n"
    "ld.volatile.global.u32 %r2, [%a0];\nadd.u32 %r2, %r2, 1;\nst.volatile.global.u32 [%a0], %r2;\n"
    "st.shared.u32 [said], %r2;\n"
    "L1: bar.sync 0;\nld.shared.u32 %r1, [said];\nbar.sync 0;\n";

TEST(WaitingLoops, that_one_thread_looks_for_between_barriers_count_laps) {
  const std::string body = std::string(one_looks) + "setp.lt.u32 %p1, %r1, 5;\n@%p1 bra L0;\n";
  const Counted scalar = run_and_count(body, FormOfCode::Scalar, 300);
  EXPECT_EQ(Words(300, 5), scalar.out);
  EXPECT_EQ(4 * 300, scalar.laps);
  EXPECT_EQ(0, scalar.yields);
  // In one group and in several, whose barriers are something.
  for (const unsigned threads : {32U, 300U, 1024U}) {
    const Counted vector = run_and_count(body, FormOfCode::Vector, threads);
    EXPECT_TRUE(vector.is_vector);
    EXPECT_EQ(Words(threads, 5), vector.out);
    EXPECT_LE(4, vector.laps);
    EXPECT_EQ(0, vector.laps % 4);
  }
}

/// `if (said == 5) done = 1;`
TEST(WaitingLoops, count_laps_too_where_a_branch_says_that_they_are_over) {
  const std::string body = std::string("mov.u32 %r5, 0;\n") + one_looks +
                           "setp.ne.u32 %p1, %r1, 5;\n@%p1 bra L2;\nmov.u32 %r5, 1;\n"
                           "L2: setp.eq.u32 %p2, %r5, 0;\n@%p2 bra L0;\n";
  EXPECT_EQ(4 * 40, run_and_count(body, FormOfCode::Scalar, 40).laps);
}

TEST(WaitingLoops, count_laps_too_where_the_barrier_is_in_a_function) {
  const std::string body =
      "mov.u32 %r3, 0;\nL0: add.u32 %r3, %r3, 1;\n"
      "setp.eq.u32 %p0, %r0, 0;\n@%p0 st.global.u32 [%a0], %r3;\ncall (%r1), meet_and_read, (%a0);\n"
      "setp.lt.u32 %p1, %r1, 5;\n@%p1 bra L0;\n";
  const Counted scalar = run_and_count(body, FormOfCode::Scalar, 40);
  EXPECT_EQ(Words(40, 5), scalar.out);
  EXPECT_EQ(4 * 40, scalar.laps);
}

/// What is read only decides what is done in it.
TEST(WaitingLoops, are_not_those_through_barriers_that_end_by_themselves) {
  const std::string body = std::string("mov.u32 %r5, 0;\n") + one_looks +
                           "setp.ne.u32 %p1, %r1, 3;\n@%p1 bra L2;\nmov.u32 %r6, 7;\n"
                           "L2: add.u32 %r5, %r5, 1;\nsetp.lt.u32 %p2, %r5, 5;\n@%p2 bra L0;\n";
  const Counted scalar = run_and_count(body, FormOfCode::Scalar, 40);
  EXPECT_EQ(Words(40, 5), scalar.out);
  EXPECT_EQ(0, scalar.laps);
  EXPECT_EQ(0, scalar.yields);
}

TEST(WaitingLoops, yield_where_what_was_seen_goes_through_a_variable) {
  for (const std::string variable : {"local", "shared"}) {
    const std::string name = variable == "local" ? "kept" : "said";
    const std::string body =
        "setp.ne.u32 %p0, %r0, 39;\n@%p0 bra L1;\nst.volatile.global.u32 [%a0], 7;\n"
        "L1: setp.ne.u32 %p1, %r0, 0;\n@%p1 bra L2;\n"
        "L0: ld.volatile.global.u32 %r2, [%a0];\nst." +
        variable + ".u32 [" + name + "], %r2;\nld." + variable + ".u32 %r3, [" + name +
        "];\nsetp.ne.u32 %p2, %r3, 7;\n@%p2 bra L0;\nL2: mov.u32 %r1, 7;\n";
    const Counted scalar = run_and_count(body, FormOfCode::Scalar, 40);
    EXPECT_EQ(Words(40, 7), scalar.out);
    EXPECT_LT(0, scalar.yields) << variable;
    // The lanes that do not wait end before the one that does polls.
    const Counted vector = run_and_count(body, FormOfCode::Vector, 40);
    EXPECT_TRUE(vector.is_vector) << variable;
    EXPECT_EQ(Words(40, 7), vector.out);
  }
}

/// `do { missing = 0; for (i < 3) if (!there) missing = 1; } while (missing)`: the way on in the loop within leads past
/// every block of it again, which makes none of them independent of the branch.
TEST(WaitingLoops, yield_where_a_branch_in_a_loop_within_says_that_something_is_missing) {
  const std::string body =
      "setp.ne.u32 %p0, %r0, 39;\n@%p0 bra L1;\nst.volatile.global.u32 [%a0], 7;\n"
      "L1: setp.ne.u32 %p1, %r0, 0;\n@%p1 bra L5;\n"
      "L2: mov.u32 %r5, 0;\nmov.u32 %r6, 0;\n"
      "L3: ld.volatile.global.u32 %r2, [%a0];\nsetp.eq.u32 %p2, %r2, 7;\n@%p2 bra L4;\nmov.u32 %r5, 1;\n"
      "L4: add.u32 %r6, %r6, 1;\nsetp.lt.u32 %p3, %r6, 3;\n@%p3 bra L3;\n"
      "setp.ne.u32 %p4, %r5, 0;\n@%p4 bra L2;\nL5: mov.u32 %r1, 7;\n";
  const Counted scalar = run_and_count(body, FormOfCode::Scalar, 40);
  EXPECT_EQ(Words(40, 7), scalar.out);
  EXPECT_LT(0, scalar.yields);
}

/// What follows where its ways have met again does not depend on a branch.
TEST(WaitingLoops, are_not_those_that_only_read_in_a_loop_within) {
  const std::string body =
      "mov.u32 %r4, 0;\nL2: mov.u32 %r6, 0;\n"
      "L3: ld.volatile.global.u32 %r2, [%a0];\nsetp.eq.u32 %p2, %r2, 7;\n@%p2 bra L4;\nmov.u32 %r5, 1;\n"
      "L4: add.u32 %r6, %r6, 1;\nsetp.lt.u32 %p3, %r6, 3;\n@%p3 bra L3;\n"
      "add.u32 %r4, %r4, 1;\nsetp.lt.u32 %p4, %r4, 3;\n@%p4 bra L2;\nmov.u32 %r1, 7;\n";
  const Counted scalar = run_and_count(body, FormOfCode::Scalar, 40);
  EXPECT_EQ(Words(40, 7), scalar.out);
  EXPECT_EQ(0, scalar.yields);
}

/// A semaphore: who finds it taken swaps it for itself, which succeeds, and waits on.
TEST(WaitingLoops, yield_where_a_swap_that_succeeds_may_not_be_the_last) {
  const std::string begin = "mov.u32 %r1, 5;\nst.shared.u32 [said], 0;\nbar.sync 0;\nld.shared.u32 %r2, [said];\n";
  const std::string swap =
      "L0: mov.u32 %r3, %r2;\nsetp.lt.u32 %p0, %r3, 1;\nselp.u32 %r4, 1, 0, %p0;\nadd.u32 %r4, %r3, %r4;\n"
      "atom.shared.cas.b32 %r2, [said], %r3, %r4;\nsetp.ne.u32 %p1, %r2, %r3;\n";
  const std::string waits = "setp.ge.u32 %p2, %r2, 1;\nor.pred %p1, %p1, %p2;\n@%p1 bra L0;\n";
  const std::string leave = "atom.shared.exch.b32 %r2, [said], 0;\n";
  const Counted held = run_and_count(begin + swap + waits + "nanosleep.u32 100;\n" + leave, FormOfCode::Scalar, 40);
  EXPECT_EQ(Words(40, 5), held.out);
  EXPECT_LT(0, held.yields);
  // Who has it goes on to its end before the others look again; but not where all meet behind it.
  const Counted vector = run_and_count(begin + swap + waits + leave, FormOfCode::Vector, 40);
  EXPECT_TRUE(vector.is_vector);
  EXPECT_EQ(Words(40, 5), vector.out);
  EXPECT_LT(0, vector.yields);
  const Counted meeting = run_and_count(begin + swap + waits + leave + "bar.sync 0;\n", FormOfCode::Vector, 40);
  EXPECT_FALSE(meeting.is_vector);
  EXPECT_EQ(Words(40, 5), meeting.out);
  // Left as soon as it has succeeded, it is a counter.
  const Counted counted = run_and_count(begin + swap + "@%p1 bra L0;\n", FormOfCode::Vector, 40);
  EXPECT_TRUE(counted.is_vector);
  EXPECT_EQ(Words(40, 5), counted.out);
  EXPECT_EQ(0, counted.yields);
}

}  // namespace

}  // namespace cucore::cpu
