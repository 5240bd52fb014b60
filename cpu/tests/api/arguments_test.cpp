// Bad arguments: every entry point answers the driver's code for them and never crashes, stale handles included.
#include "cpu/tests/api/driver.hpp"

namespace {

using Arguments = DriverTest;

TEST_F(Arguments, null_outputs_are_invalid_values) {
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuDeviceGetCount(nullptr));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuDeviceGet(nullptr, 0));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuDeviceGetName(nullptr, 10, device));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuDeviceTotalMem(nullptr, device));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuDeviceGetUuid(nullptr, device));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuCtxGetDevice(nullptr));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuCtxGetCurrent(nullptr));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuStreamCreate(nullptr, 0));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuEventCreate(nullptr, 0));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemAlloc(nullptr, 16));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemAllocHost(nullptr, 16));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuModuleLoadData(nullptr, "x"));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuLibraryLoadData(nullptr, "x", nullptr, nullptr, 0, nullptr, nullptr, 0));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemPoolCreate(nullptr, nullptr));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuLaunchKernelEx(nullptr, nullptr, nullptr, nullptr));
}

TEST_F(Arguments, a_device_that_is_not_there_is_an_invalid_device) {
  int value = 0;
  CUdevice other = 0;
  CUcontext none = nullptr;
  EXPECT_EQ(CUDA_ERROR_INVALID_DEVICE, cuDeviceGet(&other, 99));
  EXPECT_EQ(CUDA_ERROR_INVALID_DEVICE, cuDeviceGet(&other, -1));
  EXPECT_EQ(CUDA_ERROR_INVALID_DEVICE, cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_WARP_SIZE, 99));
  EXPECT_EQ(CUDA_ERROR_INVALID_DEVICE, cuDevicePrimaryCtxRetain(&none, 99));
  EXPECT_EQ(CUDA_ERROR_INVALID_DEVICE, cuCtxCreate(&none, nullptr, 0, 99));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuDeviceGetAttribute(&value, unknown<CUdevice_attribute>(5000), device));
}

TEST_F(Arguments, garbage_handles_are_refused) {
  EXPECT_EQ(CUDA_ERROR_INVALID_HANDLE, cuStreamSynchronize(garbage<CUstream>()));
  EXPECT_EQ(CUDA_ERROR_INVALID_HANDLE, cuStreamDestroy(garbage<CUstream>()));
  EXPECT_EQ(CUDA_ERROR_INVALID_HANDLE, cuStreamDestroy(nullptr));
  EXPECT_EQ(CUDA_ERROR_INVALID_HANDLE, cuEventQuery(garbage<CUevent>()));
  EXPECT_EQ(CUDA_ERROR_INVALID_HANDLE, cuEventRecord(nullptr, nullptr));
  EXPECT_EQ(CUDA_ERROR_INVALID_HANDLE, cuEventDestroy(garbage<CUevent>()));
  EXPECT_EQ(CUDA_ERROR_INVALID_HANDLE, cuModuleUnload(garbage<CUmodule>()));
  EXPECT_EQ(CUDA_ERROR_INVALID_HANDLE, cuLibraryUnload(garbage<CUlibrary>()));
  EXPECT_EQ(CUDA_ERROR_INVALID_CONTEXT, cuCtxSetCurrent(garbage<CUcontext>()));
  EXPECT_EQ(CUDA_ERROR_INVALID_CONTEXT, cuCtxDestroy(garbage<CUcontext>()));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemPoolDestroy(garbage<CUmemoryPool>()));
  EXPECT_EQ(CUDA_ERROR_INVALID_HANDLE, launch(garbage<CUfunction>(), 1, 1, nullptr));
  EXPECT_EQ(CUDA_ERROR_INVALID_HANDLE, launch(nullptr, 1, 1, nullptr));
}

TEST_F(Arguments, destroyed_handles_are_refused) {
  CUstream stream = nullptr;
  CUevent event = nullptr;
  ASSERT_OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  ASSERT_OK(cuEventCreate(&event, 0));
  EXPECT_OK(cuStreamDestroy(stream));
  EXPECT_OK(cuEventDestroy(event));
  EXPECT_EQ(CUDA_ERROR_INVALID_HANDLE, cuStreamDestroy(stream));
  EXPECT_EQ(CUDA_ERROR_INVALID_HANDLE, cuStreamQuery(stream));
  EXPECT_EQ(CUDA_ERROR_INVALID_HANDLE, cuEventDestroy(event));
  EXPECT_EQ(CUDA_ERROR_INVALID_HANDLE, cuEventSynchronize(event));
  const CUfunction function = kernel("count_up");
  ASSERT_OK(cuModuleUnload(module));
  EXPECT_EQ(CUDA_ERROR_INVALID_HANDLE, launch(function, 1, 1, nullptr, CUdeviceptr{0}));
  EXPECT_EQ(CUDA_ERROR_INVALID_HANDLE, cuModuleUnload(module));
}

TEST_F(Arguments, unknown_flags_are_invalid_values) {
  CUstream stream = nullptr;
  CUevent event = nullptr;
  CUdeviceptr memory = 0;
  void* host = nullptr;
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuInit(1));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuStreamCreate(&stream, 0x80));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuEventCreate(&event, 0x80));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuEventCreate(&event, CU_EVENT_INTERPROCESS)) << "needs DISABLE_TIMING";
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemHostAlloc(&host, 16, 0x800));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemAllocManaged(&memory, 16, 0));
}

TEST_F(Arguments, calls_without_a_context_say_so) {
  CUcontext popped = nullptr;
  CUdeviceptr memory = 0;
  CUstream stream = nullptr;
  CUevent event = nullptr;
  ASSERT_OK(cuEventCreate(&event, CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING));
  ASSERT_OK(cuCtxPopCurrent(&popped));
  EXPECT_EQ(CUDA_ERROR_INVALID_CONTEXT, cuMemAlloc(&memory, 16));
  EXPECT_EQ(CUDA_ERROR_INVALID_CONTEXT, cuStreamCreate(&stream, 0));
  EXPECT_EQ(CUDA_ERROR_INVALID_CONTEXT, cuCtxSynchronize());
  EXPECT_EQ(CUDA_ERROR_INVALID_CONTEXT, cuCtxPopCurrent(&popped));
  CUipcEventHandle handle;
  EXPECT_EQ(CUDA_ERROR_INVALID_CONTEXT, cuIpcGetEventHandle(&handle, event));
  // These look at their arguments first.
  const char* name = nullptr;
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuFuncGetName(&name, nullptr));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuGreenCtxStreamCreate(&stream, nullptr, 0, 0));
  EXPECT_OK(cuCtxGetCurrent(&popped));
  EXPECT_EQ(nullptr, popped);
  EXPECT_OK(cuCtxPushCurrent(context));
  EXPECT_OK(cuEventDestroy(event));
}

TEST_F(Arguments, a_destroyed_context_takes_its_handles_with_it) {
  CUcontext other = nullptr;
  CUstream stream = nullptr;
  CUdeviceptr memory = 0;
  ASSERT_OK(cuCtxCreate(&other, nullptr, 0, device));
  ASSERT_OK(cuStreamCreate(&stream, 0));
  ASSERT_OK(cuMemAlloc(&memory, 1000));
  ASSERT_OK(cuCtxDestroy(other));
  CUcontext now = nullptr;
  EXPECT_OK(cuCtxGetCurrent(&now));
  EXPECT_EQ(context, now) << "destroying the current context pops it";
  EXPECT_EQ(CUDA_ERROR_INVALID_HANDLE, cuStreamQuery(stream));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemFree(memory));
  EXPECT_EQ(CUDA_ERROR_INVALID_CONTEXT, cuCtxSetCurrent(other));
}

TEST_F(Arguments, the_primary_context_is_counted_and_comes_back) {
  CUcontext primary = nullptr;
  CUcontext again = nullptr;
  unsigned int flags = 0;
  int active = 0;
  ASSERT_OK(cuDevicePrimaryCtxRetain(&primary, device));
  ASSERT_OK(cuDevicePrimaryCtxRetain(&again, device));
  EXPECT_EQ(primary, again);
  EXPECT_OK(cuDevicePrimaryCtxRelease(device));
  EXPECT_OK(cuDevicePrimaryCtxGetState(device, &flags, &active));
  EXPECT_EQ(1, active);
  ASSERT_OK(cuCtxPushCurrent(primary));
  EXPECT_OK(cuDevicePrimaryCtxRelease(device));
  EXPECT_EQ(CUDA_ERROR_CONTEXT_IS_DESTROYED, cuCtxSynchronize());
  EXPECT_EQ(CUDA_ERROR_INVALID_CONTEXT, cuDevicePrimaryCtxRelease(device));
  ASSERT_OK(cuDevicePrimaryCtxRetain(&again, device));
  EXPECT_OK(cuCtxSynchronize());
  EXPECT_OK(cuCtxPopCurrent(&again));
  EXPECT_OK(cuDevicePrimaryCtxRelease(device));
}

}  // namespace
