// Kernels that begin in the scalar form and change to the vector one: results, when the change comes, and what may
// happen while it is compiled. CUCORE_CPU_CACHE=0 and CUCORE_CPU_FORM=auto are for it: every kernel here is compiled.
#include <dlfcn.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "cpu/api/cucore_cpu.h"
#include "cpu/tests/api/driver.hpp"

namespace {

constexpr unsigned int block = 256;

/// What a thread of the kernel leaves after so many rounds.
std::uint32_t expected(std::uint32_t thread, std::uint32_t rounds, std::uint32_t number) {
  std::uint32_t x = thread;
  for (std::uint32_t i = 0; i < rounds; ++i) x = x * 1664525U + number;
  return x;
}

/// A kernel with a loop, of which a process has at most one for each number. `more`: what its threads do at the end.
std::string text_of(std::uint32_t number, const std::string& more = "") {
  return R"(.version 8.0
.target sm_80
.address_size 64
.visible .entry rounds(.param .u64 to, .param .u32 count)
{
  .reg .pred %p;
  .reg .b32 %r<8>;
  .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [to];
  ld.param.u32 %r1, [count];
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, %ntid.x;
  mov.u32 %r4, %tid.x;
  mad.lo.u32 %r5, %r2, %r3, %r4;
  mul.wide.u32 %rd2, %r5, 4;
  add.u64 %rd3, %rd1, %rd2;
again:
  mad.lo.u32 %r5, %r5, 1664525, )" +
         std::to_string(number) + R"(;
  sub.u32 %r1, %r1, 1;
  setp.ne.u32 %p, %r1, 0;
  @%p bra again;
)" + more +
         R"(
  st.global.u32 [%rd3], %r5;
  ret;
}
)";
}

/// That change nothing: of a kernel with so many the compile is not due after little work, however slow the machine.
std::string many_instructions(int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += "  xor.b32 %r5, %r5, 0;\n";
  return text;
}

/// Waits for what another block could have written, as scans over a grid do, and exchanges words with the lane beside
/// it without a barrier.
constexpr const char* in_step_where_blocks_wait = R"(
  .shared .align 4 .b32 s[256];
  st.volatile.global.u32 [%rd3], 1;
wait:
  ld.volatile.global.u32 %r6, [%rd3];
  setp.eq.u32 %p, %r6, 0;
  @%p bra wait;
  mov.u32 %r6, s;
  shl.b32 %r7, %r4, 2;
  add.u32 %r3, %r6, %r7;
  st.shared.u32 [%r3], %r5;
  xor.b32 %r7, %r7, 4;
  add.u32 %r3, %r6, %r7;
  ld.shared.u32 %r3, [%r3];
  bar.sync 0;
)";

/// Words from lane to lane, with no barrier between.
constexpr const char* in_step_by_volatile_accesses = R"(
  .shared .align 4 .b32 s[288];
  mov.u32 %r6, s;
  shl.b32 %r7, %r4, 2;
  add.u32 %r7, %r6, %r7;
  bar.sync 0;
  ld.volatile.shared.u32 %r3, [%r7+64];
  st.volatile.shared.u32 [%r7], %r3;
  ld.volatile.shared.u32 %r3, [%r7+32];
  st.volatile.shared.u32 [%r7], %r3;
)";

std::size_t compiled() {
  std::size_t count = 0;
  cucore_cpu_kernel_counts(&count, nullptr);
  return count;
}

class LaterForm : public DriverTest {
 protected:
  void SetUp() override {
    DriverTest::SetUp();
    const char* const form = std::getenv("CUCORE_CPU_FORM");
    if (form != nullptr && !std::string(form).starts_with("auto")) GTEST_SKIP() << "only the automatic choice changes";
    for (const char* const variable : {"CUCORE_CPU_CHECK", "CUCORE_CPU_CHECK_SEED", "CUCORE_CPU_DEBUG"})
      if (std::getenv(variable) != nullptr) GTEST_SKIP() << "checks, seeds and debuggers want one form";
  }

  CUfunction load(std::uint32_t number, const std::string& more = "") {
    EXPECT_OK(cuModuleLoadData(&module, text_of(number, more).c_str()));
    CUfunction function = nullptr;
    EXPECT_OK(cuModuleGetFunction(&function, module, "rounds"));
    return function;
  }

  CUdeviceptr allocate(std::size_t threads) {
    CUdeviceptr memory = 0;
    EXPECT_OK(cuMemAlloc(&memory, threads * sizeof(std::uint32_t)));
    return memory;
  }

  void run(CUfunction function, unsigned int grid, CUdeviceptr memory, std::uint32_t rounds) {
    ASSERT_OK(launch(function, grid, block, nullptr, memory, rounds));
    ASSERT_OK(cuCtxSynchronize());
  }

  static void expect_right(CUdeviceptr memory, std::size_t threads, std::uint32_t rounds, std::uint32_t number) {
    const auto* const found = reinterpret_cast<const std::uint32_t*>(memory);
    for (std::size_t i = 0; i < threads; i += 1 + threads / 97)
      ASSERT_EQ(found[i], expected(static_cast<std::uint32_t>(i), rounds, number)) << "thread " << i;
  }
};

TEST_F(LaterForm, one_long_launch_begins_in_the_scalar_form_and_ends_in_the_vector_form) {
  const CUfunction function = load(11);
  constexpr unsigned int grid = 4096;
  constexpr std::uint32_t rounds = 3000;
  const CUdeviceptr memory = allocate(grid * block);
  const std::size_t before = compiled();
  run(function, grid, memory, rounds);
  EXPECT_EQ(compiled(), before + 2);
  expect_right(memory, grid * block, rounds, 11);
  run(function, grid, memory, 1);
  EXPECT_EQ(compiled(), before + 2) << "both forms are there";
  expect_right(memory, grid * block, 1, 11);
}

TEST_F(LaterForm, a_kernel_that_runs_little_is_never_compiled_twice) {
  const CUfunction function = load(12, many_instructions(200));
  const unsigned int grid = 16 * std::max(2U, std::thread::hardware_concurrency());  // fewer wait for vectors
  const CUdeviceptr memory = allocate(grid * block);
  const std::size_t before = compiled();
  run(function, grid, memory, 1);
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  EXPECT_EQ(compiled(), before + 1);
  expect_right(memory, grid * block, 1, 12);
}

TEST_F(LaterForm, launches_that_are_queued_before_the_form_is_there_take_it_when_they_begin) {
  const CUfunction function = load(13);
  constexpr unsigned int grid = 1024;
  constexpr std::uint32_t rounds = 200;
  std::vector<CUdeviceptr> memories;
  CUstream stream = nullptr;
  ASSERT_OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  const std::size_t before = compiled();
  for (int i = 0; i < 32; ++i) {
    memories.push_back(allocate(grid * block));
    ASSERT_OK(launch(function, grid, block, stream, memories.back(), rounds));
  }
  ASSERT_OK(cuStreamSynchronize(stream));
  EXPECT_EQ(compiled(), before + 2);
  for (const CUdeviceptr memory : memories) expect_right(memory, grid * block, rounds, 13);
  EXPECT_OK(cuStreamDestroy(stream));
}

TEST_F(LaterForm, a_kernel_whose_threads_can_tell_how_others_run_waits_for_vectors) {
  const std::pair<const char*, const char*> kinds[] = {
      {"an atomic", "atom.global.add.u32 %r6, [%rd1], 0;"},
      {"a reduction", "red.global.add.u32 [%rd1], 0;"},
      {"a volatile load", "ld.volatile.global.u32 %r6, [%rd3];"},
      {"a volatile store", "st.volatile.global.u32 [%rd3], %r5;"},
      {"shared memory", ".shared .b32 s; st.shared.u32 [s], 1;"},
      {"a fence", "membar.gl;"},
  };
  std::uint32_t number = 20;
  for (const auto& [kind, more] : kinds) {
    const CUfunction function = load(++number, more);
    const CUdeviceptr memory = allocate(1024 * block);
    const std::size_t before = compiled();
    run(function, 1024, memory, 300);
    run(function, 1024, memory, 300);
    EXPECT_EQ(compiled(), before + 1) << kind;
  }
}

TEST_F(LaterForm, a_kernel_whose_threads_only_meet_changes_between_blocks) {
  const std::pair<const char*, const char*> kinds[] = {
      {"a barrier", "bar.sync 0;"},
      {"a warp operation", "shfl.sync.idx.b32 %r6, %r5, 0, 31, -1;"},
      {"lanes in step where blocks wait", in_step_where_blocks_wait},
      {"lanes in step by volatile accesses", in_step_by_volatile_accesses},
  };
  std::uint32_t number = 63;
  for (const auto& [kind, more] : kinds) {
    const CUfunction function = load(++number, more);
    constexpr unsigned int grid = 1024;
    constexpr std::uint32_t rounds = 300;
    const CUdeviceptr memory = allocate(grid * block);
    const std::size_t before = compiled();
    run(function, grid, memory, rounds);
    EXPECT_EQ(compiled(), before + 2) << kind;
    expect_right(memory, grid * block, rounds, number);
  }
}

TEST_F(LaterForm, small_launches_of_convergent_threads_wait_for_no_vectors) {
  const CUfunction function = load(60, "bar.sync 0;\n" + many_instructions(800));
  const CUdeviceptr memory = allocate(block);
  const std::size_t before = compiled();
#if defined(__SANITIZE_THREAD__)
  constexpr int launches = 1;  // whose fibers take a hundred times as long: no small work
#else
  constexpr int launches = 10;
#endif
  for (int i = 0; i < launches; ++i) run(function, 1, memory, 1);
  EXPECT_EQ(compiled(), before + 1);
  expect_right(memory, block, 1, 60);
}

TEST_F(LaterForm, convergent_threads_get_vectors_once_they_have_run_for_long_however_few_they_are) {
  const CUfunction function = load(61, "bar.sync 0;");
  constexpr unsigned int warp = 32;
  constexpr std::uint32_t rounds = 2'000'000;
  const CUdeviceptr memory = allocate(warp);
  const std::size_t before = compiled();
  for (int i = 0; i < 60 && compiled() < before + 2; ++i) {
    ASSERT_OK(launch(function, 1, warp, nullptr, memory, rounds));
    ASSERT_OK(cuCtxSynchronize());
    expect_right(memory, warp, rounds, 61);
  }
  EXPECT_EQ(compiled(), before + 2);
  ASSERT_OK(launch(function, 1, warp, nullptr, memory, std::uint32_t{7}));
  ASSERT_OK(cuCtxSynchronize());
  EXPECT_EQ(compiled(), before + 2);
  expect_right(memory, warp, 7, 61);
}

TEST_F(LaterForm, a_few_blocks_of_convergent_threads_begin_in_the_scalar_form) {
  const CUfunction function = load(62, "bar.sync 0;");
  constexpr unsigned int grid = 12;
  constexpr std::uint32_t rounds = 100'000;
  const CUdeviceptr memory = allocate(grid * block);
  const std::size_t before = compiled();
  for (int i = 0; i < 20 && compiled() < before + 2; ++i) run(function, grid, memory, rounds);
  EXPECT_EQ(compiled(), before + 2);
  expect_right(memory, grid * block, rounds, 62);
}

TEST_F(LaterForm, a_fault_before_or_after_the_change_is_the_contexts_error_and_names_the_line) {
  const CUfunction function = load(40, "setp.eq.u32 %p, %r2, 4000; @%p st.global.u32 [0], %r5;");
  const CUdeviceptr memory = allocate(4096 * block);
  ASSERT_OK(launch(function, 4096, block, nullptr, memory, std::uint32_t{3000}));
  EXPECT_EQ(cuCtxSynchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
  char report[1024] = "";
  cucore_cpu_last_report(report, sizeof report);
  EXPECT_NE(std::string(report).find("block (4000,0,0)"), std::string::npos) << report;
  EXPECT_NE(std::string(report).find("PTX line 22"), std::string::npos) << report;
}

TEST_F(LaterForm, many_kernels_at_once_are_all_right) {
  constexpr std::uint32_t kernels = 24;
  constexpr unsigned int grid = 256;
  constexpr std::uint32_t rounds = 400;
  std::vector<CUdeviceptr> memories(kernels);
  std::vector<std::thread> threads;
  for (std::uint32_t t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      EXPECT_OK(cuCtxSetCurrent(context));
      CUstream stream = nullptr;
      EXPECT_OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
      for (std::uint32_t i = t; i < kernels; i += 4) {
        CUmodule loaded = nullptr;
        CUfunction function = nullptr;
        EXPECT_OK(cuModuleLoadData(&loaded, text_of(100 + i).c_str()));
        EXPECT_OK(cuModuleGetFunction(&function, loaded, "rounds"));
        EXPECT_OK(cuMemAlloc(&memories[i], grid * block * sizeof(std::uint32_t)));
        for (int times = 0; times < 4; ++times) {
          void* arguments[] = {&memories[i], const_cast<std::uint32_t*>(&rounds)};
          EXPECT_OK(cuLaunchKernel(function, grid, 1, 1, block, 1, 1, 0, stream, arguments, nullptr));
        }
      }
      EXPECT_OK(cuStreamSynchronize(stream));
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (std::uint32_t i = 0; i < kernels; ++i) expect_right(memories[i], grid * block, rounds, 100 + i);
}

TEST_F(LaterForm, modules_and_contexts_may_go_while_it_is_compiled) {
  for (std::uint32_t i = 0; i < 12; ++i) {
    CUcontext own = nullptr;
    ASSERT_OK(cuCtxCreate(&own, nullptr, 0, device));
    const CUfunction function = load(200 + i);
    const CUdeviceptr memory = allocate(512 * block);
    run(function, 512, memory, 100 + 50 * i);
    expect_right(memory, 512 * block, 100 + 50 * i, 200 + i);
    if (i % 3 == 0) {
      EXPECT_OK(cuModuleUnload(module));
    }
    EXPECT_OK(cuCtxDestroy(own));
  }
  module = nullptr;
  ASSERT_OK(cuCtxSetCurrent(context));
}

// ---- in a process of its own ---------------------------------------------------------------------------------------

/// Runs one test of this file in a new process, on one core if that is asked for; what became of it.
int run_alone(const std::string& test, bool on_one_core, const char* ending = "") {
  const pid_t child = fork();
  if (child == 0) {
    cpu_set_t all;
    sched_getaffinity(0, sizeof all, &all);
    int first = 0;
    while (!CPU_ISSET(first, &all)) ++first;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(first, &one);
    if (on_one_core) sched_setaffinity(0, sizeof one, &one);
    setenv("ENDING", ending, 1);
    if (std::string_view(ending) == "fork") {  // what its parent's threads held looks like a leak in the child
      const char* const set = std::getenv("ASAN_OPTIONS");
      setenv("ASAN_OPTIONS", ((set ? set : "") + std::string(":detect_leaks=0")).c_str(), 1);
    }
    const std::string filter = "--gtest_filter=" + test;
    execl("/proc/self/exe", "later_form_tests", filter.c_str(), "--gtest_also_run_disabled_tests", nullptr);
    _exit(127);
  }
  int status = -1;
  waitpid(child, &status, 0);
  return status;
}

TEST_F(LaterForm, launches_wait_for_their_form_where_that_is_asked_for) {
  if (const char* const form = std::getenv("CUCORE_CPU_FORM"); form == nullptr || std::string(form) != "auto-at-once") {
    const std::string before = form != nullptr ? form : "auto";
    setenv("CUCORE_CPU_FORM", "auto-at-once", 1);
    EXPECT_EQ(run_alone("LaterForm.launches_wait_for*", false), 0);
    setenv("CUCORE_CPU_FORM", before.c_str(), 1);
    return;
  }
  const CUfunction function = load(50);
  const CUdeviceptr memory = allocate(4096 * block);
  const std::size_t before = compiled();
  run(function, 4096, memory, 300);
  run(function, 4096, memory, 300);
  EXPECT_EQ(compiled(), before + 1);
  expect_right(memory, 4096 * block, 300, 50);
}

TEST_F(LaterForm, the_trace_says_which_forms_a_launch_had) {
  std::string folder = (std::filesystem::temp_directory_path() / "trace-XXXXXX").string();
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  setenv("CUCORE_TRACE", (folder + "/trace.json").c_str(), 1);
  EXPECT_EQ(run_alone("LaterForm.one_long*", false), 0);
  unsetenv("CUCORE_TRACE");
  std::ifstream file(folder + "/trace.json");
  const std::string text(std::istreambuf_iterator<char>(file), {});
  for (const char* const part : {R"("form":"scalar, then vector")", R"("form":"vector")", R"("name":"compile rounds")"})
    EXPECT_NE(text.find(part), std::string::npos) << part << " in\n" << text;
  std::filesystem::remove_all(folder);
}

TEST_F(LaterForm, on_one_core_it_is_the_same) {
  const std::string tests = "LaterForm.one_long*:LaterForm.launches_that*:LaterForm.many_kernels*:LaterForm.modules*";
  EXPECT_EQ(run_alone(tests, true), 0);
}

TEST_F(LaterForm, a_process_may_end_in_any_way_while_it_is_compiled) {
  for (const char* const ending : {"exit", "_exit", "return", "fork", "thread"})
    EXPECT_EQ(run_alone("LaterForm.DISABLED_ends_while_it_is_compiled", false, ending), 0) << ending;
  const int killed = run_alone("LaterForm.DISABLED_ends_while_it_is_compiled", false, "kill");
  EXPECT_TRUE(WIFSIGNALED(killed) && WTERMSIG(killed) == SIGKILL);
}

TEST_F(LaterForm, DISABLED_ends_while_it_is_compiled) {
  const std::string ending = std::getenv("ENDING") != nullptr ? std::getenv("ENDING") : "";
  for (std::uint32_t i = 0; i < 6; ++i) {  // some are compiled, some wait
    const CUfunction function = load(300 + i);
    ASSERT_OK(launch(function, 1024, block, nullptr, allocate(1024 * block), std::uint32_t{120}));
    ASSERT_OK(cuCtxSynchronize());
  }
  if (ending == "exit") std::exit(0);
  if (ending == "_exit") _exit(0);
  if (ending == "kill") kill(getpid(), SIGKILL);
  if (ending == "thread") std::thread([] { std::exit(0); }).join();
  if (ending != "fork") return;
  const pid_t child = fork();
  if (child == 0) std::exit(cuCtxSynchronize() == CUDA_ERROR_NOT_INITIALIZED ? 0 : 1);
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

}  // namespace
