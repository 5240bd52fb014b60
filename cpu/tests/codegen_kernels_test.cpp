// Whole kernels, as the PTX compiler makes them, through the code generator.
#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "cpu/tests/codegen_stand_in.hpp"

namespace cucore::cpu {
namespace {

constexpr std::string_view saxpy = R"(
.version 9.0
.target sm_80
.address_size 64
.visible .entry saxpy(.param .f32 a, .param .u64 .ptr .align 1 x, .param .u64 .ptr .align 1 y, .param .u32 n)
{
  .reg .pred %p<2>;
  .reg .b32 %r<6>;
  .reg .b32 %f<5>;
  .reg .b64 %rd<8>;
  ld.param.b32 %f1, [a];
  ld.param.b64 %rd1, [x];
  ld.param.b64 %rd2, [y];
  ld.param.b32 %r2, [n];
  mov.u32 %r3, %ctaid.x;
  mov.u32 %r4, %ntid.x;
  mov.u32 %r5, %tid.x;
  mad.lo.s32 %r1, %r3, %r4, %r5;
  setp.ge.s32 %p1, %r1, %r2;
  @%p1 bra $L_end;
  cvta.to.global.u64 %rd3, %rd1;
  cvta.to.global.u64 %rd4, %rd2;
  mul.wide.s32 %rd5, %r1, 4;
  add.s64 %rd6, %rd3, %rd5;
  add.s64 %rd7, %rd4, %rd5;
  ld.global.f32 %f2, [%rd6];
  ld.global.f32 %f3, [%rd7];
  fma.rn.f32 %f4, %f1, %f2, %f3;
  st.global.f32 [%rd7], %f4;
$L_end:
  ret;
}
)";

TEST(CodegenKernels, saxpy_runs_as_a_plain_loop_over_the_block) {
  TestModule module(saxpy);
  std::vector<float> x(1000), y(1000);
  std::iota(x.begin(), x.end(), 0.0F);
  std::iota(y.begin(), y.end(), 100.0F);
  module.launch("saxpy", {4}, {256}, 2.0F, x.data(), y.data(), 1000U);
  EXPECT_FALSE(module.compile("saxpy")->info.needs_fibers);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const auto at = static_cast<float>(i);
    EXPECT_EQ(y[i], 2.0F * at + (100.0F + at));
  }
}

}  // namespace
}  // namespace cucore::cpu
