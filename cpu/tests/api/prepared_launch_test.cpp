// The deprecated way to launch: block shape and parameters set one by one, and kept by the function.
#include "cpu/tests/api/driver.hpp"

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"  // they are what is tested

namespace {

class PreparedLaunches : public DriverTest {};

TEST_F(PreparedLaunches, parameters_go_to_their_offsets_and_stay_for_the_next_launch) {
  const CUfunction saxpy = kernel("saxpy");  // (float a, const float* x, float* y, int n)
  auto* x = device_array<float>(100);
  auto* y = device_array<float>(100);
  for (int i = 0; i < 100; ++i) x[i] = static_cast<float>(i);
  ASSERT_OK(cuFuncSetBlockShape(saxpy, 25, 1, 1));
  ASSERT_OK(cuParamSetSize(saxpy, 28));
  ASSERT_OK(cuParamSetf(saxpy, 0, 2.0F));
  ASSERT_OK(cuParamSetv(saxpy, 8, &x, sizeof x));
  ASSERT_OK(cuParamSetv(saxpy, 16, &y, sizeof y));
  ASSERT_OK(cuParamSeti(saxpy, 24, 100));
  ASSERT_OK(cuLaunchGrid(saxpy, 4, 1));
  ASSERT_OK(cuCtxSynchronize());
  EXPECT_EQ(198.0F, y[99]);
  ASSERT_OK(cuParamSetf(saxpy, 0, 3.0F));
  ASSERT_OK(cuLaunch(saxpy));  // one block
  ASSERT_OK(cuCtxSynchronize());
  EXPECT_EQ(24 * 5.0F, y[24]);
  EXPECT_EQ(25 * 2.0F, y[25]);
}

TEST_F(PreparedLaunches, shared_memory_and_streams_are_taken) {
  const CUfunction sum = kernel("block_sum");  // (const int* in, int* out)
  CUstream stream = nullptr;
  ASSERT_OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  auto* in = device_array<int>(256);
  auto* out = device_array<int>(4);
  for (int i = 0; i < 256; ++i) in[i] = i;
  ASSERT_OK(cuFuncSetBlockShape(sum, 64, 1, 1));
  ASSERT_OK(cuFuncSetSharedSize(sum, 64 * sizeof(int)));
  ASSERT_OK(cuParamSetv(sum, 0, &in, sizeof in));
  ASSERT_OK(cuParamSetv(sum, 8, &out, sizeof out));
  ASSERT_OK(cuLaunchGridAsync(sum, 4, 1, stream));
  ASSERT_OK(cuStreamSynchronize(stream));
  EXPECT_EQ(255 * 128, out[0] + out[1] + out[2] + out[3]);
}

TEST_F(PreparedLaunches, grids_and_blocks_have_their_extents) {
  const CUfunction count_up = kernel("count_up");  // (int* out)
  auto* out = device_array<int>(1);
  ASSERT_OK(cuParamSetv(count_up, 0, &out, sizeof out));
  ASSERT_OK(cuLaunchGrid(count_up, 3, 2));
  ASSERT_OK(cuFuncSetBlockShape(count_up, 2, 3, 5));
  ASSERT_OK(cuLaunch(count_up));
  ASSERT_OK(cuCtxSynchronize());
  EXPECT_EQ(6 + 30, *out);
}

TEST_F(PreparedLaunches, what_is_missing_or_wrong_is_refused) {
  const CUfunction set_to = kernel("set_to");             // (int* out, int value)
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuLaunch(set_to));  // no parameters yet
  auto* out = device_array<int>(1);
  ASSERT_OK(cuParamSetv(set_to, 0, &out, sizeof out));
  ASSERT_OK(cuParamSeti(set_to, 8, 5));
  ASSERT_OK(cuParamSetSize(set_to, 8));  // the second is gone
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuLaunch(set_to));
  ASSERT_OK(cuParamSeti(set_to, 8, 6));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuLaunchGrid(set_to, 0, 1));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuLaunchGrid(set_to, 1, -1));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuFuncSetBlockShape(set_to, 1, 0, 1));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuParamSeti(set_to, -4, 1));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuParamSeti(set_to, 40000, 1));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuParamSetv(set_to, 0, nullptr, 4));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuParamSetSize(set_to, 40000));
  EXPECT_EQ(CUDA_ERROR_INVALID_HANDLE, cuLaunch(garbage<CUfunction>()));
  EXPECT_EQ(CUDA_ERROR_INVALID_HANDLE, cuParamSeti(garbage<CUfunction>(), 0, 1));
  ASSERT_OK(cuFuncSetBlockShape(set_to, 2000, 1, 1));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuLaunch(set_to));
  ASSERT_OK(cuFuncSetBlockShape(set_to, 1, 1, 1));
  ASSERT_OK(cuLaunch(set_to));
  ASSERT_OK(cuCtxSynchronize());
  EXPECT_EQ(6, *out);
}

}  // namespace
