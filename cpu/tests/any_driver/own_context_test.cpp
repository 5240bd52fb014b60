// Which calls a thread may make that has no current context, as an H100 answers (driver 580, CUDA 13.0): those that
// name an object which brings its context along. Nothing in it knows the CPU device, so it runs on a GPU's driver too.
#include <array>
#include <thread>

#include "cpu/tests/api/driver.hpp"

namespace {

constexpr const char* code =
    ".version 7.0\n.target sm_80\n.address_size 64\n"
    ".visible .global .align 4 .u32 word;\n"
    ".visible .entry nothing() { ret; }\n";

class OwnContext : public DriverTest {
 protected:
  void SetUp() override {
    DriverTest::SetUp();
    ASSERT_OK(cuModuleLoadData(&module, code));
    ASSERT_OK(cuModuleGetFunction(&function, module, "nothing"));
    ASSERT_OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    ASSERT_OK(cuEventCreate(&event, 0));
    ASSERT_OK(cuMemAlloc(&memory, 4096));
  }

  /// Where no context is current.
  template <class F>
  static void in_another_thread(F&& calls) {
    std::thread(std::forward<F>(calls)).join();
  }

  CUfunction function = nullptr;
  CUstream stream = nullptr;
  CUevent event = nullptr;
  CUdeviceptr memory = 0;
};

TEST_F(OwnContext, functions_and_modules_bring_one_along) {
  in_another_thread([&] {
    CUfunction found = nullptr;
    CUdeviceptr word = 0;
    size_t bytes = 0;
    int registers = -1;
    EXPECT_OK(cuModuleGetFunction(&found, module, "nothing"));
    EXPECT_EQ(function, found);
    EXPECT_OK(cuModuleGetGlobal(&word, &bytes, module, "word"));
    EXPECT_EQ(4u, bytes);
    EXPECT_OK(cuFuncGetAttribute(&registers, CU_FUNC_ATTRIBUTE_NUM_REGS, function));
    EXPECT_LE(0, registers);
    unsigned int count = 0;
    CUmodule of_it = nullptr;
    const char* name = nullptr;
    EXPECT_OK(cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 1000));
    EXPECT_OK(cuFuncSetCacheConfig(function, CU_FUNC_CACHE_PREFER_L1));
    EXPECT_OK(cuFuncGetModule(&of_it, function));
    EXPECT_OK(cuFuncGetName(&name, function));
    EXPECT_OK(cuFuncLoad(function));
    EXPECT_OK(cuModuleGetFunctionCount(&count, module));
    EXPECT_EQ(CUDA_ERROR_NOT_FOUND, cuModuleGetFunction(&found, module, "another"));
    EXPECT_EQ(CUDA_ERROR_INVALID_HANDLE, cuModuleGetFunction(&found, nullptr, "nothing"));
    EXPECT_EQ(CUDA_ERROR_INVALID_HANDLE, cuFuncGetAttribute(&registers, CU_FUNC_ATTRIBUTE_NUM_REGS, nullptr));
    EXPECT_EQ(CUDA_ERROR_INVALID_CONTEXT, cuOccupancyMaxActiveBlocksPerMultiprocessor(&registers, function, 64, 0));
    EXPECT_OK(cuModuleUnload(module));
    EXPECT_EQ(CUDA_ERROR_INVALID_HANDLE, cuModuleUnload(nullptr));
    EXPECT_EQ(CUDA_ERROR_INVALID_CONTEXT, cuModuleLoadData(&module, code)) << "nothing says which";
  });
}

TEST_F(OwnContext, created_streams_and_events_bring_one_along) {
  in_another_thread([&] {
    CUstream other = nullptr;
    CUevent another = nullptr;
    EXPECT_OK(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, stream, nullptr, nullptr));
    EXPECT_OK(cuEventRecord(event, stream));
    EXPECT_OK(cuEventSynchronize(event));
    EXPECT_OK(cuStreamSynchronize(stream));
    EXPECT_OK(cuStreamWaitEvent(stream, event, 0));
    EXPECT_EQ(CUDA_ERROR_INVALID_CONTEXT, cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr))
        << "a default stream is the current context's, whatever the function's is";
    int priority = 1;
    CUcontext of_it = nullptr;
    CUgraph graph = nullptr;
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_ACTIVE;
    EXPECT_OK(cuStreamGetPriority(stream, &priority));
    EXPECT_EQ(0, priority);
    EXPECT_OK(cuStreamGetCtx(stream, &of_it));
    EXPECT_EQ(context, of_it);
    EXPECT_EQ(CUDA_ERROR_INVALID_CONTEXT, cuStreamGetCtx(nullptr, &of_it));
    EXPECT_OK(cuStreamIsCapturing(stream, &status));
    EXPECT_EQ(CUDA_ERROR_INVALID_CONTEXT, cuStreamIsCapturing(nullptr, &status));
    EXPECT_OK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    EXPECT_OK(cuMemsetD8Async(memory, 1, 16, stream));
    EXPECT_OK(cuStreamEndCapture(stream, &graph));
    EXPECT_OK(cuGraphDestroy(graph));
    EXPECT_OK(cuEventDestroy(event));
    EXPECT_OK(cuStreamDestroy(stream));
    EXPECT_EQ(CUDA_ERROR_INVALID_CONTEXT, cuStreamCreate(&other, 0));
    EXPECT_EQ(CUDA_ERROR_INVALID_CONTEXT, cuEventCreate(&another, 0));
  });
}

TEST_F(OwnContext, memory_that_is_freed_brings_one_along) {
  void* host = nullptr;
  CUarray array = nullptr;
  const CUDA_ARRAY_DESCRIPTOR descriptor{64, 64, CU_AD_FORMAT_FLOAT, 1};
  ASSERT_OK(cuMemAllocHost(&host, 4096));
  ASSERT_OK(cuArrayCreate(&array, &descriptor));
  in_another_thread([&] {
    CUdeviceptr base = 0;
    size_t bytes = 0;
    std::array<char, 16> here{};
    EXPECT_EQ(CUDA_ERROR_INVALID_CONTEXT, cuMemsetD8(memory, 1, here.size()));
    EXPECT_EQ(CUDA_ERROR_INVALID_CONTEXT, cuMemcpyDtoH(here.data(), memory, here.size()));
    EXPECT_EQ(CUDA_ERROR_INVALID_CONTEXT, cuMemGetAddressRange(&base, &bytes, memory));
    EXPECT_EQ(CUDA_ERROR_INVALID_CONTEXT, cuPointerGetAttribute(&base, CU_POINTER_ATTRIBUTE_DEVICE_POINTER, memory));
    unsigned int kind = 0;
    int is_synchronous = 1;
    CUDA_ARRAY_DESCRIPTOR found{};
    EXPECT_OK(cuPointerGetAttribute(&kind, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, memory));
    EXPECT_OK(cuPointerSetAttribute(&is_synchronous, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, memory));
    EXPECT_OK(cuArrayGetDescriptor(&found, array));
    EXPECT_OK(cuArrayDestroy(array));
    EXPECT_EQ(CUDA_ERROR_INVALID_HANDLE, cuArrayDestroy(nullptr));
    EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemFree(memory + 8));
    EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemFree(reinterpret_cast<CUdeviceptr>(host)));
    EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemFreeHost(here.data()));
    EXPECT_OK(cuMemFreeHost(host));
    EXPECT_OK(cuMemFreeHost(nullptr));
    EXPECT_EQ(CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED, cuMemHostUnregister(here.data()));
    EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemHostUnregister(nullptr));
    EXPECT_OK(cuMemFree(memory));
    EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemFree(memory)) << "it is free";
    EXPECT_OK(cuMemFree(0));
    EXPECT_EQ(CUDA_ERROR_INVALID_CONTEXT, cuMemAlloc(&base, 64));
    EXPECT_EQ(CUDA_ERROR_INVALID_CONTEXT, cuMemAllocHost(&host, 64));
  });
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemFree(memory)) << "it is free";
}

TEST_F(OwnContext, graphs_need_none_until_they_are_instantiated_and_textures_do) {
  CUarray array = nullptr;
  CUtexObject texture = 0;
  const CUDA_ARRAY_DESCRIPTOR descriptor{64, 64, CU_AD_FORMAT_FLOAT, 1};
  ASSERT_OK(cuArrayCreate(&array, &descriptor));
  CUDA_RESOURCE_DESC resource{};
  resource.resType = CU_RESOURCE_TYPE_ARRAY;
  resource.res.array.hArray = array;
  const CUDA_TEXTURE_DESC plain{};
  ASSERT_OK(cuTexObjectCreate(&texture, &resource, &plain, nullptr));
  in_another_thread([&] {
    CUgraph graph = nullptr;
    CUgraphExec exec = nullptr;
    EXPECT_EQ(CUDA_ERROR_INVALID_CONTEXT, cuTexObjectDestroy(texture));
    EXPECT_OK(cuGraphCreate(&graph, 0));
    EXPECT_EQ(CUDA_ERROR_INVALID_CONTEXT, cuGraphInstantiate(&exec, graph, 0));
    EXPECT_OK(cuGraphDestroy(graph));
  });
  EXPECT_OK(cuTexObjectDestroy(texture));
  EXPECT_OK(cuArrayDestroy(array));
}

}  // namespace
