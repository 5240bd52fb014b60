// Which driver is opened. Each case is a process of its own: the choice is made once per process.
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "cucore/driver.hpp"
#include "cucore/error.hpp"
#include "cucore/process.hpp"

namespace cucore {
namespace {

// Runs in the child of a death test: says what driver_info() answers and exits.
[[noreturn]] void ask(const char* device, const char* cpu_driver) {
  setenv("CUCORE_DEVICE", device, 1);
  if (cpu_driver != nullptr) setenv("CUCORE_CPU_DRIVER", cpu_driver, 1);
  std::string first;
  for (int i = 0; i < 2; ++i) {
    std::string answer;
    try {
      answer = driver_info().path;
    } catch (const UnavailableError& error) {
      answer = std::string("unavailable: ") + error.what();
    } catch (const ValueError& error) {
      answer = std::string("value: ") + error.what();
    }
    if (i == 1 && answer != first) std::exit(2);  // the same answer every time
    first = answer;
    setenv("CUCORE_DEVICE", "cpu", 1);  // too late: it is read once
  }
  std::fprintf(stderr, "%s\n", first.c_str());
  std::exit(driver_available() ? 0 : 1);
}

// Runs in the child of a death test: says where NVML is looked for, and whether that opened the driver.
[[noreturn]] void ask_for_management_library(const char* device, const char* cpu_driver) {
  setenv("CUCORE_DEVICE", device, 1);
  setenv("CUCORE_CPU_DRIVER", cpu_driver, 1);
  std::string answer;
  try {
    for (const std::string& place : management_library_places()) answer += place + ";";
  } catch (const Error& error) {
    answer = error.what();
  }
  std::fprintf(stderr, "[%s]\n", answer.c_str());
  std::exit(driver_opened() ? 1 : 0);
}

class DriverChoice : public testing::Test {
 protected:
  void SetUp() override { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

TEST_F(DriverChoice, refuses_words_it_does_not_know) {
  EXPECT_EXIT(ask("tpu", nullptr), testing::ExitedWithCode(1), "CUCORE_DEVICE is 'tpu'.*auto, gpu or cpu");
}

TEST_F(DriverChoice, of_cpu_names_the_file_that_is_missing) {
  EXPECT_EXIT(ask("cpu", "/nowhere/libcuda.so.1"), testing::ExitedWithCode(1),
              "the CPU device cannot be used.*/nowhere/libcuda.so.1");
}

TEST_F(DriverChoice, of_cpu_refuses_a_library_that_is_not_the_cpu_device) {
  EXPECT_EXIT(ask("cpu", "libm.so.6"), testing::ExitedWithCode(1), "is not the CPU device");
}

TEST_F(DriverChoice, of_gpu_never_falls_back) {
  if (std::getenv("CUCORE_TEST_GPU") != nullptr) GTEST_SKIP() << "there is a GPU here";
  EXPECT_EXIT(ask("gpu", nullptr), testing::ExitedWithCode(1), "no GPU driver can be used");
}

TEST_F(DriverChoice, tells_where_nvml_is_and_opens_nothing) {
  const char* const there = "/proc/self/exe";  // any file stands for the driver
  EXPECT_EXIT(ask_for_management_library("gpu", there), testing::ExitedWithCode(0), "^\\[libnvidia-ml.so.1;\\]");
  EXPECT_EXIT(ask_for_management_library("cpu", there), testing::ExitedWithCode(0), "^\\[/[^;]+/libnvidia-ml.so.1;\\]");
  EXPECT_EXIT(ask_for_management_library("auto", there), testing::ExitedWithCode(0),
              "^\\[libnvidia-ml.so.1;/[^;]+/libnvidia-ml.so.1;\\]");
  EXPECT_EXIT(ask_for_management_library("auto", "/nowhere/libcuda.so.1"), testing::ExitedWithCode(0),
              "^\\[libnvidia-ml.so.1;\\]");
  EXPECT_EXIT(ask_for_management_library("cpu", "/nowhere/libcuda.so.1"), testing::ExitedWithCode(0),
              "the CPU device is not installed.*/nowhere");
  EXPECT_EXIT(ask_for_management_library("tpu", there), testing::ExitedWithCode(0), "CUCORE_DEVICE is 'tpu'");
}

}  // namespace
}  // namespace cucore
