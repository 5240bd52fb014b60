// Copies between the device and memory that is not page-locked, by the calls named Async: the caller may reuse the
// memory when the call returns. Nothing in it knows the CPU device, so it runs on a GPU's driver too.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "cpu/tests/any_driver/texture_driver.hpp"

namespace {

constexpr int late = 7;

class PageableMemory : public Textures {
 protected:
  void SetUp() override {
    Textures::SetUp();
    ASSERT_OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    ASSERT_OK(cuMemAllocHost(reinterpret_cast<void**>(&locked), sizeof *locked));
    ASSERT_OK(cuMemAlloc(&memory, byte_count));
    ASSERT_OK(cuMemsetD8(memory, 0, byte_count));
    *locked = 0;
  }
  void TearDown() override {
    EXPECT_OK(cuStreamSynchronize(stream));
    EXPECT_OK(cuMemFree(memory));
    EXPECT_OK(cuMemFreeHost(locked));
    EXPECT_OK(cuStreamDestroy(stream));
    Textures::TearDown();
  }

  /// Work that takes a while, and puts late into the memory at its end.
  void put_late() {
    const auto wait_and_put = [](void* word) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      *static_cast<int*>(word) = late;
    };
    ASSERT_OK(cuLaunchHostFunc(stream, wait_and_put, locked));
    ASSERT_OK(cuMemcpyHtoDAsync(memory, locked, sizeof *locked, stream));
  }
  /// Holds the stream back until the flag is raised.
  void hold() {
    const auto wait = [](void* flag) { static_cast<std::atomic<bool>*>(flag)->wait(false); };
    ASSERT_OK(cuLaunchHostFunc(stream, wait, &is_released));
  }
  void release() {
    is_released = true;
    is_released.notify_all();
  }

  static constexpr std::size_t byte_count = 1 << 20;
  CUstream stream = nullptr;
  CUdeviceptr memory = 0;
  int* locked = nullptr;
  std::atomic<bool> is_released{false};
};

TEST_F(PageableMemory, what_is_copied_to_it_is_there_when_the_call_returns) {
  int plain = 0;
  put_late();
  ASSERT_OK(cuMemcpyDtoHAsync(&plain, memory, sizeof plain, stream));
  EXPECT_EQ(late, plain);

  int unified = 0;
  ASSERT_OK(cuMemsetD8(memory, 0, byte_count));
  put_late();
  ASSERT_OK(cuMemcpyAsync(reinterpret_cast<CUdeviceptr>(&unified), memory, sizeof unified, stream));
  EXPECT_EQ(late, unified);

  std::vector<int> rows(byte_count / sizeof(int));
  ASSERT_OK(cuMemsetD8(memory, 0, byte_count));
  put_late();
  CUDA_MEMCPY2D shape{};
  shape.srcMemoryType = CU_MEMORYTYPE_DEVICE;
  shape.srcDevice = memory;
  shape.dstMemoryType = CU_MEMORYTYPE_HOST;
  shape.dstHost = rows.data();
  shape.srcPitch = shape.dstPitch = shape.WidthInBytes = 1024;
  shape.Height = byte_count / 1024;
  ASSERT_OK(cuMemcpy2DAsync(&shape, stream));
  EXPECT_EQ(late, rows[0]);
}

TEST_F(PageableMemory, a_source_that_is_read_during_the_call_is_read_behind_what_the_stream_writes) {
  int plain = 0;
  CUdeviceptr to = reinterpret_cast<CUdeviceptr>(&plain);
  std::size_t bytes = sizeof plain, first = 0;
  CUmemcpyAttributes attributes{};
  attributes.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_DURING_API_CALL;
  put_late();
  ASSERT_OK(cuMemcpyBatchAsync_v2(&to, &memory, &bytes, 1, &attributes, &first, 1, stream));
  EXPECT_EQ(late, plain);
}

TEST_F(PageableMemory, a_source_to_be_read_in_stream_order_is_waited_for) {
  const int plain = 3;
  CUdeviceptr from = reinterpret_cast<CUdeviceptr>(&plain);
  std::size_t bytes = sizeof plain, first = 0;
  CUmemcpyAttributes attributes{};
  attributes.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM;
  put_late();
  ASSERT_OK(cuMemcpyBatchAsync_v2(&memory, &from, &bytes, 1, &attributes, &first, 1, stream));
  EXPECT_OK(cuStreamQuery(stream)) << "the caller may reuse its memory, so all must be done";
}

TEST_F(PageableMemory, a_little_of_a_source_that_may_be_read_at_any_time_is_read_at_once) {
  int plain = 3;
  CUdeviceptr from = reinterpret_cast<CUdeviceptr>(&plain);
  std::size_t bytes = sizeof plain, first = 0;
  CUmemcpyAttributes attributes{};
  attributes.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_ANY;
  hold();
  ASSERT_OK(cuMemcpyBatchAsync_v2(&memory, &from, &bytes, 1, &attributes, &first, 1, stream));
  EXPECT_EQ(CUDA_ERROR_NOT_READY, cuStreamQuery(stream));
  plain = 9;
  release();
  ASSERT_OK(cuStreamSynchronize(stream));
  int seen = 0;
  ASSERT_OK(cuMemcpyDtoH(&seen, memory, sizeof seen));
  EXPECT_EQ(3, seen);
}

TEST_F(PageableMemory, what_is_copied_from_it_was_read_when_the_call_returns) {
  std::vector<int> source(16, 3);
  const std::size_t bytes = source.size() * sizeof(int);
  hold();
  ASSERT_OK(cuMemcpyHtoDAsync(memory, source.data(), bytes, stream));
  EXPECT_EQ(CUDA_ERROR_NOT_READY, cuStreamQuery(stream));
  std::fill(source.begin(), source.end(), 9);
  release();
  ASSERT_OK(cuStreamSynchronize(stream));
  std::vector<int> seen(source.size());
  ASSERT_OK(cuMemcpyDtoH(seen.data(), memory, bytes));
  EXPECT_EQ(std::vector<int>(source.size(), 3), seen);
}

TEST_F(PageableMemory, page_locked_memory_is_waited_for_by_nobody) {
  *locked = 3;
  hold();
  ASSERT_OK(cuMemcpyHtoDAsync(memory, locked, sizeof *locked, stream));
  *locked = 9;  // which the copy reads, for it runs later
  release();
  ASSERT_OK(cuStreamSynchronize(stream));
  int seen = 0;
  ASSERT_OK(cuMemcpyDtoH(&seen, memory, sizeof seen));
  EXPECT_EQ(9, seen);
}

}  // namespace
