// Blocks of several rows of threads that run row by row: which kernels do, in which order, and that it changes nothing.
#include <gtest/gtest.h>

#include <numeric>

#include "cpu/abi/compiler.hpp"
#include "cpu/tests/compiler/stand_in.hpp"
#include "cpu/tests/compiler/vector/kernels.hpp"

namespace cucore::cpu {

namespace {

constexpr Extent extent{32, 4};
constexpr std::uint32_t columns = 5 * extent.x, rows = 3 * extent.y;

/// %r5 = in[%r0 of %r4], of which `body` makes out[%r0 of %r4] = %r5; the last 7 columns are left out. %a3 points to a
/// word for all threads.
std::string kernel_on_image(const std::string& body) {
  return ".version 8.0\n.target sm_90\n.address_size 64\n"
         ".visible .entry k(.param .u64 in, .param .u64 out, .param .u64 common, .param .u32 columns)\n{\n"
         ".reg .u32 %r<20>;\n.reg .u64 %a<20>;\n.reg .pred %p<8>;\n.shared .align 4 .b8 tile[512];\n"
         "ld.param.u64 %a0, [in];\nld.param.u64 %a1, [out];\nld.param.u64 %a3, [common];\nld.param.u32 %r3, "
         "[columns];\n"
         "mov.u32 %r0, %tid.x;\nmov.u32 %r1, %ctaid.x;\nmov.u32 %r2, %ntid.x;\nmad.lo.u32 %r0, %r1, %r2, %r0;\n"
         "mov.u32 %r4, %tid.y;\nmov.u32 %r1, %ctaid.y;\nmov.u32 %r2, %ntid.y;\nmad.lo.u32 %r4, %r1, %r2, %r4;\n"
         "sub.u32 %r6, %r3, 7;\nsetp.ge.s32 %p0, %r0, %r6;\n@%p0 bra DONE;\n"
         "mad.lo.s32 %r6, %r4, %r3, %r0;\nmul.wide.s32 %a2, %r6, 4;\nadd.u64 %a0, %a0, %a2;\nadd.u64 %a1, %a1, %a2;\n"
         "ld.global.u32 %r5, [%a0];\n" +
         body + "st.global.u32 [%a1], %r5;\nDONE: ret;\n}\n";
}

struct Outcome {
  Words out;
  bool runs_rows;
  std::string refusal;
};

Outcome run(const std::string& body, FormOfCode form = FormOfCode::Vector) {
  TestModule module(kernel_on_image(body), form);
  Words in(columns * rows), out(in.size()), common(1);
  std::iota(in.begin(), in.end(), 1000U);
  module.launch("k", {columns / extent.x, rows / extent.y}, extent, in.data(), out.data(), common.data(), columns);
  return {out, module.compile("k", extent)->info.runs_rows, module.refusal};
}

constexpr const char* with_neighbours =
    "ld.global.u32 %r7, [%a0+4];\nld.global.u32 %r8, [%a0+8];\nmad.lo.u32 %r5, %r5, %r7, %r8;\n";

/// Counts in the common word and keeps the number in the thread's place.
constexpr const char* with_the_turn = "ld.global.u32 %r5, [%a3];\nadd.u32 %r5, %r5, 1;\nst.global.u32 [%a3], %r5;\n";

}  // namespace

TEST(VectorRows, give_what_blocks_one_by_one_give) {
  for (const char* const body :
       {"", with_neighbours, "mov.u32 %r7, %ctaid.x;\nmad.lo.u32 %r5, %r7, 3, %r5;\n",
        "mov.u32 %r7, %ctaid.x;\nsetp.eq.u32 %p1, %r7, 2;\n@%p1 add.u32 %r5, %r5, 9;\n",
        "mov.u32 %r7, tile;\nmov.u32 %r8, %tid.x;\nmad.lo.u32 %r7, %r8, 4, %r7;\nst.shared.u32 [%r7], %r5;\n"
        "ld.shared.u32 %r8, [%r7];\nadd.u32 %r5, %r5, %r8;\n"}) {
    const Outcome rows_of_blocks = run(body);
    EXPECT_TRUE(rows_of_blocks.runs_rows) << body;
    EXPECT_EQ(rows_of_blocks.out, run(body, FormOfCode::Scalar).out) << body;
  }
}

TEST(VectorRows, are_run_through_all_blocks_before_the_next_ones) {
  const Outcome outcome = run(with_the_turn);
  ASSERT_TRUE(outcome.runs_rows);
  auto turn = [&](std::uint32_t block, std::uint32_t row) { return outcome.out.at(row * columns + block * extent.x); };
  for (std::uint32_t row = 1; row < rows; ++row) EXPECT_LT(turn(4, row - 1), turn(0, row)) << row;
  for (std::uint32_t block = 1; block < 5; ++block) EXPECT_LT(turn(block - 1, 0), turn(block, 0)) << block;
}

TEST(VectorRows, are_not_for_code_that_goes_elsewhere_or_tells_blocks_apart) {
  for (const char* const body :
       {"bar.sync 0;\n", "red.global.add.u32 [%a3], 1;\n", "ld.volatile.global.u32 %r5, [%a3];\n", "membar.gl;\n",
        "mov.u32 %r5, %clusterid.x;\n",
        "mov.u32 %r7, 0;\nLOOP: add.u32 %r5, %r5, %r6;\nadd.u32 %r7, %r7, 1;\nsetp.lt.u32 %p1, %r7, %r6;\n"
        "@%p1 bra LOOP;\n",
        "mul.lo.u32 %r7, %r0, 12;\nmul.wide.u32 %a4, %r7, 4;\nld.param.u64 %a5, [in];\nadd.u64 %a4, %a4, %a5;\n"
        "ld.global.u32 %r5, [%a4];\n"}) {
    TestModule module(kernel_on_image(body), FormOfCode::Vector);
    EXPECT_FALSE(module.compile("k", extent)->info.runs_rows) << body;
    EXPECT_EQ(module.refusal, "") << body;
  }
}

TEST(VectorRows, are_not_for_blocks_of_one_row_or_of_one_group) {
  TestModule module(kernel_on_image(with_neighbours), FormOfCode::Vector);
  EXPECT_TRUE(module.compile("k", {64, 8})->info.runs_rows);
  EXPECT_FALSE(module.compile("k", {256, 1})->info.runs_rows);
  EXPECT_FALSE(module.compile("k", {4, 2})->info.runs_rows);
}

}  // namespace cucore::cpu
