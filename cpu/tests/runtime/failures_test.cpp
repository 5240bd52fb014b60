// Kernels that fail: which error, that it sticks to the context, and what the report says. Nothing hangs or crashes.
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <sstream>
#include <string>

#include "cpu/api/cucore_cpu.h"
#include "cpu/tests/api/driver.hpp"

namespace {

class Failures : public DriverTest {
 protected:
  void expect_sticky(CUresult error) {
    EXPECT_EQ(error, cuCtxSynchronize());
    CUdeviceptr memory = 0;
    CUstream stream = nullptr;
    EXPECT_EQ(error, cuMemAlloc(&memory, 16));
    EXPECT_EQ(error, cuStreamCreate(&stream, 0));
    EXPECT_EQ(error, launch(function, 1, 1, nullptr, CUdeviceptr{0}));
    // Another context of the same device is unharmed.
    CUcontext other = nullptr;
    ASSERT_OK(cuCtxCreate(&other, nullptr, 0, device));
    EXPECT_OK(cuMemAlloc(&memory, 16));
    EXPECT_OK(cuCtxDestroy(other));
  }
  static std::string report() {
    std::string text(cucore_cpu_last_report(nullptr, 0) + 1, '\0');
    cucore_cpu_last_report(text.data(), text.size());
    return text;
  }
  CUfunction function = nullptr;
};

TEST_F(Failures, a_store_to_nowhere_is_an_illegal_address) {
  function = kernel("write_to");
  ASSERT_OK(launch(function, 1, 1, nullptr, CUdeviceptr{0x10}));
  expect_sticky(CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT_NE(std::string::npos, report().find("write_to")) << report();
  EXPECT_NE(std::string::npos, report().find("0x10")) << report();
}

TEST_F(Failures, a_graph_launched_after_its_texture_was_destroyed_says_so) {
  ASSERT_OK(cuModuleLoadData(&module, R"(
.version 7.8
.target sm_80
.address_size 64
.visible .entry look(.param .u64 through)
{
  .reg .b64 %t;
  .reg .f32 %v<4>, %zero;
  ld.param.u64 %t, [through];
  mov.f32 %zero, 0f00000000;
  tex.1d.v4.f32.f32 {%v0, %v1, %v2, %v3}, [%t, {%zero}];
  ret;
}
)"));
  const CUDA_ARRAY_DESCRIPTOR descriptor{4, 0, CU_AD_FORMAT_FLOAT, 1};
  CUDA_RESOURCE_DESC resource{};
  ASSERT_OK(cuArrayCreate(&resource.res.array.hArray, &descriptor));
  const CUDA_TEXTURE_DESC how{};
  CUtexObject texture = 0;
  ASSERT_OK(cuTexObjectCreate(&texture, &resource, &how, nullptr));
  function = kernel("look");
  CUstream stream = nullptr;
  ASSERT_OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  ASSERT_OK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
  ASSERT_OK(launch(function, 1, 1, stream, texture));
  CUgraph graph = nullptr;
  ASSERT_OK(cuStreamEndCapture(stream, &graph));
  CUgraphExec exec = nullptr;
  ASSERT_OK(cuGraphInstantiate(&exec, graph, 0));
  ASSERT_OK(cuTexObjectDestroy(texture));
  ASSERT_OK(cuGraphLaunch(exec, stream));
  expect_sticky(CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT_NE(std::string::npos, report().find("was destroyed before this work was queued")) << report();
}

/// Runs one test in a process of its own, whose kernels have that form from the first launch on: when they get it
/// otherwise depends on what else the machine does.
int run_in_form(const char* form, const std::string& test) {
  const pid_t child = fork();
  if (child == 0) {
    setenv("CUCORE_CPU_FORM", form, 1);
    execl("/proc/self/exe", "api_tests", ("--gtest_filter=" + test).c_str(), nullptr);
    _exit(127);
  }
  int status = -1;
  waitpid(child, &status, 0);
  return status;
}

TEST_F(Failures, a_fault_among_threads_in_lockstep_names_none_of_them) {
  const std::string forms[] = {"scalar", "vector", "masked"};
  const char* const set = std::getenv("CUCORE_CPU_FORM");
  const std::string form = set != nullptr ? set : "auto";
  if (std::find(std::begin(forms), std::end(forms), form) == std::end(forms)) {
    for (const std::string& each : forms)
      EXPECT_EQ(0, run_in_form(each.c_str(), "Failures.a_fault_among_threads_in_lockstep_names_none_of_them")) << each;
    return;
  }
  ASSERT_OK(cuModuleLoadData(&module, R"(
.version 7.8
.target sm_80
.address_size 64
.visible .entry k()
{
  .reg .b32 %x;
  .reg .b64 %nowhere;
  .reg .pred %stores;
  bar.sync 0;
  mov.u32 %x, %tid.x;
  setp.eq.u32 %stores, %x, 300;
  mov.u64 %nowhere, 16;
  @%stores st.global.u32 [%nowhere], %x;
  ret;
})"));
  function = kernel("k");
  ASSERT_OK(launch(function, 8, 512, nullptr));
  EXPECT_EQ(CUDA_ERROR_ILLEGAL_ADDRESS, cuCtxSynchronize());
  const bool is_scalar = form == "scalar";
  const char* const who = is_scalar ? "), thread (300,0,0) at " : "), one of its 512 threads at ";
  EXPECT_NE(std::string::npos, report().find(who)) << report();
  EXPECT_NE(std::string::npos, report().find("at PTX line 14: st.global.u32: access to address 0x10")) << report();
  const char* const hint = "run with CUCORE_CPU_CHECK=memory to learn the thread and the line";
  EXPECT_EQ(!is_scalar, report().find(hint) != std::string::npos) << report();
}

TEST_F(Failures, a_fault_names_its_block_among_those_that_run_together) {
  ASSERT_OK(cuModuleLoadData(&module, R"(
.version 7.8
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out)
{
  .reg .b32 %x, %row, %block, %value;
  .reg .b64 %out, %offset, %nowhere;
  .reg .pred %fails;
  ld.param.u64 %out, [out];
  mov.u32 %x, %tid.x;
  mov.u32 %row, %tid.y;
  mov.u32 %block, %ctaid.x;
  mad.lo.u32 %x, %block, 32, %x;
  mad.lo.u32 %value, %row, 20480, %x;
  mul.wide.u32 %offset, %value, 4;
  add.u64 %out, %out, %offset;
  ld.global.u32 %value, [%out];
  mad.lo.u32 %value, %value, %value, %x;
  st.global.u32 [%out], %value;
  setp.eq.u32 %fails, %row, 2;
  setp.eq.and.u32 %fails, %block, 505, %fails;
  add.u64 %nowhere, %offset, 16;
  @%fails st.global.u32 [%nowhere], %value;
  ret;
})"));
  function = kernel("k");
  auto* out = device_array<std::uint32_t>(std::size_t{640} * 32 * 4);
  void* parameters[] = {&out};
  ASSERT_OK(cuLaunchKernel(function, 640, 1, 1, 32, 4, 1, 0, nullptr, parameters, nullptr));
  EXPECT_EQ(CUDA_ERROR_ILLEGAL_ADDRESS, cuCtxSynchronize());
  EXPECT_NE(std::string::npos, report().find("block (505,0,0)")) << report();
}

TEST_F(Failures, a_store_to_freed_memory_is_an_illegal_address) {
  function = kernel("write_to");
  CUdeviceptr memory = 0;
  ASSERT_OK(cuMemAlloc(&memory, 4 << 20));
  ASSERT_OK(cuMemFree(memory));
  ASSERT_OK(launch(function, 1, 1, nullptr, memory));
  expect_sticky(CUDA_ERROR_ILLEGAL_ADDRESS);
}

TEST_F(Failures, a_fault_names_the_allocation_next_to_it) {
  constexpr std::size_t byte_count = std::size_t{4} << 20;
  function = kernel("write_to");
  CUdeviceptr one = 0, another = 0;
  ASSERT_OK(cuMemAlloc(&one, byte_count));
  ASSERT_OK(cuMemAlloc(&another, byte_count));
  const CUdeviceptr low = std::min(one, another), high = std::max(one, another);
  ASSERT_EQ(low + byte_count, high);
  ASSERT_OK(cuMemFree(high));
  ASSERT_OK(launch(function, 1, 1, nullptr, high + 64));
  EXPECT_EQ(CUDA_ERROR_ILLEGAL_ADDRESS, cuCtxSynchronize());
  std::ostringstream neighbour;
  neighbour << "which is in no live device allocation, 64 bytes after the end of the allocation of 4194304 bytes at 0x"
            << std::hex << low;
  EXPECT_NE(std::string::npos, report().find(neighbour.str())) << report();
}

/// Of an address with bits that none has the processor does not tell.
TEST_F(Failures, a_fault_names_no_address_that_nobody_knows) {
  function = kernel("write_to");
  ASSERT_OK(launch(function, 1, 1, nullptr, CUdeviceptr{0xdead000000000000}));
  EXPECT_EQ(CUDA_ERROR_ILLEGAL_ADDRESS, cuCtxSynchronize());
  EXPECT_NE(std::string::npos, report().find(": access to an address that no memory can have")) << report();
}

TEST_F(Failures, a_trap_is_a_launch_failure) {
  function = kernel("trap_at_once");
  ASSERT_OK(launch(function, 100, 64, nullptr));
  expect_sticky(CUDA_ERROR_LAUNCH_FAILED);
  EXPECT_NE(std::string::npos, report().find("), thread (")) << report();
  EXPECT_NE(std::string::npos, report().find(") at PTX line ")) << report();
}

TEST_F(Failures, a_failed_assertion_prints_its_line) {
  function = kernel("fail_assertion");
  ::testing::internal::CaptureStderr();
  ASSERT_OK(launch(function, 1, 4, nullptr, 3));
  expect_sticky(CUDA_ERROR_ASSERT);
  EXPECT_EQ(
      "api_kernels.cu:51: fail_assertion: block: [0,0,0], thread: [3,0,0] Assertion `threadIdx.x < limit` failed.\n",
      ::testing::internal::GetCapturedStderr());
}

TEST_F(Failures, every_thread_of_a_block_says_its_failed_assertion) {
  const std::string with_barrier = R"(
.version 7.8
.target sm_80
.address_size 64
.extern .func __assertfail(.param .b64 a, .param .b64 b, .param .b32 c, .param .b64 d, .param .b64 e);
.global .b8 text[2] = {63, 0};
.visible .entry k(.param .u32 limit)
{
  .reg .b32 %x, %limit;
  .reg .b64 %text;
  .reg .pred %holds;
  bar.sync 0;
  ld.param.u32 %limit, [limit];
  mov.u32 %x, %tid.x;
  setp.lt.u32 %holds, %x, %limit;
  @%holds bra fine;
  cvta.global.u64 %text, text;
  {
  .param .b64 p0; .param .b64 p1; .param .b32 p2; .param .b64 p3; .param .b64 p4;
  st.param.b64 [p0], %text; st.param.b64 [p1], %text; st.param.b32 [p2], 7; st.param.b64 [p3], %text; st.param.b64 [p4], 1;
  call __assertfail, (p0, p1, p2, p3, p4);
  }
fine:
  ret;
})";
  for (const bool waits : {false, true}) {
    if (waits) {
      TearDown();
      SetUp();
      ASSERT_OK(cuModuleLoadData(&module, with_barrier.c_str()));
    }
    function = kernel(waits ? "k" : "fail_assertion");
    ::testing::internal::CaptureStderr();
    ASSERT_OK(launch(function, 1, 96, nullptr, 70));
    expect_sticky(CUDA_ERROR_ASSERT);
    const std::string said = ::testing::internal::GetCapturedStderr();
    EXPECT_EQ(26, std::count(said.begin(), said.end(), '\n')) << said;
    for (const char* const thread : {"[70,0,0]", "[83,0,0]", "[95,0,0]"})
      EXPECT_NE(std::string::npos, said.find(thread)) << said;
  }
}

TEST_F(Failures, a_deadlock_is_reported_with_where_everybody_stands) {
  function = kernel("different_barriers");
  ASSERT_OK(launch(function, 1, 64, nullptr));
  expect_sticky(CUDA_ERROR_LAUNCH_FAILED);
  const std::string text = report();
  EXPECT_NE(std::string::npos, text.find("deadlock")) << text;
  EXPECT_NE(std::string::npos, text.find("warp 0, lanes 0-31: at barrier 1 (32 of 64 threads arrived)")) << text;
  EXPECT_NE(std::string::npos, text.find("warp 1, lanes 0-31: at barrier 2 (32 of 64 threads arrived)")) << text;
}

TEST_F(Failures, endless_recursion_is_a_stack_error) {
  function = kernel("recurse");
  CUdeviceptr out = 0;
  ASSERT_OK(cuMemAlloc(&out, 4));
  ASSERT_OK(launch(function, 1, 1, nullptr, 1 << 20, out));
  EXPECT_EQ(CUDA_ERROR_HARDWARE_STACK_ERROR, cuCtxSynchronize()) << report();
}

TEST_F(Failures, work_behind_a_failure_is_not_run) {
  int* const out = device_array<int>(1);
  const CUfunction set_to = kernel("set_to");
  int* const flag = device_array<int>(1);
  int* const ignored = device_array<int>(1);
  function = kernel("trap_at_once");
  ASSERT_OK(launch(kernel("wait_for"), 1, 1, nullptr, flag, ignored));
  ASSERT_OK(launch(function, 1, 1, nullptr));
  ASSERT_OK(launch(set_to, 1, 1, nullptr, out, 1));
  raise(flag);
  EXPECT_EQ(CUDA_ERROR_LAUNCH_FAILED, cuCtxSynchronize());
  EXPECT_EQ(0, *out);
}

TEST_F(Failures, an_asynchronous_copy_from_unmapped_memory_fails_the_context) {
  constexpr std::size_t byte_count = 1 << 20;
  int* const flag = device_array<int>(1);
  int* const ignored = device_array<int>(1);
  void* const host = mmap(nullptr, byte_count, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  char* const target = device_array<char>(byte_count);
  ASSERT_OK(cuMemHostRegister(host, byte_count, 0));  // or the copy would have read it when the call returns
  ASSERT_OK(launch(kernel("wait_for"), 1, 1, nullptr, flag, ignored));
  ASSERT_OK(cuMemcpyHtoDAsync(reinterpret_cast<CUdeviceptr>(target), host, byte_count, nullptr));
  munmap(host, byte_count);
  raise(flag);
  EXPECT_EQ(CUDA_ERROR_ILLEGAL_ADDRESS, cuCtxSynchronize());
}

TEST_F(Failures, a_cluster_that_waits_for_itself_is_a_deadlock) {
  // All come to the cluster's barrier but the odd threads of the second block, who wait for threads that it has not.
  ASSERT_OK(cuModuleLoadData(&module, R"(
.version 7.8
.target sm_90
.address_size 64
.visible .entry k() .reqnctapercluster 2, 1, 1
{
  .reg .b32 %rank, %lane;
  .reg .pred %waits;
  mov.u32 %rank, %cluster_ctarank;
  mov.u32 %lane, %laneid;
  and.b32 %lane, %lane, %rank;
  setp.eq.u32 %waits, %lane, 1;
  @%waits barrier.sync 0, 64;
  barrier.cluster.arrive;
  barrier.cluster.wait;
  ret;
})"));
  function = kernel("k");
  ASSERT_OK(launch(function, 2, 32, nullptr));
  EXPECT_EQ(CUDA_ERROR_LAUNCH_FAILED, cuCtxSynchronize());
  EXPECT_NE(std::string::npos, report().find("deadlock of a cluster, no thread can go on (48 of 64")) << report();
  EXPECT_NE(std::string::npos, report().find("at the cluster's barrier")) << report();
  EXPECT_NE(std::string::npos, report().find("at barrier 0")) << report();
}

TEST_F(Failures, resetting_the_primary_context_clears_its_error) {
  CUcontext primary = nullptr;
  CUcontext popped = nullptr;
  CUmodule its_module = nullptr;
  ASSERT_OK(cuDevicePrimaryCtxRetain(&primary, device));
  ASSERT_OK(cuCtxPushCurrent(primary));
  ASSERT_OK(cuModuleLoadData(&its_module, kernels_ptx().c_str()));
  ASSERT_OK(cuModuleGetFunction(&function, its_module, "trap_at_once"));
  ASSERT_OK(launch(function, 1, 1, nullptr));
  EXPECT_EQ(CUDA_ERROR_LAUNCH_FAILED, cuCtxSynchronize());
  EXPECT_OK(cuDevicePrimaryCtxReset(device));
  EXPECT_OK(cuCtxSynchronize());
  EXPECT_EQ(CUDA_ERROR_INVALID_HANDLE, cuModuleUnload(its_module));
  EXPECT_OK(cuCtxPopCurrent(&popped));
  EXPECT_OK(cuDevicePrimaryCtxRelease(device));
}

TEST_F(Failures, a_texture_or_surface_that_is_none_is_an_illegal_address) {
  std::ifstream file(CUCORE_TEST_DATA "/any_driver/texture_kernels.ptx");
  const std::string text(std::istreambuf_iterator<char>(file), {});
  ASSERT_OK(cuModuleLoadData(&module, text.c_str()));
  function = kernel("surface_trap");
  ASSERT_OK(launch(function, 1, 1, nullptr, CUsurfObject{12345}));
  expect_sticky(CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT_NE(std::string::npos, report().find("no such surface object")) << report();
}

}  // namespace
