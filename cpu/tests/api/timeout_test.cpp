// Grids that run for longer than CUCORE_CPU_TIMEOUT allows, which the tests are started with, or that are waited for
// when Ctrl-C comes: they end, wherever their threads are, with an error that sticks to the context alone and a report
// that says where they stood.
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <regex>
#include <sstream>
#include <thread>

#include "cpu/api/cucore_cpu.h"
#include "cpu/tests/api/driver.hpp"

namespace {

/// Each goes on until the word at its parameter is not 0, which it never is, and says with LOOPS in which lines.
constexpr const char* endless_kernels = R"(
.version 7.8
.target sm_80
.address_size 64
.visible .entry computes(.param .u64 p)
{
  .reg .b64 %p;
  .reg .b32 %x, %stop;
  .reg .pred %goes_on;
  ld.param.u64 %p, [p];
  ld.global.u32 %stop, [%p];
  mov.u32 %x, %tid.x;
  setp.eq.u32 %goes_on, %stop, 0;         // LOOPS: the compiler may do it again each time
L:
  mad.lo.u32 %x, %x, 1664525, 1013904223; // LOOPS
  @%goes_on bra L;                        // LOOPS
  st.global.u32 [%p+4], %x;
  ret;
}
.visible .entry stores(.param .u64 p)
{
  .reg .b64 %p, %mine;
  .reg .b32 %x, %stop;
  .reg .pred %goes_on;
  ld.param.u64 %p, [p];
  ld.global.u32 %stop, [%p];
  mov.u32 %x, %tid.x;
  mad.wide.u32 %mine, %x, 4, %p;
  setp.eq.u32 %goes_on, %stop, 0;         // LOOPS: the compiler may do it again each time
L:
  mad.lo.u32 %x, %x, 1664525, 1013904223; // LOOPS
  st.volatile.global.u32 [%mine+4], %x;   // LOOPS
  @%goes_on bra L;                        // LOOPS
  ret;
}
.visible .entry polls(.param .u64 p)
{
  .reg .b64 %p;
  .reg .b32 %stop;
  .reg .pred %goes_on;
  ld.param.u64 %p, [p];
L:
  ld.volatile.global.u32 %stop, [%p]; // LOOPS
  setp.eq.u32 %goes_on, %stop, 0;     // LOOPS
  @%goes_on bra L;                    // LOOPS
  ret;
}
.visible .entry meets(.param .u64 p)
{
  .reg .b64 %p;
  .reg .b32 %stop;
  .reg .pred %goes_on;
  ld.param.u64 %p, [p];
L:
  bar.sync 0;                         // LOOPS
  ld.volatile.global.u32 %stop, [%p]; // LOOPS
  bar.sync 0;                         // LOOPS
  setp.eq.u32 %goes_on, %stop, 0;     // LOOPS
  @%goes_on bra L;                    // LOOPS
  ret;
}
.visible .entry keeps_others_waiting(.param .u64 p)
{
  .reg .b64 %p;
  .reg .b32 %x, %stop;
  .reg .pred %goes_on, %is_other;
  ld.param.u64 %p, [p];
  ld.global.u32 %stop, [%p];
  mov.u32 %x, %tid.x;
  setp.ne.u32 %is_other, %x, 0;
  @%is_other bra E;
  setp.eq.u32 %goes_on, %stop, 0;         // LOOPS: the compiler may do it again each time
L:
  mad.lo.u32 %x, %x, 1664525, 1013904223; // LOOPS
  @%goes_on bra L;                        // LOOPS
  st.global.u32 [%p+4], %x;
E:
  bar.sync 0;
  ret;
}
.visible .entry ends(.param .u64 p)
{
  .reg .b64 %p;
  .reg .b32 %one;
  ld.param.u64 %p, [p];
  mov.u32 %one, 1;
  st.global.u32 [%p], %one;
  ret;
}
)";

constexpr const char* kernel_names[] = {"computes", "stores", "polls", "meets", "keeps_others_waiting"};

std::string said_last() {
  std::string text(cucore_cpu_last_report(nullptr, 0) + 1, '\0');
  cucore_cpu_last_report(text.data(), text.size());
  return text;
}

class Timeouts : public DriverTest {
 protected:
  CUfunction endless(const char* name) {
    CUmodule loaded = nullptr;
    CUfunction function = nullptr;
    EXPECT_OK(cuModuleLoadData(&loaded, endless_kernels));
    EXPECT_OK(cuModuleGetFunction(&function, loaded, name));
    return function;
  }
};

bool is_scalar() {
  const char* const form = std::getenv("CUCORE_CPU_FORM");
  return form != nullptr && form == std::string("scalar");
}

/// Whether a line that the report names is one of a loop.
bool names_a_loop(const std::string& said) {
  std::vector<std::string> lines;
  std::istringstream text(endless_kernels);
  for (std::string line; std::getline(text, line);) lines.push_back(line);
  const std::regex place("PTX line ([0-9]+)");
  for (std::sregex_iterator found(said.begin(), said.end(), place), end; found != end; ++found)
    if (lines.at(std::stoul((*found)[1]) - 1).find("LOOPS") != std::string::npos) return true;
  return false;
}

TEST_F(Timeouts, end_kernels_wherever_their_threads_are) {
  for (const char* const name : kernel_names)
    for (const auto& [blocks, threads] : {std::pair{1U, 64U}, {64U, 256U}}) {
      SCOPED_TRACE(name);
      CUcontext own = nullptr;
      ASSERT_OK(cuCtxCreate(&own, nullptr, 0, device));
      const auto memory = reinterpret_cast<CUdeviceptr>(device_array<int>(1024));
      ASSERT_OK(launch(endless(name), blocks, threads, nullptr, memory));
      EXPECT_EQ(CUDA_ERROR_LAUNCH_TIMEOUT, cuCtxSynchronize());
      const std::string said = said_last();
      EXPECT_NE(std::string::npos, said.find(std::string("kernel ") + name)) << said;
      EXPECT_NE(std::string::npos, said.find("block (")) << said;
      EXPECT_NE(std::string::npos, said.find("CUCORE_CPU_TIMEOUT=")) << said;
      // Between instructions that have lines there are some that have none; a call has one.
      const bool stands_at_calls = is_scalar() && (name == std::string("polls") || name == std::string("meets"));
      const bool names_none = said.find(" at PTX line") == std::string::npos;
      EXPECT_TRUE(names_a_loop(said) || (!stands_at_calls && names_none)) << said;
      CUdeviceptr more = 0;
      EXPECT_EQ(CUDA_ERROR_LAUNCH_TIMEOUT, cuMemAlloc(&more, 16));
      EXPECT_OK(cuCtxDestroy(own));
    }
}

/// In a new process, without a limit: an endless kernel, which runs when this returns. The answer: what it reads.
int* launch_without_limit(const char* name) {
  unsetenv("CUCORE_CPU_TIMEOUT");
  ::signal(SIGINT, SIG_DFL);
  CUdevice device = 0;
  CUcontext context = nullptr;
  CUmodule module = nullptr;
  CUfunction function = nullptr;
  CUdeviceptr memory = 0;
  EXPECT_OK(cuInit(0));
  EXPECT_OK(cuDeviceGet(&device, 0));
  EXPECT_OK(cuCtxCreate(&context, nullptr, 0, device));
  EXPECT_OK(cuModuleLoadData(&module, endless_kernels));
  EXPECT_OK(cuModuleGetFunction(&function, module, name));
  EXPECT_OK(cuMemAllocManaged(&memory, 4096, CU_MEM_ATTACH_GLOBAL));
  EXPECT_OK(cuMemsetD8(memory, 0, 4096));
  void* parameters[] = {&memory};
  EXPECT_OK(cuLaunchKernel(function, 4, 1, 1, 256, 1, 1, 0, nullptr, parameters, nullptr));
  EXPECT_EQ(CUDA_ERROR_NOT_READY, cuStreamQuery(nullptr));
  return reinterpret_cast<int*>(memory);
}

/// Ctrl-C, again and again from now on.
void keep_pressing_ctrl_c() {
  std::thread([] {
    for (;;) {
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
      kill(getpid(), SIGINT);
    }
  }).detach();
}

void wait_and_get_interrupted(const char* name) {
  launch_without_limit(name);
  keep_pressing_ctrl_c();
  cuCtxSynchronize();
}

volatile std::sig_atomic_t handled = 0;

void count(int /*signal*/) { handled = handled + 1; }

/// With a handler of the program's own, which is called each time. Ends with 0 if all is as it should be.
void wait_with_a_handler(const char* name) {
  setenv("CUCORE_CPU_INTERRUPT", "0.05", 1);
  launch_without_limit(name);
  struct sigaction action{};
  action.sa_handler = count;
  sigaction(SIGINT, &action, nullptr);
  keep_pressing_ctrl_c();
  const CUresult result = cuCtxSynchronize();
  const std::string said = said_last();
  struct sigaction after{};
  while (handled < 2) std::this_thread::yield();
  do sigaction(SIGINT, nullptr, &after);  // ours goes when the watchdog has seen the end of the wait
  while (after.sa_handler != count);
  CUcontext next = nullptr;
  const bool others_go_on = cuCtxCreate(&next, nullptr, 0, 0) == CUDA_SUCCESS && cuCtxSynchronize() == CUDA_SUCCESS;
  const bool is_said = said.find("was ended by Ctrl-C") != std::string::npos &&
                       said.find(std::string("kernel ") + name) != std::string::npos;
  std::_Exit(result == CUDA_ERROR_LAUNCH_TIMEOUT && others_go_on && is_said ? 0 : 1);
}

/// One Ctrl-C is the program's affair: the grid goes on until memory that it polls changes.
void wait_with_a_handler_that_ends_the_grid() {
  setenv("CUCORE_CPU_INTERRUPT", "0", 1);
  int* const word = launch_without_limit("polls");
  static std::atomic<int*> polled;
  polled = word;
  struct sigaction action{};
  action.sa_flags = SA_SIGINFO;
  action.sa_sigaction = [](int, siginfo_t* info, void*) {
    if (info->si_pid == getpid()) handled = 1;
  };
  sigaction(SIGINT, &action, nullptr);
  std::thread([] {
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    kill(getpid(), SIGINT);
    while (handled == 0) std::this_thread::yield();
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    *polled = 1;
  }).detach();
  std::_Exit(cuCtxSynchronize() == CUDA_SUCCESS ? 0 : 1);
}

/// SIGINT is ignored, as in a background job of a shell, and stays so.
void wait_with_ctrl_c_ignored() {
  setenv("CUCORE_CPU_INTERRUPT", "0", 1);
  int* const word = launch_without_limit("polls");
  ::signal(SIGINT, SIG_IGN);
  keep_pressing_ctrl_c();
  std::thread([word] {
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
    *word = 1;
  }).detach();
  const CUresult result = cuCtxSynchronize();
  std::_Exit(result == CUDA_SUCCESS && ::signal(SIGINT, SIG_IGN) == SIG_IGN ? 0 : 1);
}

TEST(EndlessKernelsDeathTest, end_with_a_program_that_gets_SIGINT_or_exits) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  for (const char* const name : kernel_names) {
    SCOPED_TRACE(name);
    EXPECT_EXIT(wait_and_get_interrupted(name), ::testing::KilledBySignal(SIGINT), "");
    EXPECT_EXIT((launch_without_limit(name), std::exit(3)), ::testing::ExitedWithCode(3), "");
  }
}

TEST(EndlessKernelsDeathTest, end_by_the_second_ctrl_c_that_a_programs_handler_gets) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  for (const char* const name : kernel_names) {
    SCOPED_TRACE(name);
    EXPECT_EXIT(wait_with_a_handler(name), ::testing::ExitedWithCode(0), "");
  }
}

TEST(EndlessKernelsDeathTest, are_left_alone_by_the_first_and_where_it_is_ignored) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(wait_with_a_handler_that_ends_the_grid(), ::testing::ExitedWithCode(0), "");
  EXPECT_EXIT(wait_with_ctrl_c_ignored(), ::testing::ExitedWithCode(0), "");
}

TEST_F(Timeouts, leave_other_contexts_alone) {
  CUcontext other = nullptr;
  const auto memory = reinterpret_cast<CUdeviceptr>(device_array<int>(1024));
  ASSERT_OK(launch(endless("computes"), 4, 256, nullptr, memory));
  ASSERT_OK(cuCtxCreate(&other, nullptr, 0, device));
  int* const word = device_array<int>(1);
  const CUfunction ends = endless("ends");
  for (int i = 0; i < 100; ++i) {
    *word = 0;
    ASSERT_OK(launch(ends, 1, 1, nullptr, reinterpret_cast<CUdeviceptr>(word)));
    ASSERT_OK(cuCtxSynchronize());
    ASSERT_EQ(1, *word);
  }
  ASSERT_OK(cuCtxSetCurrent(context));
  EXPECT_EQ(CUDA_ERROR_LAUNCH_TIMEOUT, cuCtxSynchronize());
  ASSERT_OK(cuCtxSetCurrent(other));
  EXPECT_OK(cuCtxSynchronize());
  EXPECT_OK(cuCtxDestroy(other));
}

TEST_F(Timeouts, of_the_primary_context_are_over_when_it_is_reset) {
  CUcontext primary = nullptr;
  for (int round = 0; round < 2; ++round) {
    ASSERT_OK(cuDevicePrimaryCtxRetain(&primary, device));
    ASSERT_OK(cuCtxSetCurrent(primary));
    int* const word = device_array<int>(1024);
    ASSERT_OK(launch(endless("ends"), 1, 1, nullptr, reinterpret_cast<CUdeviceptr>(word)));
    ASSERT_OK(cuCtxSynchronize());
    *word = 0;
    ASSERT_OK(launch(endless("polls"), 1, 32, nullptr, reinterpret_cast<CUdeviceptr>(word)));
    EXPECT_EQ(CUDA_ERROR_LAUNCH_TIMEOUT, cuCtxSynchronize());
    EXPECT_OK(cuDevicePrimaryCtxReset(device));
  }
  ASSERT_OK(cuCtxSetCurrent(context));
}

}  // namespace
