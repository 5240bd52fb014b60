// Streams: order within one, independence between two, and the rules of the default streams.
#include <signal.h>

#include <algorithm>
#include <atomic>
#include <cfenv>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <thread>
#include <vector>

#include "cpu/tests/api/driver.hpp"

namespace {

class Streams : public DriverTest {
 protected:
  CUstream make(unsigned int flags) {
    CUstream stream = nullptr;
    EXPECT_OK(cuStreamCreate(&stream, flags));
    return stream;
  }
};

TEST_F(Streams, a_launch_returns_before_its_kernel_ends) {
  int* const flag = device_array<int>(1);
  int* const out = device_array<int>(1);
  const CUstream stream = make(CU_STREAM_NON_BLOCKING);
  ASSERT_OK(launch(kernel("wait_for"), 1, 1, stream, flag, out));
  EXPECT_EQ(CUDA_ERROR_NOT_READY, cuStreamQuery(stream));
  raise(flag);
  ASSERT_OK(cuStreamSynchronize(stream));
  EXPECT_EQ(1, *out);
  EXPECT_OK(cuStreamQuery(stream));
}

TEST_F(Streams, work_of_one_stream_runs_in_order) {
  int* const out = device_array<int>(1);
  const CUstream stream = make(CU_STREAM_NON_BLOCKING);
  for (int i = 1; i <= 200; ++i) ASSERT_OK(launch(kernel("set_to"), 1, 1, stream, out, i));
  int copied = 0;
  ASSERT_OK(cuMemcpyDtoHAsync(&copied, reinterpret_cast<CUdeviceptr>(out), sizeof copied, stream));
  ASSERT_OK(cuStreamSynchronize(stream));
  EXPECT_EQ(200, copied);
}

TEST_F(Streams, a_waiting_stream_holds_up_no_other) {
  int* const flag = device_array<int>(1);
  int* const out = device_array<int>(20);
  std::vector<CUstream> waiting;
  for (int i = 0; i < 8; ++i) {
    waiting.push_back(make(CU_STREAM_NON_BLOCKING));
    ASSERT_OK(launch(kernel("wait_for"), 1, 1, waiting.back(), flag, out + i));
  }
  const CUstream stream = make(CU_STREAM_NON_BLOCKING);
  ASSERT_OK(launch(kernel("set_to"), 1, 1, stream, flag, 1));  // another kernel, not the host, releases them
  ASSERT_OK(cuCtxSynchronize());
  for (int i = 0; i < 8; ++i) EXPECT_EQ(1, out[i]);
}

TEST_F(Streams, the_legacy_stream_waits_for_blocking_streams_and_they_for_it) {
  int* const flag = device_array<int>(1);
  int* const out = device_array<int>(3);
  const CUstream first = make(CU_STREAM_DEFAULT);
  const CUstream second = make(CU_STREAM_DEFAULT);
  ASSERT_OK(launch(kernel("wait_for"), 1, 1, first, flag, out));
  ASSERT_OK(launch(kernel("set_to"), 1, 1, nullptr, out + 1, 1));
  ASSERT_OK(launch(kernel("set_to"), 1, 1, second, out + 2, 1));
  EXPECT_EQ(CUDA_ERROR_NOT_READY, cuStreamQuery(nullptr));
  EXPECT_EQ(CUDA_ERROR_NOT_READY, cuStreamQuery(second));
  EXPECT_EQ(0, out[1]);
  EXPECT_EQ(0, out[2]);
  raise(flag);
  ASSERT_OK(cuStreamSynchronize(second));
  EXPECT_EQ(1, out[1]);
  EXPECT_EQ(1, out[2]);
}

TEST_F(Streams, a_non_blocking_stream_ignores_the_legacy_stream) {
  int* const flag = device_array<int>(1);
  int* const out = device_array<int>(2);
  const CUstream stream = make(CU_STREAM_NON_BLOCKING);
  ASSERT_OK(launch(kernel("wait_for"), 1, 1, nullptr, flag, out));
  ASSERT_OK(launch(kernel("set_to"), 1, 1, stream, out + 1, 1));
  ASSERT_OK(cuStreamSynchronize(stream));
  EXPECT_EQ(1, out[1]);
  EXPECT_EQ(0, out[0]);
  raise(flag);
  ASSERT_OK(cuCtxSynchronize());
}

TEST_F(Streams, each_thread_has_its_own_per_thread_stream) {
  int* const flag = device_array<int>(1);
  int* const out = device_array<int>(2);
  ASSERT_OK(launch(kernel("wait_for"), 1, 1, CU_STREAM_PER_THREAD, flag, out));
  std::thread([&] {
    ASSERT_OK(cuCtxSetCurrent(context));
    ASSERT_OK(launch(kernel("set_to"), 1, 1, CU_STREAM_PER_THREAD, out + 1, 1));
    ASSERT_OK(cuStreamSynchronize(CU_STREAM_PER_THREAD));
    EXPECT_EQ(1, out[1]);
  }).join();
  EXPECT_EQ(CUDA_ERROR_NOT_READY, cuStreamQuery(CU_STREAM_PER_THREAD));
  raise(flag);
  ASSERT_OK(cuStreamSynchronize(CU_STREAM_PER_THREAD));
}

TEST_F(Streams, a_per_thread_variant_means_the_per_thread_stream_by_null) {
  void* address = nullptr;
  const auto flags = CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;
  ASSERT_OK(cuGetProcAddress("cuStreamGetId", &address, CUDA_VERSION, flags, nullptr));
  const auto get_id = reinterpret_cast<CUresult (*)(CUstream, unsigned long long*)>(address);
  unsigned long long by_null = 0;
  unsigned long long by_handle = 0;
  unsigned long long legacy = 0;
  ASSERT_OK(get_id(nullptr, &by_null));
  ASSERT_OK(cuStreamGetId(CU_STREAM_PER_THREAD, &by_handle));
  ASSERT_OK(cuStreamGetId(nullptr, &legacy));
  EXPECT_EQ(by_handle, by_null);
  EXPECT_NE(legacy, by_null);
}

TEST_F(Streams, host_functions_run_in_order) {
  std::vector<int> seen;
  const CUstream stream = make(CU_STREAM_NON_BLOCKING);
  const auto note = [](void* list) { static_cast<std::vector<int>*>(list)->push_back(1); };
  const auto called = [](CUstream, CUresult status, void* list) {
    static_cast<std::vector<int>*>(list)->push_back(status == CUDA_SUCCESS ? 2 : -2);
  };
  ASSERT_OK(cuLaunchHostFunc(stream, note, &seen));
  ASSERT_OK(cuStreamAddCallback(stream, called, &seen, 0));
  ASSERT_OK(cuLaunchHostFunc(stream, note, &seen));
  ASSERT_OK(cuStreamSynchronize(stream));
  EXPECT_EQ((std::vector<int>{1, 2, 1}), seen);
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuLaunchHostFunc(stream, nullptr, nullptr));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuStreamAddCallback(stream, called, &seen, 1));
}

TEST_F(Streams, a_host_function_may_not_call_the_driver) {
  CUresult seen = CUDA_SUCCESS;
  const CUstream stream = make(CU_STREAM_NON_BLOCKING);
  const auto synchronize = [](void* out) { *static_cast<CUresult*>(out) = cuCtxSynchronize(); };
  ASSERT_OK(cuLaunchHostFunc(stream, synchronize, &seen));
  ASSERT_OK(cuStreamSynchronize(stream));
  EXPECT_EQ(CUDA_ERROR_NOT_PERMITTED, seen);
}

TEST_F(Streams, a_destroyed_stream_finishes_its_work) {
  int* const flag = device_array<int>(1);
  int* const out = device_array<int>(1);
  const CUstream stream = make(CU_STREAM_NON_BLOCKING);
  ASSERT_OK(launch(kernel("wait_for"), 1, 1, stream, flag, out));
  ASSERT_OK(cuStreamDestroy(stream));
  raise(flag);
  ASSERT_OK(cuCtxSynchronize());
  EXPECT_EQ(1, *out);
}

TEST_F(Streams, a_stream_waits_for_a_value_in_memory) {
  int* const words = device_array<int>(2);
  const CUstream stream = make(CU_STREAM_NON_BLOCKING);
  const auto address = reinterpret_cast<CUdeviceptr>(words);
  ASSERT_OK(cuStreamWaitValue32(stream, address, 1, CU_STREAM_WAIT_VALUE_EQ));
  ASSERT_OK(cuStreamWriteValue32(stream, address + 4, 9, 0));
  EXPECT_EQ(CUDA_ERROR_NOT_READY, cuStreamQuery(stream));
  raise(words);
  ASSERT_OK(cuStreamSynchronize(stream));
  EXPECT_EQ(9, words[1]);
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuStreamWaitValue32(stream, address + 1, 1, CU_STREAM_WAIT_VALUE_EQ));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuStreamWaitValue32(stream, 16, 1, CU_STREAM_WAIT_VALUE_EQ));
  CUdeviceptr of_a_pool = 0;
  ASSERT_OK(cuMemAllocAsync(&of_a_pool, 16, stream));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuStreamWaitValue32(stream, of_a_pool, 1, CU_STREAM_WAIT_VALUE_EQ));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuStreamWriteValue32(stream, of_a_pool, 1, 0));
  ASSERT_OK(cuMemFreeAsync(of_a_pool, stream));
}

TEST_F(Streams, memory_operations_come_in_batches) {
  int* const words = device_array<int>(3);
  const CUstream stream = make(CU_STREAM_NON_BLOCKING);
  CUstreamBatchMemOpParams operations[2] = {};
  operations[0].waitValue.operation = CU_STREAM_MEM_OP_WAIT_VALUE_32;
  operations[0].waitValue.address = reinterpret_cast<CUdeviceptr>(words);
  operations[0].waitValue.value = 1;
  operations[1].writeValue.operation = CU_STREAM_MEM_OP_WRITE_VALUE_32;
  operations[1].writeValue.address = reinterpret_cast<CUdeviceptr>(words + 1);
  operations[1].writeValue.value = 6;
  ASSERT_OK(cuStreamBatchMemOp(stream, 2, operations, 0));
  raise(words);
  ASSERT_OK(cuStreamSynchronize(stream));
  EXPECT_EQ(6, words[1]);
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuStreamBatchMemOp(stream, 0, operations, 0));
}

TEST_F(Streams, properties_are_those_asked_for) {
  CUstream stream = nullptr;
  int priority = 1;
  unsigned int flags = 0;
  CUcontext owner = nullptr;
  CUdevice where = -1;
  CUstreamCaptureStatus capture = CU_STREAM_CAPTURE_STATUS_ACTIVE;
  ASSERT_OK(cuStreamCreateWithPriority(&stream, CU_STREAM_NON_BLOCKING, -3));
  EXPECT_OK(cuStreamGetPriority(stream, &priority));
  EXPECT_OK(cuStreamGetFlags(stream, &flags));
  EXPECT_OK(cuStreamGetCtx(stream, &owner));
  EXPECT_OK(cuStreamGetDevice(stream, &where));
  EXPECT_OK(cuStreamIsCapturing(stream, &capture));
  EXPECT_EQ(-3, priority);
  EXPECT_EQ(static_cast<unsigned int>(CU_STREAM_NON_BLOCKING), flags);
  EXPECT_EQ(context, owner);
  EXPECT_EQ(device, where);
  EXPECT_EQ(CU_STREAM_CAPTURE_STATUS_NONE, capture);
}

TEST_F(Streams, a_window_of_persisting_accesses_is_remembered_if_it_can_be_one) {
  CUstream stream = nullptr;
  ASSERT_OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  CUstreamAttrValue wanted{};
  wanted.accessPolicyWindow = {.base_ptr = &wanted,
                               .num_bytes = 1 << 20,
                               .hitRatio = 0.6f,
                               .hitProp = CU_ACCESS_PROPERTY_PERSISTING,
                               .missProp = CU_ACCESS_PROPERTY_STREAMING};
  const auto set = [&] { return cuStreamSetAttribute(stream, CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW, &wanted); };
  ASSERT_OK(set());
  wanted.accessPolicyWindow.hitRatio = 1.5f;
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, set());
  wanted.accessPolicyWindow.hitRatio = 0.5f;
  wanted.accessPolicyWindow.num_bytes = std::size_t{1} << 40;
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, set());
  wanted.accessPolicyWindow.num_bytes = 1 << 20;
  wanted.accessPolicyWindow.missProp = CU_ACCESS_PROPERTY_PERSISTING;
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, set());
  CUstreamAttrValue kept{};
  ASSERT_OK(cuStreamGetAttribute(stream, CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW, &kept));
  EXPECT_EQ(&wanted, kept.accessPolicyWindow.base_ptr);
  EXPECT_EQ(0.6f, kept.accessPolicyWindow.hitRatio);
  EXPECT_EQ(CU_ACCESS_PROPERTY_STREAMING, kept.accessPolicyWindow.missProp);
  EXPECT_OK(cuStreamDestroy(stream));
}

TEST_F(Streams, a_part_of_l2_is_set_aside_in_steps) {
  int most = 0;
  int cache = 0;
  ASSERT_OK(cuDeviceGetAttribute(&most, CU_DEVICE_ATTRIBUTE_MAX_PERSISTING_L2_CACHE_SIZE, device));
  ASSERT_OK(cuDeviceGetAttribute(&cache, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, device));
  const auto set_aside = [] {
    std::size_t bytes = 0;
    EXPECT_OK(cuCtxGetLimit(&bytes, CU_LIMIT_PERSISTING_L2_CACHE_SIZE));
    return bytes;
  };
  const std::size_t step = static_cast<std::size_t>(cache) / 16;
  EXPECT_EQ(10 * step, static_cast<std::size_t>(most));
  ASSERT_OK(cuCtxSetLimit(CU_LIMIT_PERSISTING_L2_CACHE_SIZE, 1));
  EXPECT_EQ(step, set_aside());
  ASSERT_OK(cuCtxSetLimit(CU_LIMIT_PERSISTING_L2_CACHE_SIZE, 0));
  EXPECT_EQ(0u, set_aside());
  ASSERT_OK(cuCtxSetLimit(CU_LIMIT_PERSISTING_L2_CACHE_SIZE, static_cast<std::size_t>(most)));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE,
            cuCtxSetLimit(CU_LIMIT_PERSISTING_L2_CACHE_SIZE, static_cast<std::size_t>(most) + 1));
  EXPECT_EQ(static_cast<std::size_t>(most), set_aside());
}

TEST_F(Streams, many_threads_use_one_context) {
  int* const out = device_array<int>(1);
  const CUfunction count_up = kernel("count_up");
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&] {
      ASSERT_OK(cuCtxSetCurrent(context));
      CUstream stream = nullptr;
      ASSERT_OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
      for (int i = 0; i < 50; ++i) {
        CUdeviceptr memory = 0;
        ASSERT_OK(cuMemAllocAsync(&memory, 1000, stream));
        ASSERT_OK(launch(count_up, 2, 16, stream, out));
        ASSERT_OK(cuMemFreeAsync(memory, stream));
      }
      ASSERT_OK(cuStreamSynchronize(stream));
      ASSERT_OK(cuStreamDestroy(stream));
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(8 * 50 * 32, *out);
}

TEST_F(Streams, a_launch_runs_though_nobody_asks_the_driver) {
  int* const out = device_array<int>(2);
  ASSERT_OK(launch(kernel("set_to"), 1, 1, make(CU_STREAM_NON_BLOCKING), out, 1));
  while (std::atomic_ref<int>(*out).load() == 0) std::this_thread::yield();
  // Nor after a wait, which may have run the work itself.
  const CUstream stream = make(CU_STREAM_NON_BLOCKING);
  for (int i = 2; i < 20; ++i) {
    ASSERT_OK(launch(kernel("set_to"), 1, 1, stream, out, i));
    ASSERT_OK(cuStreamSynchronize(stream));
    ASSERT_OK(launch(kernel("set_to"), 1, 1, stream, out + 1, i));
    while (std::atomic_ref<int>(out[1]).load() != i) std::this_thread::yield();
  }
}

TEST_F(Streams, a_thread_that_polls_sees_the_work_done) {
  int* const out = device_array<int>(1);
  const CUstream stream = make(CU_STREAM_DEFAULT);
  CUevent event = nullptr;
  ASSERT_OK(cuEventCreate(&event, CU_EVENT_DEFAULT));
  for (const CUstream asked : {stream, CUstream{nullptr}}) {
    *out = 0;
    ASSERT_OK(launch(kernel("set_to"), 1, 1, stream, out, 1));
    while (cuStreamQuery(asked) == CUDA_ERROR_NOT_READY) std::this_thread::yield();
    EXPECT_EQ(1, *out);
  }
  ASSERT_OK(launch(kernel("set_to"), 1, 1, stream, out, 2));
  ASSERT_OK(cuEventRecord(event, stream));
  while (cuEventQuery(event) == CUDA_ERROR_NOT_READY) std::this_thread::yield();
  EXPECT_EQ(2, *out);
  ASSERT_OK(cuEventDestroy(event));
}

TEST_F(Streams, the_rounding_of_a_thread_that_waits_is_not_the_kernels) {
  float* const numbers = device_array<float>(2);
  numbers[0] = 0x1p-30f;
  numbers[1] = 1;
  ASSERT_EQ(0, std::fesetround(FE_UPWARD));
  const CUresult launched = launch(kernel("saxpy"), 1, 1, nullptr, 1.0f, numbers, numbers + 1, 1);
  const CUresult waited = cuStreamSynchronize(nullptr);
  const int rounding = std::fegetround();
  std::fesetround(FE_TONEAREST);
  ASSERT_OK(launched);
  ASSERT_OK(waited);
  EXPECT_EQ(FE_UPWARD, rounding);
  EXPECT_EQ(1.0f, numbers[1]);
}

TEST_F(Streams, a_fault_is_an_error_to_a_thread_that_blocks_signals_too) {
  const CUfunction write_to = kernel("write_to");
  std::thread([&] {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, nullptr);
    ASSERT_OK(cuCtxSetCurrent(context));
    ASSERT_OK(launch(write_to, 1, 1, nullptr, std::uint64_t{64}));
    EXPECT_EQ(CUDA_ERROR_ILLEGAL_ADDRESS, cuStreamSynchronize(nullptr));
  }).join();
}

TEST_F(Streams, threads_that_end_leave_no_mappings_behind) {
  const auto mappings = [] {
    std::ifstream file("/proc/self/maps");
    return std::count(std::istreambuf_iterator<char>(file), {}, '\n');
  };
  int* const out = device_array<int>(1);
  const CUfunction count_up = kernel("count_up");
  const auto wait_in_a_thread = [&] {
    std::thread([&] {
      ASSERT_OK(cuCtxSetCurrent(context));
      ASSERT_OK(launch(count_up, 1, 1, nullptr, out));
      ASSERT_OK(cuStreamSynchronize(nullptr));
    }).join();
  };
  wait_in_a_thread();
  const auto before = mappings();
  for (int i = 0; i < 100; ++i) wait_in_a_thread();
  EXPECT_EQ(101, *out);
  EXPECT_LT(mappings(), before + 50);
}

TEST_F(Streams, threads_that_share_a_stream_wait_for_each_others_work) {
  constexpr int thread_count = 4;
  constexpr int times = 200;
  int* const out = device_array<int>(1);
  std::atomic<int> called{0};
  const CUfunction count_up = kernel("count_up");
  const CUstream stream = make(CU_STREAM_NON_BLOCKING);
  std::vector<std::thread> threads;
  for (int t = 0; t < thread_count; ++t) {
    threads.emplace_back([&] {
      ASSERT_OK(cuCtxSetCurrent(context));
      int seen = 0;
      for (int i = 1; i <= times; ++i) {
        ASSERT_OK(launch(count_up, 1, 1, stream, out));
        if (i % 20 == 0) {
          const auto count = [](void* counter) { static_cast<std::atomic<int>*>(counter)->fetch_add(1); };
          ASSERT_OK(cuLaunchHostFunc(stream, count, &called));
        }
        ASSERT_OK(cuStreamSynchronize(stream));
        const int now = std::atomic_ref<int>(*out).load();
        EXPECT_GT(now, seen);
        seen = now;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(thread_count * times, *out);
  EXPECT_EQ(thread_count * times / 20, called.load());
}

}  // namespace
