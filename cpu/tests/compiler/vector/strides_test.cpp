// Arrays whose strides are parameters, as libraries of arrays pass them: accesses of whole rows where the launch says
// that elements lie side by side, and the same results whatever it says.
#include <gtest/gtest.h>

#include <cstdint>
#include <numeric>

#include "cpu/tests/compiler/stand_in.hpp"
#include "cpu/tests/compiler/vector/kernels.hpp"

namespace cucore::cpu {

namespace {

/// Elements that a thread makes, one after the other: `count` of them in steps of the block's threads.
constexpr std::uint32_t threads = 48, count = 200;

/// Parameters: in, out, bytes from one element to the next in each, the number of elements.
std::string kernel_of_arrays(const std::string& body) {
  return ".version 8.0\n.target sm_90\n.address_size 64\n"
         ".visible .entry k(.param .u64 in, .param .u64 out, .param .u64 in_stride, .param .u64 out_stride, "
         ".param .u32 count)\n{\n.reg .u32 %r<20>;\n.reg .u64 %a<20>;\n.reg .pred %p<8>;\n"
         "ld.param.u64 %a0, [in];\nld.param.u64 %a1, [out];\nld.param.u64 %a2, [in_stride];\n"
         "ld.param.u64 %a3, [out_stride];\nld.param.u32 %r9, [count];\nmov.u32 %r0, %tid.x;\n" +
         body + "DONE: ret;\n}\n";
}

/// Of 64-bit products in a loop.
const std::string with_wide_products = kernel_of_arrays(
    "LOOP: setp.ge.u32 %p0, %r0, %r9;\n@%p0 bra DONE;\ncvt.s64.s32 %a4, %r0;\n"
    "mul.lo.s64 %a5, %a4, %a2;\nadd.s64 %a5, %a0, %a5;\nld.global.u32 %r1, [%a5];\nmad.lo.u32 %r1, %r1, 3, %r0;\n"
    "mul.lo.s64 %a6, %a4, %a3;\nadd.s64 %a6, %a1, %a6;\nst.global.u32 [%a6], %r1;\n"
    "add.u32 %r0, %r0, 48;\nbra LOOP;\n");

/// The index in the upper half of a register, extended by a shift in each iteration, as CuPy's kernels have it.
const std::string with_upper_halves = kernel_of_arrays(
    "cvt.u64.u32 %a4, %r0;\nmul.lo.s64 %a5, %a4, %a2;\nshl.b64 %a5, %a5, 32;\nmul.lo.s64 %a6, %a4, %a3;\n"
    "shl.b64 %a6, %a6, 32;\nmul.lo.s64 %a7, %a2, 48;\nshl.b64 %a7, %a7, 32;\nmul.lo.s64 %a8, %a3, 48;\n"
    "shl.b64 %a8, %a8, 32;\n"
    "LOOP: setp.ge.u32 %p0, %r0, %r9;\n@%p0 bra DONE;\nshr.s64 %a9, %a5, 32;\nadd.s64 %a9, %a0, %a9;\n"
    "ld.global.u32 %r1, [%a9];\nmad.lo.u32 %r1, %r1, 3, %r0;\nshr.s64 %a10, %a6, 32;\nadd.s64 %a10, %a1, %a10;\n"
    "st.global.u32 [%a10], %r1;\nadd.s64 %a5, %a5, %a7;\nadd.s64 %a6, %a6, %a8;\nadd.u32 %r0, %r0, 48;\nbra LOOP;\n");

/// Strides in elements, of 32 bits, and elements of one byte beside those of four.
const std::string with_elements = kernel_of_arrays(
    "cvt.u32.u64 %r2, %a2;\nshr.s32 %r2, %r2, 2;\ncvt.u32.u64 %r3, %a3;\nshr.s32 %r3, %r3, 2;\n"
    "LOOP: setp.ge.u32 %p0, %r0, %r9;\n@%p0 bra DONE;\nmul.lo.s32 %r4, %r0, %r2;\nmul.wide.s32 %a5, %r4, 4;\n"
    "add.s64 %a5, %a0, %a5;\nld.global.u32 %r1, [%a5];\nld.global.u8 %r5, [%a5+1];\nmad.lo.u32 %r1, %r1, 3, %r5;\n"
    "mul.lo.s32 %r4, %r0, %r3;\nmul.wide.s32 %a6, %r4, 4;\nadd.s64 %a6, %a1, %a6;\nst.global.u32 [%a6], %r1;\n"
    "add.u32 %r0, %r0, 48;\nbra LOOP;\n");

/// What a kernel leaves of arrays that are three times as long, and read and written from the middle on.
Words run(const std::string& text, FormOfCode form, std::int64_t in_stride, std::int64_t out_stride,
          std::string* refusal = nullptr) {
  TestModule module(text, form);
  Words in(std::size_t{6} * count), out(std::size_t{6} * count, 7);
  std::iota(in.begin(), in.end(), 100000U);
  module.launch("k", {1, 1, 1}, {threads, 1, 1}, &in[std::size_t{3} * count], &out[std::size_t{3} * count], in_stride,
                out_stride, count);
  if (refusal != nullptr) *refusal = module.refusal;
  return out;
}

}  // namespace

TEST(VectorStrides, of_any_size_give_what_the_scalar_form_gives) {
  for (const std::string& text : {with_wide_products, with_upper_halves, with_elements}) {
    for (const auto& [in_stride, out_stride] : std::vector<std::pair<std::int64_t, std::int64_t>>{
             {4, 4}, {4, 8}, {8, 4}, {-4, 4}, {4, -4}, {0, 4}, {8, 12}, {-8, -8}}) {
      std::string refusal;
      const Words expected = run(text, FormOfCode::Scalar, in_stride, out_stride);
      EXPECT_EQ(run(text, FormOfCode::Vector, in_stride, out_stride, &refusal), expected)
          << in_stride << " " << out_stride << "\n"
          << text;
      EXPECT_EQ(refusal, "");
      EXPECT_EQ(run(text, FormOfCode::Masked, in_stride, out_stride), expected)
          << in_stride << " " << out_stride << " under masks\n"
          << text;
    }
  }
}

TEST(VectorStrides, of_elements_side_by_side_have_accesses_of_rows) {
  for (const std::string& text : {with_wide_products, with_upper_halves}) {
    TestModule module(text, FormOfCode::Vector);
    for (const FormOfCode form : {FormOfCode::Vector, FormOfCode::Auto}) {
      const CompileOptions options{.form = form, .block = {128, 1, 1}};
      const std::string code = value_of(loader::dump_ir(module.module(), 0, options));
      EXPECT_NE(code.find("load <"), std::string::npos) << code;
      EXPECT_NE(code.find("store <"), std::string::npos) << code;
    }
  }
}

TEST(VectorStrides, are_not_what_counts_elements) {
  // The length of a row, perhaps: lanes that have a row each would gain nothing.
  TestModule module(with_elements, FormOfCode::Vector);
  const CompileOptions options{.form = FormOfCode::Vector, .block = {128, 1, 1}};
  const std::string code = value_of(loader::dump_ir(module.module(), 0, options));
  EXPECT_EQ(code.find("store <"), std::string::npos) << code;
}

}  // namespace cucore::cpu
