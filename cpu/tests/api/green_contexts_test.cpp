// Device resources and green contexts: what can be divided and what is refused, and what a green context shares.
#include <cstring>
#include <vector>

#include "cpu/api/cuda_13_5.hpp"
#include "cpu/tests/api/driver.hpp"

namespace {

using cucore::cpu::api::Resource;
using cucore::cpu::api::resource_workqueue_config;

class GreenContexts : public DriverTest {
 protected:
  static CUdevResource query(CUdevResourceType type) {
    CUdevResource resource{};
    EXPECT_OK(cuDeviceGetDevResource(0, &resource, type));
    return resource;
  }
  static CUdevResource all() { return query(CU_DEV_RESOURCE_TYPE_SM); }
  static CUgreenCtx make(std::vector<CUdevResource> resources) {
    CUdevResourceDesc description = nullptr;
    EXPECT_OK(cuDevResourceGenerateDesc(&description, resources.data(), static_cast<unsigned int>(resources.size())));
    CUgreenCtx green = nullptr;
    EXPECT_OK(cuGreenCtxCreate(&green, description, 0, CU_GREEN_CTX_DEFAULT_STREAM));
    return green;
  }
  /// The smallest group, of which others are multiples: 8 in compute capability 9.0, less where there are few
  /// multiprocessors.
  static unsigned int smallest() {
    const CUdevResource whole = all();
    Resource read;
    std::memcpy(&read, &whole, sizeof read);
    EXPECT_EQ(0U, 8 % read.sm.min_partition);
    EXPECT_LE(read.sm.coscheduled_alignment, read.sm.min_partition);
    EXPECT_TRUE(read.sm.min_partition == 1 || 2 * read.sm.min_partition <= read.sm.count) << "two groups at least";
    return read.sm.min_partition;
  }
  using StructuredSplit = decltype(&cuDevSmResourceSplit);
  static StructuredSplit structured() {
    void* address = nullptr;
    EXPECT_OK(cuGetProcAddress("cuDevSmResourceSplit", &address, 13010, 0, nullptr));
    return reinterpret_cast<StructuredSplit>(address);
  }
};

TEST_F(GreenContexts, a_descriptor_that_is_none_is_refused) {
  CUgreenCtx green = nullptr;
  EXPECT_EQ(CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION,
            cuGreenCtxCreate(&green, garbage<CUdevResourceDesc>(), 0, CU_GREEN_CTX_DEFAULT_STREAM));
}

// As an H100 answers (driver 580): every event of a device on every stream of it, whichever context is current.
TEST_F(GreenContexts, an_event_is_for_all_green_contexts_of_its_device_and_the_primary_one) {
  const CUgreenCtx green[2] = {make({all()}), make({all()})};
  CUcontext before = nullptr, contexts[3] = {};
  ASSERT_OK(cuCtxGetCurrent(&before));
  ASSERT_OK(cuDevicePrimaryCtxRetain(&contexts[0], 0));
  ASSERT_OK(cuCtxSetCurrent(contexts[0]));
  CUstream streams[3] = {};
  CUevent events[3] = {};
  for (int i = 0; i < 2; ++i) {
    ASSERT_OK(cuCtxFromGreenCtx(&contexts[i + 1], green[i]));
    ASSERT_OK(cuGreenCtxStreamCreate(&streams[i + 1], green[i], CU_STREAM_NON_BLOCKING, 0));
  }
  ASSERT_OK(cuStreamCreate(&streams[0], CU_STREAM_NON_BLOCKING));
  for (int i = 0; i < 3; ++i) {
    ASSERT_OK(cuCtxSetCurrent(contexts[i]));
    ASSERT_OK(cuEventCreate(&events[i], CU_EVENT_DEFAULT));
  }
  for (const CUcontext current : contexts) {
    ASSERT_OK(cuCtxSetCurrent(current));
    for (const CUevent event : events) {
      for (const CUstream stream : streams) {
        EXPECT_OK(cuEventRecord(event, stream));
        EXPECT_OK(cuStreamWaitEvent(stream, event, 0));
      }
      EXPECT_OK(cuEventRecord(event, nullptr));
      EXPECT_OK(cuEventSynchronize(event));
    }
  }
  float milliseconds = 0;
  EXPECT_OK(cuEventElapsedTime(&milliseconds, events[1], events[2]));
  ASSERT_OK(cuCtxSetCurrent(contexts[0]));
  CUcontext other = nullptr;  // of a context of its own it is not
  ASSERT_OK(cuCtxCreate(&other, nullptr, 0, 0));
  EXPECT_EQ(CUDA_ERROR_INVALID_HANDLE, cuEventRecord(events[0], nullptr));
  EXPECT_OK(cuCtxDestroy(other));
  for (const CUevent event : events) EXPECT_OK(cuEventDestroy(event));
  for (const CUstream stream : streams) EXPECT_OK(cuStreamDestroy(stream));
  for (const CUgreenCtx each : green) EXPECT_OK(cuGreenCtxDestroy(each));
  EXPECT_OK(cuCtxSetCurrent(before));
  EXPECT_OK(cuDevicePrimaryCtxRelease(0));
}

TEST_F(GreenContexts, a_query_refuses_what_it_does_not_know) {
  CUdevResource resource{};
  EXPECT_EQ(CUDA_ERROR_INVALID_DEVICE, cuDeviceGetDevResource(99, &resource, CU_DEV_RESOURCE_TYPE_SM));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuDeviceGetDevResource(0, nullptr, CU_DEV_RESOURCE_TYPE_SM));
  EXPECT_EQ(CUDA_ERROR_INVALID_RESOURCE_TYPE, cuDeviceGetDevResource(0, &resource, CU_DEV_RESOURCE_TYPE_INVALID));
  EXPECT_EQ(CUDA_ERROR_INVALID_CONTEXT, cuGreenCtxGetDevResource(nullptr, &resource, CU_DEV_RESOURCE_TYPE_SM));
}

TEST_F(GreenContexts, a_split_by_count_gives_what_there_is) {
  const CUdevResource input = all();
  unsigned int groups = 0;
  EXPECT_OK(cuDevSmResourceSplitByCount(nullptr, &groups, &input, nullptr, 0, 1));
  EXPECT_EQ(input.sm.smCount / smallest(), groups);
  std::vector<CUdevResource> made(input.sm.smCount + 1);
  CUdevResource rest{};
  ++groups;
  EXPECT_OK(cuDevSmResourceSplitByCount(made.data(), &groups, &input, &rest, 0, 1));
  EXPECT_EQ(input.sm.smCount / smallest(), groups) << "fewer groups than asked for";
  for (unsigned int i = 0; i < groups; ++i) EXPECT_EQ(smallest(), made[i].sm.smCount);
  groups = input.sm.smCount;
  const unsigned int fine = CU_DEV_SM_RESOURCE_SPLIT_IGNORE_SM_COSCHEDULING;
  EXPECT_OK(cuDevSmResourceSplitByCount(made.data(), &groups, &input, &rest, fine, 1));
  EXPECT_EQ(input.sm.smCount, groups);
  EXPECT_EQ(CU_DEV_RESOURCE_TYPE_INVALID, rest.type) << "nothing is left";
  EXPECT_EQ(CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION,
            cuDevSmResourceSplitByCount(made.data(), &groups, &input, &rest, 0, input.sm.smCount + 1));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuDevSmResourceSplitByCount(made.data(), nullptr, &input, &rest, 0, 1));
  EXPECT_EQ(CUDA_ERROR_INVALID_RESOURCE_TYPE, cuDevSmResourceSplitByCount(made.data(), &groups, &rest, nullptr, 0, 1));
}

TEST_F(GreenContexts, a_structured_split_takes_groups_in_order) {
  const StructuredSplit split = structured();
  ASSERT_NE(nullptr, split);
  const CUdevResource input = all();
  CU_DEV_SM_RESOURCE_GROUP_PARAMS groups[2] = {};
  groups[0].smCount = smallest();
  groups[1].flags = 1;  // discovery of what is left, co-scheduled or not
  CUdevResource rest{};
  EXPECT_OK(split(nullptr, 2, &input, &rest, 0, groups));
  EXPECT_EQ(input.sm.smCount - smallest(), groups[1].smCount);
  EXPECT_EQ(CU_DEV_RESOURCE_TYPE_INVALID, rest.type);
  groups[0].smCount = input.sm.smCount + 1;
  EXPECT_EQ(CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION, split(nullptr, 1, &input, &rest, 0, groups));
  EXPECT_EQ(input.sm.smCount + 1, groups[0].smCount) << "a refused split changes nothing";
  groups[0] = {3, 2, 0, 0, {}};
  EXPECT_EQ(CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION, split(nullptr, 1, &input, &rest, 0, groups));
  groups[0] = {1, 0, 0, 64, {}};
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, split(nullptr, 1, &input, &rest, 0, groups));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, split(nullptr, 0, &input, &rest, 0, groups));
  groups[0] = {};
  groups[0].smCount = input.sm.smCount;
  groups[1] = {};
  CUdevResource made[2];
  EXPECT_EQ(CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION, split(made, 2, &input, &rest, 0, groups)) << "an empty group";
}

TEST_F(GreenContexts, a_descriptor_takes_one_work_queue_configuration) {
  CUdevResource queues = query(unknown<CUdevResourceType>(resource_workqueue_config));
  Resource described{};
  std::memcpy(&described, &queues, sizeof described);
  EXPECT_EQ(0, described.workqueue.device);
  EXPECT_GE(described.workqueue.concurrency_limit, 1u);
  CUdevResourceDesc description = nullptr;
  CUdevResource both[2] = {queues, queues};
  EXPECT_OK(cuDevResourceGenerateDesc(&description, both, 1));
  EXPECT_EQ(CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION, cuDevResourceGenerateDesc(&description, both, 2));
  described.workqueue.concurrency_limit = 0;
  std::memcpy(both, &described, sizeof described);
  EXPECT_EQ(CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION, cuDevResourceGenerateDesc(&description, both, 1));
  both[0] = {};
  EXPECT_EQ(CUDA_ERROR_INVALID_RESOURCE_TYPE, cuDevResourceGenerateDesc(&description, both, 1));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuDevResourceGenerateDesc(&description, nullptr, 1));
}

TEST_F(GreenContexts, memory_and_code_are_the_primary_contexts) {
  const CUgreenCtx green = make({all()});
  CUcontext own = nullptr;
  CUcontext before = nullptr;
  CUcontext primary = nullptr;
  ASSERT_OK(cuDevicePrimaryCtxRetain(&primary, 0));
  ASSERT_OK(cuCtxFromGreenCtx(&own, green));
  ASSERT_OK(cuCtxGetCurrent(&before));
  ASSERT_OK(cuCtxSetCurrent(own));
  CUdeviceptr memory = 0;
  ASSERT_OK(cuMemAlloc(&memory, 64));
  CUcontext of_memory = nullptr;
  EXPECT_OK(cuPointerGetAttribute(&of_memory, CU_POINTER_ATTRIBUTE_CONTEXT, memory));
  EXPECT_EQ(primary, of_memory);
  CUstream stream = nullptr;
  ASSERT_OK(cuGreenCtxStreamCreate(&stream, green, CU_STREAM_NON_BLOCKING, 0));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuGreenCtxStreamCreate(&stream, green, CU_STREAM_DEFAULT, 0));
  CUcontext of_stream = nullptr;
  CUgreenCtx green_of_stream = nullptr;
  EXPECT_OK(cuStreamGetGreenCtx(stream, &green_of_stream));
  EXPECT_EQ(green, green_of_stream);
  EXPECT_OK(cuStreamGetCtx_v2(stream, &of_stream, &green_of_stream));
  EXPECT_EQ(primary, of_stream);
  EXPECT_OK(cuStreamDestroy(stream));
  EXPECT_OK(cuGreenCtxDestroy(green));
  EXPECT_EQ(CUDA_ERROR_INVALID_CONTEXT, cuGreenCtxDestroy(green));
  ASSERT_OK(cuCtxSetCurrent(primary));
  EXPECT_OK(cuMemFree(memory)) << "memory outlives the green context it was made in";
  ASSERT_OK(cuCtxSetCurrent(before));
  EXPECT_OK(cuDevicePrimaryCtxRelease(0));
}

TEST_F(GreenContexts, synchronizing_the_primary_context_waits_for_its_green_ones) {
  CUcontext primary = nullptr;
  CUcontext before = nullptr;
  ASSERT_OK(cuDevicePrimaryCtxRetain(&primary, 0));
  ASSERT_OK(cuCtxGetCurrent(&before));
  const CUgreenCtx green = make({all()});
  CUstream stream = nullptr;
  ASSERT_OK(cuGreenCtxStreamCreate(&stream, green, CU_STREAM_NON_BLOCKING, 0));
  static bool done;
  done = false;
  CUcontext own = nullptr;
  ASSERT_OK(cuCtxFromGreenCtx(&own, green));
  ASSERT_OK(cuCtxSetCurrent(own));
  ASSERT_OK(cuLaunchHostFunc(stream, [](void*) { done = true; }, nullptr));
  ASSERT_OK(cuCtxSetCurrent(primary));
  EXPECT_OK(cuCtxSynchronize());
  EXPECT_TRUE(done);
  EXPECT_OK(cuStreamDestroy(stream));
  EXPECT_OK(cuGreenCtxDestroy(green));
  ASSERT_OK(cuCtxSetCurrent(before));
  EXPECT_OK(cuDevicePrimaryCtxRelease(0));
}

}  // namespace
