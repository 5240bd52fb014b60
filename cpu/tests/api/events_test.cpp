// Events: recording, waiting, times, and the codes for times that do not exist.
#include <thread>

#include "cpu/tests/api/driver.hpp"

namespace {

class Events : public DriverTest {
 protected:
  void SetUp() override {
    DriverTest::SetUp();
    ASSERT_OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    ASSERT_OK(cuEventCreate(&start, CU_EVENT_DEFAULT));
    ASSERT_OK(cuEventCreate(&end, CU_EVENT_DEFAULT));
  }
  CUstream stream = nullptr;
  CUevent start = nullptr;
  CUevent end = nullptr;
  float milliseconds = -1;
};

TEST_F(Events, an_event_never_recorded_is_done) {
  EXPECT_OK(cuEventQuery(start));
  EXPECT_OK(cuEventSynchronize(start));
  EXPECT_OK(cuStreamWaitEvent(stream, start, 0));
}

TEST_F(Events, time_between_two_records_is_not_negative) {
  ASSERT_OK(cuEventRecord(start, stream));
  ASSERT_OK(cuEventRecord(end, stream));
  ASSERT_OK(cuEventSynchronize(end));
  EXPECT_OK(cuEventElapsedTime(&milliseconds, start, end));
  EXPECT_GE(milliseconds, 0.0F);
}

TEST_F(Events, time_of_an_event_never_recorded_is_an_invalid_handle) {
  ASSERT_OK(cuEventRecord(start, stream));
  EXPECT_EQ(CUDA_ERROR_INVALID_HANDLE, cuEventElapsedTime(&milliseconds, start, end));
}

TEST_F(Events, time_without_timing_is_an_invalid_handle) {
  CUevent untimed = nullptr;
  ASSERT_OK(cuEventCreate(&untimed, CU_EVENT_DISABLE_TIMING));
  ASSERT_OK(cuEventRecord(start, stream));
  ASSERT_OK(cuEventRecord(untimed, stream));
  ASSERT_OK(cuEventSynchronize(untimed));
  EXPECT_EQ(CUDA_ERROR_INVALID_HANDLE, cuEventElapsedTime(&milliseconds, start, untimed));
}

TEST_F(Events, an_event_behind_running_work_is_not_ready) {
  int* const flag = device_array<int>(1);
  int* const out = device_array<int>(1);
  ASSERT_OK(cuEventRecord(start, stream));
  ASSERT_OK(launch(kernel("wait_for"), 1, 1, stream, flag, out));
  ASSERT_OK(cuEventRecord(end, stream));
  EXPECT_EQ(CUDA_ERROR_NOT_READY, cuEventQuery(end));
  EXPECT_EQ(CUDA_ERROR_NOT_READY, cuEventElapsedTime(&milliseconds, start, end));
  raise(flag);
  EXPECT_OK(cuEventSynchronize(end));
  EXPECT_EQ(1, *out);
  EXPECT_OK(cuEventElapsedTime(&milliseconds, start, end));
}

TEST_F(Events, whoever_sees_an_event_complete_finds_its_stream_ready) {
  int* const out = device_array<int>(1);
  for (int i = 0; i < 2000; ++i) {  // the gap would be some instructions of the thread that runs the stream
    ASSERT_OK(launch(kernel("set_to"), 1, 1, stream, out, i));
    ASSERT_OK(cuEventRecord(end, stream));
    while (cuEventQuery(end) == CUDA_ERROR_NOT_READY) {
    }
    ASSERT_OK(cuStreamQuery(stream));
  }
}

TEST_F(Events, a_stream_waits_for_the_record_it_saw) {
  int* const flag = device_array<int>(1);
  int* const first = device_array<int>(1);
  int* const second = device_array<int>(1);
  CUstream other = nullptr;
  ASSERT_OK(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
  ASSERT_OK(launch(kernel("wait_for"), 1, 1, stream, flag, first));
  ASSERT_OK(cuEventRecord(start, stream));
  ASSERT_OK(cuStreamWaitEvent(other, start, 0));
  ASSERT_OK(launch(kernel("set_to"), 1, 1, other, second, 5));
  EXPECT_EQ(CUDA_ERROR_NOT_READY, cuStreamQuery(other));
  EXPECT_EQ(0, *second);
  raise(flag);
  ASSERT_OK(cuStreamSynchronize(other));
  EXPECT_EQ(5, *second);
  EXPECT_EQ(1, *first);
}

TEST_F(Events, a_destroyed_event_still_holds_back_who_waits_for_it) {
  int* const flag = device_array<int>(1);
  int* const out = device_array<int>(2);
  CUstream other = nullptr;
  ASSERT_OK(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
  ASSERT_OK(launch(kernel("wait_for"), 1, 1, stream, flag, out));
  ASSERT_OK(cuEventRecord(start, stream));
  ASSERT_OK(cuStreamWaitEvent(other, start, 0));
  ASSERT_OK(cuEventDestroy(start));
  ASSERT_OK(launch(kernel("set_to"), 1, 1, other, out + 1, 5));
  EXPECT_EQ(0, out[1]);
  raise(flag);
  ASSERT_OK(cuCtxSynchronize());
  EXPECT_EQ(5, out[1]);
}

TEST_F(Events, an_event_of_another_context_cannot_be_recorded_here) {
  CUcontext other = nullptr;
  CUevent foreign = nullptr;
  ASSERT_OK(cuCtxCreate(&other, nullptr, 0, device));
  ASSERT_OK(cuEventCreate(&foreign, 0));
  ASSERT_OK(cuCtxSetCurrent(context));
  EXPECT_EQ(CUDA_ERROR_INVALID_HANDLE, cuEventRecord(foreign, stream));
  EXPECT_OK(cuCtxDestroy(other));
}

}  // namespace
