// The exported surface: versions, look-up by name, names of errors, stubs, and the library's own exports.
#include <cstring>
#include <set>
#include <string>

#include "cpu/api/cucore_cpu.h"
#include "cpu/tests/api/driver.hpp"

namespace {

void* look_up(const char* name, int version, cuuint64_t flags = 0) {
  void* address = nullptr;
  EXPECT_OK(cuGetProcAddress(name, &address, version, flags, nullptr));
  return address;
}

TEST(Surface, version_is_13_5_whatever_the_header) {
  int version = 0;
  EXPECT_OK(cuDriverGetVersion(&version));
  EXPECT_EQ(13050, version);
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuDriverGetVersion(nullptr));
}

TEST(Surface, look_up_gives_the_newest_version_not_newer_than_asked_for) {
  EXPECT_EQ(reinterpret_cast<void*>(&cuMemAlloc), look_up("cuMemAlloc", 13000));
  EXPECT_EQ(look_up("cuMemAlloc", 13000), look_up("cuMemAlloc", 3020));
  EXPECT_NE(look_up("cuMemAlloc", 13000), look_up("cuMemAlloc", 2000));
  EXPECT_NE(look_up("cuCtxCreate", 13000), look_up("cuCtxCreate", 11040));
}

TEST(Surface, look_up_tells_missing_from_too_old) {
  void* address = &address;
  CUdriverProcAddressQueryResult status = CU_GET_PROC_ADDRESS_SUCCESS;
  EXPECT_OK(cuGetProcAddress("cuNoSuchThing", &address, 13000, 0, &status));
  EXPECT_EQ(nullptr, address);
  EXPECT_EQ(CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND, status);
  EXPECT_OK(cuGetProcAddress("cuLibraryLoadData", &address, 11000, 0, &status));
  EXPECT_EQ(nullptr, address);
  EXPECT_EQ(CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT, status);
  EXPECT_OK(cuGetProcAddress("cuLibraryLoadData", &address, 12000, 0, &status));
  EXPECT_EQ(CU_GET_PROC_ADDRESS_SUCCESS, status);
}

TEST(Surface, look_up_refuses_bad_arguments) {
  void* address = nullptr;
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuGetProcAddress(nullptr, &address, 13000, 0, nullptr));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuGetProcAddress("cuInit", nullptr, 13000, 0, nullptr));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuGetProcAddress("cuInit", &address, 13000, 3, nullptr));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuGetProcAddress("cuInit", &address, 99000, 0, nullptr));
}

TEST(Surface, look_up_gives_per_thread_variants_on_request) {
  const auto flag = CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;
  EXPECT_NE(look_up("cuMemcpyHtoD", 13000), look_up("cuMemcpyHtoD", 13000, flag));
  EXPECT_EQ(look_up("cuMemAlloc", 13000), look_up("cuMemAlloc", 13000, flag));
}

TEST(Surface, every_error_has_a_name_and_a_description) {
  const char* text = nullptr;
  EXPECT_OK(cuGetErrorName(CUDA_ERROR_ILLEGAL_ADDRESS, &text));
  EXPECT_STREQ("CUDA_ERROR_ILLEGAL_ADDRESS", text);
  EXPECT_OK(cuGetErrorString(CUDA_ERROR_NOT_READY, &text));
  EXPECT_STREQ("device not ready", text);
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuGetErrorName(unknown<CUresult>(54321), &text));
  EXPECT_EQ(nullptr, text);
}

TEST(Surface, a_stub_answers_not_supported) {
  CUdevice device = 0;
  EXPECT_EQ(CUDA_ERROR_NOT_SUPPORTED, cuDeviceGetNvSciSyncAttributes(&device, 0, 0));
}

TEST(Surface, status_counts_every_entry_point_once) {
  cucore_cpu_status status{};
  EXPECT_EQ(1, cucore_cpu_driver_status(&status)) << "a struct of size 0 is too small";
  status.size = sizeof status;
  ASSERT_EQ(0, cucore_cpu_driver_status(&status));
  std::set<std::string> names(status.real_names, status.real_names + status.real_count);
  EXPECT_TRUE(names.contains("cuLaunchKernel"));
  EXPECT_TRUE(names.contains("cuLaunchKernel_ptsz")) << "a variant of a real entry point is real";
  EXPECT_FALSE(names.contains("cuDeviceGetNvSciSyncAttributes"));
  names.insert(status.stub_names, status.stub_names + status.stub_count);
  EXPECT_EQ(status.real_count + status.stub_count, names.size());
  EXPECT_GT(status.covered_opcode_count, 0u);
  EXPECT_GE(status.known_opcode_count, status.covered_opcode_count);
  EXPECT_GE(cucore_cpu_device_version(), 1000);
}

}  // namespace
