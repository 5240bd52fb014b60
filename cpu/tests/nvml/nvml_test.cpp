// NVML of the CPU device under many threads and with bad arguments.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "cpu/nvml/abi.hpp"

extern "C" {
nvmlReturn_t nvmlInit_v2();
nvmlReturn_t nvmlShutdown();
nvmlReturn_t nvmlDeviceGetCount_v2(unsigned int* count);
nvmlReturn_t nvmlDeviceGetHandleByIndex_v2(unsigned int index, nvmlDevice_t* device);
nvmlReturn_t nvmlDeviceGetHandleByUUID(const char* uuid, nvmlDevice_t* device);
nvmlReturn_t nvmlDeviceGetHandleByPciBusId_v2(const char* bus, nvmlDevice_t* device);
nvmlReturn_t nvmlDeviceGetCpuAffinity(nvmlDevice_t device, unsigned int words, unsigned long* set);
nvmlReturn_t nvmlDeviceGetMemoryAffinity(nvmlDevice_t device, unsigned int words, unsigned long* set, unsigned int);
nvmlReturn_t nvmlDeviceGetTopologyCommonAncestor(nvmlDevice_t first, nvmlDevice_t second, unsigned int* level);
nvmlReturn_t nvmlDeviceGetTopologyNearestGpus(nvmlDevice_t device, unsigned int level, unsigned int* count,
                                              nvmlDevice_t* devices);
nvmlReturn_t nvmlSystemGetTopologyGpuSet(unsigned int core, unsigned int* count, nvmlDevice_t* devices);
nvmlReturn_t nvmlSystemGetProcessName(unsigned int process, char* name, unsigned int length);
nvmlReturn_t nvmlDeviceGetUUID(nvmlDevice_t device, char* uuid, unsigned int length);
nvmlReturn_t nvmlDeviceGetPciInfo_v3(nvmlDevice_t device, nvmlPciInfo_t* pci);
nvmlReturn_t nvmlDeviceGetMemoryInfo(nvmlDevice_t device, nvmlMemory_t* memory);
nvmlReturn_t nvmlDeviceGetUtilizationRates(nvmlDevice_t device, nvmlUtilization_t* rates);
nvmlReturn_t nvmlDeviceGetPowerUsage(nvmlDevice_t device, unsigned int* milliwatts);
}

namespace {

class Nvml : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(NVML_SUCCESS, nvmlInit_v2());
    ASSERT_EQ(NVML_SUCCESS, nvmlDeviceGetHandleByIndex_v2(0, &device));
  }
  void TearDown() override { EXPECT_EQ(NVML_SUCCESS, nvmlShutdown()); }
  nvmlDevice_t device = nullptr;
};

TEST_F(Nvml, threads_ask_at_once) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([] {
      for (int round = 0; round < 20; ++round) {
        nvmlDevice_t own = nullptr;
        nvmlUtilization_t rates{};
        nvmlMemory_t memory{};
        EXPECT_EQ(NVML_SUCCESS, nvmlInit_v2());
        EXPECT_EQ(NVML_SUCCESS, nvmlDeviceGetHandleByIndex_v2(0, &own));
        EXPECT_EQ(NVML_SUCCESS, nvmlDeviceGetUtilizationRates(own, &rates));
        EXPECT_EQ(NVML_SUCCESS, nvmlDeviceGetMemoryInfo(own, &memory));
        EXPECT_LE(rates.gpu, 100u);
        EXPECT_EQ(memory.total, memory.free + memory.used);
        EXPECT_EQ(NVML_SUCCESS, nvmlShutdown());
      }
    });
  for (std::thread& thread : threads) thread.join();
}

TEST_F(Nvml, a_handle_that_is_none_is_an_invalid_argument) {
  char text[96];
  for (const std::uintptr_t number : {std::uintptr_t{0}, std::uintptr_t{0x5566778899a0}})
    EXPECT_EQ(NVML_ERROR_INVALID_ARGUMENT, nvmlDeviceGetUUID(reinterpret_cast<nvmlDevice_t>(number), text, 96));
  EXPECT_EQ(NVML_ERROR_INVALID_ARGUMENT, nvmlDeviceGetUUID(device, nullptr, 96));
  EXPECT_EQ(NVML_ERROR_INVALID_ARGUMENT, nvmlDeviceGetCount_v2(nullptr));
}

TEST_F(Nvml, a_text_that_does_not_fit_is_refused_and_nothing_written) {
  char text[41] = "untouched";
  EXPECT_EQ(NVML_ERROR_INSUFFICIENT_SIZE, nvmlDeviceGetUUID(device, text, 40));
  EXPECT_STREQ("untouched", text);
  EXPECT_EQ(NVML_SUCCESS, nvmlDeviceGetUUID(device, text, 41));
  nvmlDevice_t same = nullptr;
  EXPECT_EQ(NVML_SUCCESS, nvmlDeviceGetHandleByUUID(text, &same));
  EXPECT_EQ(device, same);
}

TEST_F(Nvml, a_uuid_is_found_without_its_prefix) {
  char text[41];
  ASSERT_EQ(NVML_SUCCESS, nvmlDeviceGetUUID(device, text, sizeof text));
  nvmlDevice_t same = nullptr;
  EXPECT_EQ(NVML_SUCCESS, nvmlDeviceGetHandleByUUID(text + 4, &same));
  EXPECT_EQ(device, same);
  EXPECT_EQ(NVML_ERROR_NOT_FOUND, nvmlDeviceGetHandleByUUID(text + 5, &same));
  EXPECT_EQ(NVML_ERROR_NOT_FOUND, nvmlDeviceGetHandleByUUID("", &same));
}

TEST_F(Nvml, sets_and_lists_that_do_not_fit_are_refused) {
  unsigned long set = 0;
  EXPECT_EQ(NVML_ERROR_INVALID_ARGUMENT, nvmlDeviceGetCpuAffinity(device, 0, &set));
  EXPECT_EQ(NVML_ERROR_INVALID_ARGUMENT, nvmlDeviceGetCpuAffinity(device, 1, nullptr));
  EXPECT_EQ(NVML_ERROR_INVALID_ARGUMENT, nvmlDeviceGetMemoryAffinity(device, 1, &set, 7));
  unsigned int level = 0, count = 1;
  EXPECT_EQ(NVML_ERROR_INVALID_ARGUMENT, nvmlDeviceGetTopologyCommonAncestor(device, nullptr, &level));
  EXPECT_EQ(NVML_ERROR_INVALID_ARGUMENT, nvmlDeviceGetTopologyNearestGpus(device, 15, &count, &device));
  EXPECT_EQ(NVML_ERROR_INVALID_ARGUMENT, nvmlSystemGetTopologyGpuSet(0, &count, nullptr));
  count = 0;  // asks how many
  EXPECT_EQ(NVML_SUCCESS, nvmlSystemGetTopologyGpuSet(0, &count, nullptr));
  EXPECT_EQ(1u, count);
  char name[4] = "???";
  EXPECT_EQ(NVML_SUCCESS, nvmlSystemGetProcessName(static_cast<unsigned int>(getpid()), name, sizeof name));
  EXPECT_EQ('\0', name[3]) << "the beginning of a name that does not fit";
}

TEST_F(Nvml, a_bus_is_found_in_every_spelling) {
  nvmlPciInfo_t pci{};
  ASSERT_EQ(NVML_SUCCESS, nvmlDeviceGetPciInfo_v3(device, &pci));
  EXPECT_STREQ("00000000:01:00.0", pci.busId);
  for (const char* const text : {"00000000:01:00.0", "0000:01:00.0", "0000:01:00", "01:00.0", "0:1:0.0"}) {
    nvmlDevice_t same = nullptr;
    EXPECT_EQ(NVML_SUCCESS, nvmlDeviceGetHandleByPciBusId_v2(text, &same)) << text;
    EXPECT_EQ(device, same) << text;
  }
  for (const char* const text : {"0001:01:00.0", "0000:01:01.0", "0000:01:00.1", "02:01.0"}) {
    nvmlDevice_t none = nullptr;
    EXPECT_EQ(NVML_ERROR_NOT_FOUND, nvmlDeviceGetHandleByPciBusId_v2(text, &none)) << text;
  }
}

TEST_F(Nvml, what_is_not_answered_is_not_supported) {
  unsigned int milliwatts = 3;
  EXPECT_EQ(NVML_ERROR_NOT_SUPPORTED, nvmlDeviceGetPowerUsage(device, &milliwatts));
  EXPECT_EQ(3u, milliwatts);
}

}  // namespace
