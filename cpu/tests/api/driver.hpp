// What the driver's own tests share: a current context, the kernels of api_kernels.cu, memory and launches in one line.
#pragma once

#include <cuda.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#define ASSERT_OK(call) ASSERT_EQ(CUDA_SUCCESS, (call))
#define EXPECT_OK(call) EXPECT_EQ(CUDA_SUCCESS, (call))

inline const std::string& kernels_ptx() {
  static const std::string text = [] {
    std::ifstream file(CUCORE_TEST_DATA "/api/kernels.ptx");
    return std::string(std::istreambuf_iterator<char>(file), {});
  }();
  return text;
}

/// A handle that was never valid.
template <class Handle>
Handle garbage() {
  return reinterpret_cast<Handle>(std::uintptr_t{0x5566778899a0});
}

/// A value that the enumeration lacks.
template <class Enum>
Enum unknown(int value) {
  return static_cast<Enum>(value);
}

/// Of a pool of device 0 that other processes may open by a file descriptor.
inline CUmemPoolProps shareable_pool() {
  CUmemPoolProps given{};
  given.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  given.handleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
  given.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
  return given;
}

/// A context of its own for every test, so that a sticky error harms no other test.
class DriverTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_OK(cuInit(0));
    ASSERT_OK(cuDeviceGet(&device, 0));
    ASSERT_OK(cuCtxCreate(&context, nullptr, 0, device));
  }
  void TearDown() override {
    if (context) {
      EXPECT_OK(cuCtxDestroy(context));
    }
    context = nullptr;
    CUcontext left = nullptr;  // what a test made current and left so must not reach the next
    while (cuCtxPopCurrent(&left) == CUDA_SUCCESS) {
    }
  }

  CUfunction kernel(const char* name) {
    if (!module) {
      EXPECT_OK(cuModuleLoadData(&module, kernels_ptx().c_str()));
    }
    CUfunction function = nullptr;
    EXPECT_OK(cuModuleGetFunction(&function, module, name));
    return function;
  }

  template <class... Arguments>
  CUresult launch(CUfunction function, unsigned int grid, unsigned int block, CUstream stream, Arguments... arguments) {
    void* pointers[] = {&arguments..., nullptr};
    return cuLaunchKernel(function, grid, 1, 1, block, 1, 1, 0, stream, pointers, nullptr);
  }

  /// Zeroed device memory that host code reads directly: addresses of this driver are host addresses.
  template <class T>
  T* device_array(std::size_t count) {
    CUdeviceptr memory = 0;
    EXPECT_OK(cuMemAlloc(&memory, count * sizeof(T)));
    EXPECT_OK(cuMemsetD8(memory, 0, count * sizeof(T)));
    return reinterpret_cast<T*>(memory);
  }

  static void raise(int* flag) { std::atomic_ref<int>(*flag).store(1, std::memory_order_release); }

  CUdevice device = 0;
  CUcontext context = nullptr;
  CUmodule module = nullptr;
};
