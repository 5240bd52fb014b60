// Kernels that meet: barriers, warp operations, waits between blocks, grids larger than the pool, printing.
#include <numeric>

#include "cpu/tests/api/driver.hpp"

namespace {

using Kernels = DriverTest;

TEST_F(Kernels, saxpy_over_many_blocks) {
  constexpr int count_place = 100003;
  float* const x = device_array<float>(count_place);
  float* const y = device_array<float>(count_place);
  for (int i = 0; i < count_place; ++i) x[i] = static_cast<float>(i);
  ASSERT_OK(launch(kernel("saxpy"), (count_place + 255) / 256, 256, nullptr, 2.0F, x, y, count_place));
  ASSERT_OK(cuCtxSynchronize());
  for (int i = 0; i < count_place; ++i) ASSERT_EQ(2.0F * static_cast<float>(i), y[i]);
}

/// Their rows go through several blocks, as many as there are on x and as a processor takes at once.
TEST_F(Kernels, blocks_of_several_rows_run_once_each) {
  ASSERT_OK(cuModuleLoadData(&module, R"(
.version 7.8
.target sm_80
.address_size 64
.visible .entry count(.param .u64 out)
{
  .reg .b32 %x, %y, %block, %columns, %width, %height, %value;
  .reg .b64 %out;
  ld.param.u64 %out, [out];
  mov.u32 %width, %ntid.x;
  mov.u32 %height, %ntid.y;
  mov.u32 %columns, %nctaid.x;
  mul.lo.u32 %columns, %columns, %width;
  mov.u32 %y, %tid.y;
  mov.u32 %block, %ctaid.y;
  mad.lo.u32 %y, %block, %height, %y;
  mov.u32 %x, %tid.x;
  mov.u32 %block, %ctaid.x;
  mad.lo.u32 %x, %block, %width, %x;
  mad.lo.u32 %x, %y, %columns, %x;
  mad.wide.s32 %out, %x, 4, %out;
  ld.global.u32 %value, [%out];
  mad.lo.u32 %value, %block, 3, %value;
  add.u32 %value, %value, 1;
  st.global.u32 [%out], %value;
  ret;
})"));
  CUfunction count = kernel("count");
  for (const unsigned across : {1U, 7U, 33U, 100U, 700U}) {
    const unsigned down = 13, columns = 32 * across, rows = 4 * down;
    auto* out = device_array<unsigned>(columns * rows);
    std::fill_n(out, columns * rows, 5U);
    void* parameters[] = {&out};
    ASSERT_OK(cuLaunchKernel(count, across, down, 1, 32, 4, 1, 0, nullptr, parameters, nullptr));
    ASSERT_OK(cuCtxSynchronize());
    for (unsigned i = 0; i < columns * rows; ++i) ASSERT_EQ(6 + 3 * (i % columns / 32), out[i]) << across << ": " << i;
  }
}

TEST_F(Kernels, a_barrier_separates_the_steps_of_a_reduction) {
  constexpr int block_count = 20;
  int* in = device_array<int>(block_count * 256);
  int* out = device_array<int>(block_count);
  std::iota(in, in + block_count * 256, 0);
  void* parameters[] = {&in, &out};
  ASSERT_OK(cuLaunchKernel(kernel("block_sum"), block_count, 1, 1, 256, 1, 1, 1024, nullptr, parameters, nullptr));
  ASSERT_OK(cuCtxSynchronize());
  for (int block = 0; block < block_count; ++block)
    EXPECT_EQ(std::accumulate(in + block * 256, in + (block + 1) * 256, 0), out[block]);
}

TEST_F(Kernels, a_shuffle_reads_the_named_lane) {
  int* const out = device_array<int>(64);
  ASSERT_OK(launch(kernel("warp_rotate"), 1, 64, nullptr, out));
  ASSERT_OK(cuCtxSynchronize());
  for (int i = 0; i < 64; ++i) EXPECT_EQ(i / 32 * 32 + (i + 1) % 32, out[i]);
}

TEST_F(Kernels, threads_that_left_count_as_arrived) {
  int* const out = device_array<int>(1);
  ASSERT_OK(launch(kernel("leave_early_then_meet"), 1, 100, nullptr, out));
  ASSERT_OK(cuCtxSynchronize());
  EXPECT_EQ(50, *out);
}

TEST_F(Kernels, threads_that_arrived_and_left_count_once) {
  // The first warp arrives and leaves, the second waits for what the third writes after a while.
  ASSERT_OK(cuModuleLoadData(&module, R"(
.version 7.8
.target sm_80
.address_size 64
.visible .entry hand_in(.param .u64 out)
{
  .reg .b32 %x, %turn, %value;
  .reg .b64 %out;
  .reg .pred %first, %third, %again;
  .shared .align 4 .b8 word[4];
  ld.param.u64 %out, [out];
  mov.u32 %x, %tid.x;
  setp.lt.u32 %first, %x, 32;
  @%first bra LEAVE;
  setp.ge.u32 %third, %x, 64;
  mov.u32 %turn, 100;
  @!%third bra MEET;
WAIT:
  nanosleep.u32 100;
  sub.u32 %turn, %turn, 1;
  setp.ne.u32 %again, %turn, 0;
  @%again bra WAIT;
  st.volatile.shared.u32 [word], 7;
MEET:
  bar.sync 1, 96;
  ld.volatile.shared.u32 %value, [word];
  mad.wide.u32 %out, %x, 4, %out;
  st.global.u32 [%out], %value;
  ret;
LEAVE:
  bar.arrive 1, 96;
  ret;
})"));
  auto* const out = device_array<std::uint32_t>(96);
  ASSERT_OK(launch(kernel("hand_in"), 1, 96, nullptr, out));
  ASSERT_OK(cuCtxSynchronize());
  for (std::uint32_t i = 32; i < 96; ++i) EXPECT_EQ(7U, out[i]) << i;
}

TEST_F(Kernels, blocks_wait_for_earlier_ones) {
  constexpr int block_count = 200;
  int* const turn = device_array<int>(1);
  int* const out = device_array<int>(block_count);
  ASSERT_OK(launch(kernel("hand_over"), block_count, 64, nullptr, turn, out));
  ASSERT_OK(cuCtxSynchronize());
  EXPECT_EQ(block_count, *turn);
  EXPECT_EQ(block_count - 1, out[block_count - 1]);
}

TEST_F(Kernels, resident_blocks_wait_for_later_ones) {
  int* const flag = device_array<int>(1);
  ASSERT_OK(launch(kernel("wait_for_later_block"), 16, 32, nullptr, flag));
  ASSERT_OK(cuCtxSynchronize());
  EXPECT_EQ(1, *flag);
}

TEST_F(Kernels, printing_appears_at_synchronisation_in_thread_order) {
  ::testing::internal::CaptureStdout();
  ASSERT_OK(launch(kernel("print_two"), 1, 1, nullptr, 5, 2.5));
  ASSERT_OK(launch(kernel("print_lane"), 1, 5, nullptr));
  ASSERT_OK(cuCtxSynchronize());
  EXPECT_EQ("a=5 b=2.50 text!\n0 1 2 3 4 ", ::testing::internal::GetCapturedStdout());
}

TEST_F(Kernels, activemask_holds_the_lanes_of_a_branch) {
  // Odd lanes and even lanes each ask in their own branch; then all ask. 40 threads: the second warp has 8 lanes.
  ASSERT_OK(cuModuleLoadData(&module, R"(.version 7.0
.target sm_70
.address_size 64
.visible .entry ask(.param .u64 out)
{
  .reg .pred %odd;
  .reg .b32 %r<4>;
  .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd2, %r1, 8;
  add.u64 %rd3, %rd1, %rd2;
  and.b32 %r2, %r1, 1;
  setp.ne.u32 %odd, %r2, 0;
  @%odd bra ODD;
  activemask.b32 %r3;
  bra.uni MEET;
ODD:
  activemask.b32 %r3;
MEET:
  st.global.u32 [%rd3], %r3;
  activemask.b32 %r3;
  st.global.u32 [%rd3+4], %r3;
  ret;
})"));
  auto* const out = device_array<std::uint32_t>(80);
  ASSERT_OK(launch(kernel("ask"), 1, 40, nullptr, out));
  ASSERT_OK(cuCtxSynchronize());
  for (std::uint32_t i = 0; i < 40; ++i) {
    const std::uint32_t warp = i < 32 ? 0xffffffff : 0xff;
    EXPECT_EQ((i % 2 ? 0xaaaaaaaa : 0x55555555) & warp, out[2 * i]) << i;
    EXPECT_EQ(warp, out[2 * i + 1]) << i;
  }
}

TEST_F(Kernels, lanes_whose_masks_name_only_others_get_what_those_brought) {
  // Each lane asks those below it, as HeCBench's bscan counts predicates.
  ASSERT_OK(cuModuleLoadData(&module, R"(.version 7.0
.target sm_70
.address_size 64
.visible .entry ask(.param .u64 out)
{
  .reg .pred %odd, %any, %all;
  .reg .b32 %r<8>;
  .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd2, %r1, 16;
  add.u64 %rd3, %rd1, %rd2;
  mov.u32 %r2, %lanemask_lt;
  and.b32 %r3, %r1, 5;
  setp.eq.u32 %odd, %r3, 5;
  vote.sync.ballot.b32 %r4, %odd, %r2;
  st.global.u32 [%rd3], %r4;
  vote.sync.any.pred %any, %odd, %r2;
  selp.u32 %r5, 1, 0, %any;
  st.global.u32 [%rd3+4], %r5;
  bar.sync 0;
  vote.sync.all.pred %all, %odd, %r2;
  selp.u32 %r6, 1, 0, %all;
  st.global.u32 [%rd3+8], %r6;
  bar.warp.sync %r2;
  ret;
})"));
  auto* const out = device_array<std::uint32_t>(160);
  ASSERT_OK(launch(kernel("ask"), 1, 40, nullptr, out));
  ASSERT_OK(cuCtxSynchronize());
  for (std::uint32_t i = 0; i < 40; ++i) {
    const std::uint32_t below = (1U << i % 32) - 1, odd = 0xa0a0a0a0;
    EXPECT_EQ(odd & below, out[4 * i]) << i;
    EXPECT_EQ((odd & below) != 0 ? 1U : 0U, out[4 * i + 1]) << i;
    EXPECT_EQ((~odd & below) == 0 ? 1U : 0U, out[4 * i + 2]) << i;
  }
}

TEST_F(Kernels, lanes_whose_masks_name_only_others_go_on_when_those_have) {
  // All lanes bring a value down to those that have data, as HeCBench's bsw does, and meet at a barrier.
  ASSERT_OK(cuModuleLoadData(&module, R"(.version 7.0
.target sm_70
.address_size 64
.visible .entry down(.param .u64 out)
{
  .reg .pred %none;
  .reg .b32 %r<8>;
  .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd2, %r1, 4;
  add.u64 %rd3, %rd1, %rd2;
  add.u32 %r2, %r1, 100;
  shfl.sync.down.b32 %r3, %r2, 2, 31, 0x3f;
  add.u32 %r2, %r2, %r3;
  shfl.sync.down.b32 %r3, %r2, 1, 31, 0x3f;
  vote.sync.any.pred %none, 0, 0x3f;
  bar.warp.sync 0x3f;
  bar.sync 0;
  st.global.u32 [%rd3], %r3;
  ret;
})"));
  auto* const out = device_array<std::uint32_t>(40);
  ASSERT_OK(launch(kernel("down"), 1, 40, nullptr, out));
  ASSERT_OK(cuCtxSynchronize());
  for (const std::uint32_t first : {0U, 32U})
    for (std::uint32_t i = 0; i < 3; ++i) EXPECT_EQ(2 * (first + i + 1 + 100) + 2, out[first + i]) << i;
}

TEST_F(Kernels, recursion_fits_in_the_default_stack) {
  int* const out = device_array<int>(1);
  ASSERT_OK(launch(kernel("recurse"), 1, 1, nullptr, 10, out));
  ASSERT_OK(cuCtxSynchronize());
  EXPECT_EQ(55, *out);
}

}  // namespace
