// What the vector form knows about all lanes of a group: the steps between them, and what follows from the first and
// the last.
#include <gtest/gtest.h>

#include "cpu/tests/compiler/stand_in.hpp"
#include "cpu/tests/compiler/vector/kernels.hpp"

namespace cucore::cpu {

namespace {

/// Both forms of a kernel, in small groups, and in a group of the whole block, as barriers want it.
void expect_the_same(const std::string& body, std::initializer_list<unsigned> blocks = {256}) {
  for (const unsigned threads : blocks) {
    for (const char* const before : {"", "bar.sync 0;\n"}) {
      const std::string text = kernel(before + body);
      std::string refusal;
      EXPECT_EQ(run_form(text, FormOfCode::Vector, threads, &refusal), run_form(text, FormOfCode::Scalar, threads))
          << text << threads;
      EXPECT_EQ(refusal, "") << text;
    }
  }
}

/// %r5 = 0, as nothing but the launch tells.
constexpr const char* zero = "mov.u32 %r5, %nctaid.x;\nsub.u32 %r5, %r5, 1;\n";

/// %r6 = value + step * thread
std::string index(const std::string& value, const std::string& step) {
  return zero + ("add.u32 %r6, %r5, " + value + ";\nmad.lo.u32 %r6, %r0, " + step + ", %r6;\n");
}

unsigned fetches(const std::string& body, std::uint32_t x, std::uint32_t y, const std::string& where = "") {
  TestModule module(kernel(body), FormOfCode::Vector);
  const std::string ir = value_of(
      loader::dump_ir(module.module(), 0, {.form = FormOfCode::Vector, .block = {x, y, 1}, .march = plain_processor}));
  const std::string call = "call void @llvm.prefetch";
  unsigned count = 0;
  for (std::size_t at = ir.find(call); at != std::string::npos; at = ir.find(call, at + 1))
    if (ir.substr(at, ir.find('\n', at) - at).find(where) != std::string::npos) ++count;
  return count;
}

/// A loop whose index grows by %r7 from the thread's on.
std::string loop_by(const std::string& step) {
  return "mov.u32 %r7, " + step +
         ";\nmov.u32 %r2, %r0;\nmov.u32 %r1, 0;\nL0: mul.wide.u32 %a2, %r2, 4;\nadd.u64 %a2, %a2, %a0;\n"
         "ld.global.u32 %r3, [%a2];\nadd.u32 %r1, %r1, %r3;\nadd.u32 %r2, %r2, %r7;\nsetp.lt.u32 %p0, %r2, 256;\n"
         "@%p0 bra L0;\n";
}

}  // namespace

TEST(VectorGroups, go_where_the_first_lane_and_the_last_go_unless_a_value_wraps_around_between_them) {
  struct Case {
    const char* test;
    const char* value;
    const char* limit;
  };
  for (const Case& each : {Case{"lt.s32", "0", "100"}, Case{"ge.s32", "0", "300"}, Case{"gt.u32", "90", "20"},
                           Case{"lt.s32", "2147483600", "-2147483500"}, Case{"ge.u32", "4294967200", "50"},
                           Case{"gt.s32", "-2147483600", "2147483500"}, Case{"le.u32", "90", "4294967200"}}) {
    for (const char* const step : {"1", "-1"}) {
      expect_the_same(index(each.value, step) + "add.u32 %r7, %r5, " + each.limit +
                      ";\nst.global.u32 [%a1], 3;\nsetp." + each.test +
                      " %p0, %r6, %r7;\n@%p0 bra L1;\nred.global.add.u32 [%a1], %r6;\n" +
                      "L1: ld.global.u32 %r1, [%a1];\nadd.u32 %r1, %r1, %r0;\n");
    }
  }
}

TEST(VectorGroups, leave_a_loop_over_a_grid_when_each_lane_does) {
  for (const char* const value : {"0", "2147483000"}) {
    for (const char* const limit : {"1", "999", "1024", "2147483300"}) {
      expect_the_same(
          index(value, "1") + "add.u32 %r7, %r5, 317;\nadd.u32 %r8, %r5, " + limit +
              ";\nsub.u32 %r9, %r8, 1500;\nmax.s32 %r6, %r6, %r9;\nmov.u32 %r1, 0;\n"
              "setp.ge.s32 %p0, %r6, %r8;\n@%p0 bra L1;\nL0: add.u32 %r1, %r1, %r6;\nadd.u32 %r6, %r6, %r7;\n"
              "setp.lt.s32 %p1, %r6, %r8;\n@%p1 bra L0;\nL1:\n",
          {48, 256, 300});
    }
  }
}

TEST(VectorGroups, extend_what_wraps_around_between_their_chunks_as_each_lane_would) {
  for (const char* const extends : {"cvt.u64.u32 %a2", "cvt.s64.s32 %a2"}) {
    for (const char* const value : {"-5", "-20", "-100", "2147483548", "-1000"}) {
      for (const char* const step : {"1", "-3"}) {
        expect_the_same(index(value, step) + extends +
                        ", %r6;\nmul.lo.u64 %a2, %a2, 0x9e3779b97f4a7c15;\nld.global.u32 %r2, [%a1];\n"
                        "shr.u64 %a2, %a2, 30;\ncvt.u32.u64 %r1, %a2;\nadd.u32 %r1, %r1, %r2;\n");
      }
    }
  }
}

TEST(VectorGroups, extend_under_a_mask_from_the_first_active_lane_to_the_last) {
  for (const char* const from : {"5", "20", "100", "200"}) {
    const std::string number = from;
    expect_the_same(zero + ("mov.u32 %r1, 99;\nadd.u32 %r4, %r5, " + number) +
                    ";\nsetp.lt.u32 %p0, %r0, %r4;\n@%p0 bra L1;\nsub.u32 %r2, %r0, %r4;\ncvt.u64.u32 %a2, %r2;\n"
                    "shr.u64 %a3, %a2, 20;\nshl.b64 %a2, %a2, 2;\nadd.u64 %a2, %a2, %a0;\nld.global.u32 %r1, [%a2+" +
                    std::to_string(4 * std::stoi(number)) +
                    "];\ncvt.u32.u64 %r3, %a3;\nadd.u32 %r1, %r1, %r3;\nadd.u32 %r1, %r1, %r2;\nL1:\n");
  }
}

TEST(VectorGroups, return_from_diverged_lanes_with_the_steps_that_hold_there) {
  expect_the_same(index("7", "2") +
                  "mov.u32 %r1, 0;\nmov.u32 %r2, 0;\nL0: and.b32 %r3, %r0, 3;\nmov.u32 %r4, 0;\n"
                  "L1: add.u32 %r1, %r1, %r6;\nadd.u32 %r4, %r4, 1;\nsetp.lt.u32 %p0, %r4, %r3;\n@%p0 bra L1;\n"
                  "add.u32 %r6, %r6, 5;\nadd.u32 %r2, %r2, 1;\nsetp.lt.u32 %p1, %r2, 4;\n@%p1 bra L0;\n");
}

TEST(VectorGroups, return_from_diverged_lanes_with_floats_of_their_row) {
  // What threads of a row have in common, one number to a group where lanes go together and one to a chunk elsewhere.
  const std::string text =
      ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 out)\n{\n"
      ".reg .u32 %r<8>;\n.reg .u64 %a<3>;\n.reg .f32 %f<4>;\n.reg .pred %p<2>;\nld.param.u64 %a0, [out];\n"
      "mov.u32 %r0, %tid.x;\nmov.u32 %r1, %tid.y;\nmad.lo.u32 %r2, %r1, 64, %r0;\ncvt.rn.f32.u32 %f0, %r1;\n"
      "mov.f32 %f1, 0f3f800000;\nmov.u32 %r4, 0;\n"
      "L0: and.b32 %r3, %r0, 3;\nL1: fma.rn.f32 %f1, %f1, 0f3f000000, %f0;\nsetp.eq.u32 %p0, %r3, 0;\n"
      "sub.u32 %r3, %r3, 1;\n@!%p0 bra L1;\nadd.rn.f32 %f1, %f1, %f0;\nadd.u32 %r4, %r4, 1;\n"
      "setp.lt.u32 %p1, %r4, 4;\n@%p1 bra L0;\n"
      "mul.wide.u32 %a1, %r2, 4;\nadd.u64 %a1, %a1, %a0;\nst.global.f32 [%a1], %f1;\nret;\n}\n";
  for (const std::string march : {"", plain_processor}) {
    TestModule scalar(text, FormOfCode::Scalar), vector(text, FormOfCode::Vector);
    scalar.march = vector.march = march;
    Words expected(256, 0), found(256, 0);
    scalar.launch("k", {1, 1, 1}, {64, 4, 1}, expected.data());
    vector.launch("k", {1, 1, 1}, {64, 4, 1}, found.data());
    EXPECT_EQ(vector.refusal, "");
    EXPECT_EQ(found, expected) << march;
  }
}

TEST(VectorGroups, make_addresses_of_atomics_of_narrow_indices_in_each_lane) {
  // What is there at the end does not depend on the order of threads; sums of what they found there do not, either.
  const std::string begin =
      ".shared .align 4 .b8 own[2048];\nmov.u64 %a4, own;\n"
      "and.b32 %r2, %r0, 255;\nmul.wide.u32 %a2, %r2, 4;\nadd.u64 %a2, %a2, %a4;\nst.shared.u32 [%a2], %r5;\n"
      "st.shared.u32 [%a2+1024], %r5;\nmul.lo.u32 %r3, %r0, 2654435761;\nst.global.u32 [%a1], %r3;\nbar.sync 0;\n"
      "ld.global.u8 %r4, [%a1+3];\nmul.wide.u32 %a3, %r4, 4;\nadd.u64 %a3, %a3, %a4;\n";
  const std::string end =
      "bar.sync 0;\nld.shared.u32 %r2, [%a2];\nld.shared.u32 %r3, [%a2+1024];\nmad.lo.u32 %r1, %r3, 1000, %r2;\n";
  for (const char* const body : {
           "atom.shared.add.u32 %r1, [%a3], 1;\natom.shared.add.u32 %r6, [%a3+1024], %r1;\n",
           "setp.gt.u32 %p0, %r4, 77;\n@%p0 atom.shared.max.u32 %r1, [%a3], %r0;\n",
           "atom.shared.cas.b32 %r1, [%a3], 0, 9;\nsetp.ne.u32 %p0, %r1, 0;\nselp.b32 %r1, 1, 2, %p0;\n"
           "atom.shared.add.u32 %r6, [%a3+1024], %r1;\n",
       })
    expect_the_same(zero + begin + body + end, {48, 256, 1024});
}

TEST(VectorGroups, fetch_ahead_for_the_next_block_where_rows_are_short) {
  // Each row has places of its own, so that none changes another's.
  const std::string rows =
      "mov.u32 %r2, %tid.y;\nmov.u32 %r3, %nctaid.x;\nmul.lo.u32 %r2, %r2, %r3;\n"
      "mad.wide.u32 %a1, %r2, 4096, %a1;\n";
  const std::string one_place = rows + "ld.global.u32 %r1, [%a1];\nadd.u32 %r1, %r1, 1;\n";
  const unsigned of_one = fetches(one_place, 32, 8);
  EXPECT_EQ(of_one, 2U) << "each line of the row, for the load and the store together";
  EXPECT_EQ(fetches(rows + "ld.global.u32 %r1, [%a1+4];\n", 32, 8), of_one) << "two places that differ by a constant";
  EXPECT_EQ(fetches(rows + "ld.global.u32 %r1, [%a1];\nadd.u64 %a1, %a1, %a0;\n", 32, 8), 2 * of_one) << "two places";
  EXPECT_EQ(fetches(one_place, 256, 1), 0U) << "a row that is long";
  EXPECT_EQ(fetches(rows + "ld.global.u32 %r1, [%a1];\nbar.sync 0;\n", 32, 8), 0U) << "a barrier";
  EXPECT_EQ(fetches(rows + "ld.global.u32 %r2, [%a1];\nL0: ld.global.u32 %r1, [%a1];\nadd.u32 %r2, %r2, %r1;\n"
                           "add.u64 %a1, %a1, 128;\nsetp.lt.u32 %p0, %r2, 9;\n@%p0 bra L0;\n",
                    32, 8),
            2 * of_one)
      << "before and behind a loop";
  EXPECT_EQ(fetches("mul.lo.u32 %r2, %r0, 3;\nmul.wide.u32 %a1, %r2, 4;\nadd.u64 %a1, %a1, %a0;\n" + rows +
                        "ld.global.u32 %r1, [%a1];\n",
                    32, 8),
            0U)
      << "places that are no row";
}

TEST(VectorGroups, fetch_ahead_for_iterations_to_come_of_a_loop_over_a_grid) {
  EXPECT_GE(fetches(loop_by("%nctaid.x"), 256, 1, ", i32 0, i32 2, i32 1)"), 2U) << "to the second cache";
  EXPECT_EQ(fetches(loop_by("512"), 256, 1), 0U) << "a step that a processor learns";
  EXPECT_EQ(fetches(loop_by("%laneid"), 256, 1), 0U) << "no row behind the first iteration";
}

TEST(VectorGroups, are_a_whole_block_of_narrow_vectors_where_wide_ones_would_have_it_in_one) {
  std::string body =
      ".shared .align 4 .b8 tile[4096];\n.reg .u32 %mine;\nmov.u32 %mine, tile;\nshl.b32 %r2, %r0, 2;\n"
      "add.u32 %mine, %mine, %r2;\nst.shared.u32 [%mine], %r0;\nst.shared.u32 [%mine + 2048], %r2;\nbar.sync 0;\n"
      "ld.shared.u32 %r1, [%mine + 64];\nld.shared.u32 %r3, [%mine];\n";
  for (unsigned k = 0; k < 35; ++k) body += "mad.lo.u32 %r1, %r1, %r3, " + std::to_string(k) + ";\n";
  TestModule module(kernel(body), FormOfCode::Vector);
  module.march = plain_processor;
  EXPECT_EQ(module.compile("k", {512, 1, 1})->info.waiting_bytes, 0U) << "one group";
  EXPECT_EQ(run_form(kernel(body), FormOfCode::Vector, 512), run_form(kernel(body), FormOfCode::Scalar, 512));
}

TEST(VectorGroups, make_lanes_of_masks_without_taking_their_bits_apart) {
  const std::string taken_apart =
      "ld.global.u32 %r1, [%a1];\nsetp.lt.u32 %p0, %r1, 7;\n@%p0 bra L1;\nld.global.u32 %r3, [%a1 + 4];\n"
      "setp.gt.u32 %p1, %r3, 9;\n@%p1 bra L1;\nadd.u32 %r1, %r1, %r3;\nst.global.u32 [%a1 + 8], %r3;\nL1:\n";
  TestModule module(kernel(taken_apart), FormOfCode::Vector);
  const CompileOptions options{.form = FormOfCode::Vector, .block = {128, 1, 1}, .march = plain_processor};
  const std::string code = value_of(loader::dump_assembly(module.module(), 0, options));
  EXPECT_NE(code.find("vpmaskmov"), std::string::npos) << code;
  EXPECT_EQ(code.find("vpinsr"), std::string::npos) << code;
}

TEST(VectorGroups, keep_what_is_the_same_in_an_iteration_of_a_loop_that_lanes_leave_one_by_one) {
  const std::string iterations = "and.b32 %r9, %r0, 13;\nmov.u32 %r2, 0;\nmov.u32 %r1, 0;\nmov.u32 %r3, 0;\n";
  const std::string next = "add.u32 %r2, %r2, 1;\n";
  for (const std::string& body : {
           // The iteration in which each left.
           "L0: mad.lo.u32 %r1, %r1, 3, %r2;\n" + next +
               "setp.lt.u32 %p0, %r2, %r9;\n@%p0 bra L0;\nmad.lo.u32 %r1, %r2, 1000, %r1;\n",
           // The iteration before, which the end of one knows of its beginning only.
           "L0: mov.u32 %r4, %r2;\n" + next +
               "setp.gt.u32 %p1, %r9, 6;\n@%p1 bra L1;\n"
               "st.global.u32 [%a1], %r9;\nL1: add.u32 %r1, %r1, %r9;\nsetp.lt.u32 %p0, %r2, %r9;\n@%p0 bra L0;\n"
               "mad.lo.u32 %r1, %r4, 1000, %r1;\n",
           // By which of two ways it left, and when.
           "L0: setp.eq.u32 %p0, %r2, %r9;\n@%p0 bra L1;\n" + next +
               "setp.lt.u32 %p1, %r2, 7;\n@%p1 bra L0;\nmov.u32 %r3, 500;\nbra L2;\nL1: mov.u32 %r3, 700;\n"
               "L2: add.u32 %r1, %r2, %r3;\n",
           // Some pass half of an iteration.
           "L0: setp.gt.u32 %p1, %r9, 6;\n@%p1 bra L1;\nmad.lo.u32 %r1, %r1, 5, %r2;\nL1: " + next +
               "add.u32 %r3, %r2, %r9;\nadd.u32 %r1, %r1, %r3;\nsetp.lt.u32 %p0, %r2, %r9;\n@%p0 bra L0;\n"
               "add.u32 %r1, %r1, %r2;\n",
           // A loop in a loop that lanes leave, and come back to.
           "L0: mov.u32 %r4, 0;\nL1: mad.lo.u32 %r1, %r1, 3, %r4;\nadd.u32 %r4, %r4, 1;\nadd.u32 %r5, %r2, %r9;\n"
           "and.b32 %r5, %r5, 3;\nsetp.lt.u32 %p1, %r4, %r5;\n@%p1 bra L1;\nadd.u32 %r1, %r1, %r4;\n" +
               next + "setp.lt.u32 %p0, %r2, %r9;\n@%p0 bra L0;\nmad.lo.u32 %r1, %r2, 1000, %r1;\n",
           // Out of both at once.
           "L0: mov.u32 %r4, 0;\nL1: mad.lo.u32 %r1, %r1, 3, %r4;\nmad.lo.u32 %r5, %r2, 3, %r4;\n"
           "setp.eq.u32 %p2, %r5, %r9;\n@%p2 bra L2;\nadd.u32 %r4, %r4, 1;\nsetp.lt.u32 %p1, %r4, 3;\n@%p1 bra L1;\n" +
               next +
               "setp.lt.u32 %p0, %r2, 4;\n@%p0 bra L0;\nadd.u32 %r3, %r2, 50;\n"
               "L2: mad.lo.u32 %r1, %r4, 100, %r1;\nmad.lo.u32 %r1, %r3, 10000, %r1;\nadd.u32 %r1, %r1, %r2;\n",
       }) {
    for (const std::string march : {"", plain_processor}) {
      TestModule module(kernel(iterations + body), FormOfCode::Vector);
      module.march = march;
      Words out(100, 0);
      module.launch("k", {1, 1, 1}, {100, 1, 1}, out.data());
      EXPECT_EQ(module.refusal, "");
      EXPECT_EQ(out, run_form(kernel(iterations + body), FormOfCode::Scalar, 100)) << body << march;
    }
  }
}

TEST(VectorGroups, load_rows_where_lanes_leave_a_loop_one_by_one) {
  // Each lane adds words from its own on; the first lanes are gone, and their index is not one.
  const auto body = [](const char* index) {
    return std::string("st.global.u32 [%a1], %r0;\nbar.sync 0;\nmov.u32 %r1, 0;\nmov.u32 %r2, 0;\n") + index +
           "and.b32 %r9, %r0, 5;\nsetp.lt.u32 %p0, %r0, 8;\n@%p0 bra L1;\nL0: add.u32 %r4, %r3, %r2;\n"
           "mul.wide.u32 %a2, %r4, 4;\nadd.u64 %a2, %a2, %a0;\nld.global.u32 %r5, [%a2];\n"
           "mad.lo.u32 %r1, %r1, 3, %r5;\nadd.u32 %r2, %r2, 1;\nsetp.lt.u32 %p1, %r2, %r9;\n@%p1 bra L0;\n"
           "L1: bar.sync 0;\n";
  };
  for (const char* const index : {"sub.u32 %r3, %r0, 8;\n", "and.b32 %r3, %r0, 15;\n", "shr.u32 %r3, %r0, 1;\n"}) {
    EXPECT_EQ(run_form(kernel(body(index)), FormOfCode::Vector, 48),
              run_form(kernel(body(index)), FormOfCode::Scalar, 48))
        << index;
  }
  TestModule module(kernel(body("mov.u32 %r3, %r0;\n")), FormOfCode::Vector);
  const std::string ir = value_of(
      loader::dump_ir(module.module(), 0, {.form = FormOfCode::Vector, .block = {64, 1, 1}, .march = plain_processor}));
  EXPECT_NE(ir.find("in.a.row"), std::string::npos) << ir;
}

TEST(VectorGroups, divide_integers_as_doubles) {
  const std::string text = kernel("ld.global.u32 %r2, [%a1];\ndiv.u32 %r1, %r0, %r2;\nrem.s32 %r3, %r2, %r0;\n");
  TestModule module(text, FormOfCode::Vector);
  const CompileOptions options{.form = FormOfCode::Vector, .block = {128, 1, 1}, .march = plain_processor};
  const std::string code = value_of(loader::dump_assembly(module.module(), 0, options));
  EXPECT_NE(code.find("vdivpd"), std::string::npos) << code;
  EXPECT_EQ(code.find("\tdivl"), std::string::npos) << code;
  EXPECT_EQ(code.find("\tidivl"), std::string::npos) << code;
}

TEST(VectorGroups, divide_by_what_all_lanes_share_once) {
  const std::string text = kernel(
      "mov.u32 %r2, %ctaid.y;\nld.global.u32 %r3, [%a1];\ndiv.u32 %r1, %r3, %r2;\nrem.s32 %r3, %r3, %r2;\n"
      "add.u32 %r1, %r1, %r3;\n");
  TestModule module(text, FormOfCode::Vector);
  const CompileOptions options{.form = FormOfCode::Vector, .block = {128, 1, 1}, .march = plain_processor};
  const std::string code = value_of(loader::dump_assembly(module.module(), 0, options));
  EXPECT_NE(code.find("vdivsd"), std::string::npos) << code;
  EXPECT_EQ(code.find("vdivpd"), std::string::npos) << code;
  EXPECT_EQ(code.find("\tdivl"), std::string::npos) << code;
  EXPECT_EQ(code.find("\tidivl"), std::string::npos) << code;
}

TEST(VectorGroups, load_a_row_where_what_was_divided_says_so) {
  const std::string text = kernel(
      "ld.global.u32 %r2, [%a0];\nrem.u32 %r3, %r0, %r2;\nmul.wide.u32 %a2, %r3, 4;\nadd.u64 %a2, %a0, %a2;\n"
      "ld.global.u32 %r1, [%a2];\n");
  TestModule module(text, FormOfCode::Vector);
  const CompileOptions options{.form = FormOfCode::Vector, .block = {128, 1, 1}};
  const std::string code = value_of(loader::dump_ir(module.module(), 0, options));
  EXPECT_NE(code.find("in.a.row"), std::string::npos) << code;
  EXPECT_NE(code.find("the.same"), std::string::npos) << code;
}

TEST(VectorGroups, move_what_lanes_exchange_as_vectors) {
  for (const std::string order : {"", ".volatile"}) {
    const std::string text = kernel(
        ".shared .align 4 .b8 tile[4096];\n.reg .u32 %mine;\nmov.u32 %mine, tile;\nmad.lo.u32 %mine, %r0, 4, %mine;\n"
        "st" +
        order + ".shared.u32 [%mine], %r0;\nld" + order + ".shared.u32 %r2, [%mine + 4];\nst" + order +
        ".shared.u32 [%mine], %r2;\n"
        "and.b32 %r3, %r0, 1;\nsetp.eq.u32 %p0, %r3, 0;\n@!%p0 bra L1;\nld" +
        order +
        ".shared.u32 %r3, [%mine + 4];\n"
        "mad.lo.u32 %r2, %r2, 100, %r3;\nst" +
        order + ".shared.u32 [%mine + 4], %r2;\nL1: bar.sync 0;\nld" + order +
        ".shared.u32 %r1, "
        "[%mine];\n");
    TestModule module(text, FormOfCode::Vector);
    const CompileOptions options{.form = FormOfCode::Vector, .block = {128, 1, 1}, .march = "x86-64-v3"};
    const std::string ir = value_of(loader::dump_ir(module.module(), 0, options));
    EXPECT_NE(ir.find("load <8 x i32>"), std::string::npos) << ir;
    EXPECT_NE(ir.find("store <8 x i32>"), std::string::npos) << ir;
    EXPECT_EQ(ir.find("volatile"), std::string::npos) << ir;
    // The words behind the last warp belong to nobody, and what a warp loads of the next one's may be either.
    Words scalar = run_form(text, FormOfCode::Scalar, 32), vector = run_form(text, FormOfCode::Vector, 32);
    EXPECT_EQ(Words(scalar.begin(), scalar.end() - 1), Words(vector.begin(), vector.end() - 1));
    EXPECT_EQ(vector[2], 3U);
    EXPECT_EQ(vector[3], 300U + 4U);
  }
}

TEST(VectorGroups, leave_no_masked_version_to_one_threads_sum_and_store) {
  // As a library's sum of a block and what its user makes of it, both on the first thread.
  const std::string text = kernel(
      ".shared .align 4 .b8 sums[128];\n.reg .u32 %mine;\nmov.u32 %mine, sums;\nshr.u32 %r2, %r0, 5;\n"
      "mad.lo.u32 %mine, %r2, 4, %mine;\nredux.sync.add.s32 %r1, %r0, -1;\nand.b32 %r3, %r0, 31;\n"
      "setp.ne.u32 %p0, %r3, 0;\n@%p0 bra L1;\nst.shared.u32 [%mine], %r1;\nL1: bar.sync 0;\n"
      "setp.ne.u32 %p1, %r0, 0;\n@%p1 bra L2;\nld.shared.u32 %r4, [sums + 4];\nadd.u32 %r1, %r1, %r4;\n"
      "L2: @%p1 bra L3;\nst.global.u32 [%a0 + 4], %r1;\nL3: mov.u32 %r1, 5;\n@!%p1 bra L4;\nret;\nL4:\n");
  TestModule module(text, FormOfCode::Vector);
  const CompileOptions options{.form = FormOfCode::Vector, .block = {64, 1, 1}, .march = "x86-64-v4"};
  const std::string ir = value_of(loader::dump_ir(module.module(), 0, options));
  EXPECT_EQ(ir.find("waiting"), std::string::npos) << ir;
  EXPECT_EQ(ir.find("look.for.lane"), std::string::npos) << ir;
  EXPECT_EQ(run_form(text, FormOfCode::Vector, 64), run_form(text, FormOfCode::Scalar, 64));
}

}  // namespace cucore::cpu
