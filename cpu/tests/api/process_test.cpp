// The driver and the life of its process: before cuInit, in a forked child, and at exit with work still pending. Each
// runs in a process of its own.
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <utility>

#include "cpu/tests/api/driver.hpp"

namespace {

class Process : public ::testing::Test {
 protected:
  void SetUp() override { ::testing::FLAGS_gtest_death_test_style = "threadsafe"; }
};

constexpr const char* endless_kernel = R"(
.version 7.0
.target sm_80
.address_size 64
.visible .entry endless(.param .u64 begun)
{
  .reg .pred %go_on;
  .reg .b32 %value;
  .reg .b64 %address;
  ld.param.u64 %address, [begun];
  st.volatile.u32 [%address], 1;
again:
  ld.volatile.u32 %value, [%address];
  setp.ne.u32 %go_on, %value, 0;
  @%go_on bra again;
  ret;
}
)";

/// Launches a kernel that never ends, in the primary context; what it returns becomes 1 when the kernel has begun.
volatile unsigned* start_endless_kernel() {
  CUcontext context = nullptr;
  CUmodule module = nullptr;
  CUfunction function = nullptr;
  void* begun = nullptr;
  cuInit(0);
  cuDevicePrimaryCtxRetain(&context, 0);
  cuCtxSetCurrent(context);
  cuModuleLoadData(&module, endless_kernel);
  cuModuleGetFunction(&function, module, "endless");
  cuMemAllocHost(&begun, sizeof(unsigned));
  *static_cast<volatile unsigned*>(begun) = 0;
  void* parameters[] = {&begun};
  if (cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, nullptr, parameters, nullptr) != CUDA_SUCCESS) std::_Exit(99);
  return static_cast<volatile unsigned*>(begun);
}

/// Returns when the kernel has begun and every other thread of the driver sleeps, for a while. A thread that still
/// starts may hold a lock of the address sanitizer's allocator, which a fork would copy as held for ever: g++ 12's does
/// not guard its locks at fork, as glibc's allocator does.
void wait_until_only_the_kernel_runs(const volatile unsigned* begun) {
  for (int alike = 0; alike < 5;) {
    int running = 0;
    for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
      std::string line;
      std::getline(std::ifstream(task.path() / "stat"), line);
      const std::size_t name_end = line.rfind(')');
      if (name_end != std::string::npos && line[name_end + 2] == 'R') ++running;
    }
    alike = *begun == 1 && running <= 2 ? alike + 1 : 0;  // the kernel's thread, if it does not rest, and this one
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
}

TEST_F(Process, calls_before_initialisation_say_so) {
  EXPECT_EXIT(
      {
        int count = 0;
        CUdeviceptr memory = 0;
        CUcontext context = nullptr;
        const bool refused = cuDeviceGetCount(&count) == CUDA_ERROR_NOT_INITIALIZED &&
                             cuMemAlloc(&memory, 1) == CUDA_ERROR_NOT_INITIALIZED &&
                             cuCtxGetCurrent(&context) == CUDA_ERROR_NOT_INITIALIZED &&
                             cuStreamDestroy(nullptr) == CUDA_ERROR_NOT_INITIALIZED;
        std::exit(refused ? 0 : 1);
      },
      ::testing::ExitedWithCode(0), "^$");
}

std::ptrdiff_t thread_count() {
  return std::distance(std::filesystem::directory_iterator("/proc/self/task"), std::filesystem::directory_iterator());
}

TEST_F(Process, has_threads_of_the_driver_from_the_first_launch_and_as_few_as_it_takes) {
#ifdef __SANITIZE_THREAD__
  GTEST_SKIP() << "ThreadSanitizer has a thread of its own, which begins when the first other one does";
#endif
  EXPECT_EXIT(
      {
        const std::ptrdiff_t before = thread_count();
        CUcontext context = nullptr;
        CUdeviceptr memory = 0;
        cuInit(0);
        cuDevicePrimaryCtxRetain(&context, 0);
        cuCtxSetCurrent(context);
        cuMemAlloc(&memory, 16);
        cuMemsetD8(memory, 0, 16);
        cuCtxSynchronize();
        const bool none = thread_count() == before;
        const volatile unsigned* const begun = start_endless_kernel();
        while (*begun == 0) std::this_thread::yield();
        // One runs the kernel, and one is the timer, which has called it and is the watchdog too.
        std::_Exit(none && thread_count() == before + 2 ? 0 : 1);
      },
      ::testing::ExitedWithCode(0), "^$");
}

TEST_F(Process, exit_with_pending_work_is_silent_and_prompt) {
  EXPECT_EXIT(
      {
        start_endless_kernel();
        std::exit(0);
      },
      ::testing::ExitedWithCode(0), "^$");
}

TEST_F(Process, exit_from_another_thread_is_silent_and_prompt) {
  EXPECT_EXIT(
      {
        start_endless_kernel();
        std::thread([] { std::exit(0); }).join();
      },
      ::testing::ExitedWithCode(0), "^$");
}

TEST_F(Process, calls_after_exit_began_say_so) {
  EXPECT_EXIT(
      {
        static CUresult late = CUDA_SUCCESS;
        // Registered before cuInit registers its own, so it runs after.
        std::atexit([] {
          CUdeviceptr memory = 0;
          late = cuMemAlloc(&memory, 16);
          if (late != CUDA_ERROR_DEINITIALIZED) std::_Exit(1);
        });
        start_endless_kernel();
        std::exit(0);
      },
      ::testing::ExitedWithCode(0), "^$");
}

TEST_F(Process, a_child_forked_after_initialisation_cannot_use_the_driver) {
  // The child has none of its parent's threads, so what they held looks like a leak there.
  const char* set = std::getenv("ASAN_OPTIONS");
  const std::string options = set ? set : "";
  setenv("ASAN_OPTIONS", (options + ":detect_leaks=0").c_str(), 1);
  EXPECT_EXIT(
      {
        wait_until_only_the_kernel_runs(start_endless_kernel());
        const pid_t child = fork();
        if (child == 0) {
          CUdeviceptr memory = 0;
          const bool refused = cuMemAlloc(&memory, 16) == CUDA_ERROR_NOT_INITIALIZED &&
                               cuInit(0) == CUDA_ERROR_NOT_INITIALIZED &&
                               cuCtxSynchronize() == CUDA_ERROR_NOT_INITIALIZED;
          std::exit(refused ? 0 : 1);
        }
        int status = 0;
        waitpid(child, &status, 0);
        std::exit(WIFEXITED(status) ? WEXITSTATUS(status) : 2);
      },
      ::testing::ExitedWithCode(0), "^$");
  setenv("ASAN_OPTIONS", options.c_str(), 1);
}

/// Two devices: their atomics with each other, with the host, and wrong questions about them.
bool atomics_of_peers_are_those_of_hosts() {
  setenv("CUCORE_CPU_DEVICES", "2", 1);
  cuInit(0);
  const CUatomicOperation operations[] = {CU_ATOMIC_OPERATION_INTEGER_ADD, CU_ATOMIC_OPERATION_FLOAT_ADD,
                                          CU_ATOMIC_OPERATION_CAS};
  const auto unknown = CU_ATOMIC_OPERATION_MAX;
  unsigned int peer[3] = {~0u, ~0u, ~0u};
  unsigned int host[3] = {};
  const bool same = cuDeviceGetP2PAtomicCapabilities(peer, operations, 3, 0, 1) == CUDA_SUCCESS &&
                    cuDeviceGetHostAtomicCapabilities(host, operations, 3, 1) == CUDA_SUCCESS &&
                    std::equal(peer, peer + 3, host);
  const bool capable = (peer[0] & CU_ATOMIC_CAPABILITY_SCALAR_32) != 0 && (peer[2] & CU_ATOMIC_CAPABILITY_SIGNED) == 0;
  const bool refused = cuDeviceGetP2PAtomicCapabilities(peer, operations, 3, 0, 0) == CUDA_ERROR_INVALID_DEVICE &&
                       cuDeviceGetP2PAtomicCapabilities(peer, operations, 3, 0, 2) == CUDA_ERROR_INVALID_DEVICE &&
                       cuDeviceGetP2PAtomicCapabilities(peer, operations, 3, 2, 0) == CUDA_ERROR_INVALID_DEVICE &&
                       cuDeviceGetP2PAtomicCapabilities(peer, &unknown, 1, 0, 1) == CUDA_ERROR_INVALID_VALUE &&
                       cuDeviceGetP2PAtomicCapabilities(nullptr, operations, 3, 0, 1) == CUDA_ERROR_INVALID_VALUE &&
                       cuDeviceGetP2PAtomicCapabilities(peer, operations, 0, 0, 1) == CUDA_ERROR_INVALID_VALUE;
  return same && capable && refused;
}

TEST_F(Process, atomics_between_two_devices_are_those_with_the_host) {
  EXPECT_EXIT(std::exit(atomics_of_peers_are_those_of_hosts() ? 0 : 1), ::testing::ExitedWithCode(0), "^$");
}

TEST_F(Process, the_environment_sets_devices_and_capability) {
  EXPECT_EXIT(
      {
        setenv("CUCORE_CPU_DEVICES", "3", 1);
        setenv("CUCORE_CPU_COMPUTE_CAPABILITY", "9.0", 1);
        int count = 0;
        int major = 0;
        int peer = 0;
        cuInit(0);
        cuDeviceGetCount(&count);
        cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 2);
        cuDeviceCanAccessPeer(&peer, 0, 2);
        CUuuid first{};
        CUuuid second{};
        cuDeviceGetUuid(&first, 0);
        cuDeviceGetUuid(&second, 1);
        const bool different = std::string(first.bytes, 16) != std::string(second.bytes, 16);
        std::exit(count == 3 && major == 9 && peer == 1 && different ? 0 : 1);
      },
      ::testing::ExitedWithCode(0), "^$");
}

/// Of a process of its own that asks for eight: what the device says, what occupancy and %nsmid count with.
void print_multiprocessors() {
  setenv("CUCORE_CPU_MULTIPROCESSORS", "8", 1);
  int count = 0;
  cuInit(0);
  cuDeviceGetAttribute(&count, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 0);
  CUcontext context = nullptr;
  CUmodule module = nullptr;
  CUfunction counter = nullptr;
  CUdeviceptr out = 0;
  cuCtxCreate(&context, nullptr, 0, 0);
  const char* const ptx = R"(.version 8.0
.target sm_80
.address_size 64
.visible .entry count(.param .u64 out) {
.reg .b64 %rd<2>; .reg .b32 %r<2>;
ld.param.u64 %rd1, [out];
mov.u32 %r1, %nsmid;
st.global.u32 [%rd1], %r1;
ret; }
)";
  unsigned int seen = 0;
  void* arguments[] = {&out};
  const bool ran = cuModuleLoadData(&module, ptx) == CUDA_SUCCESS &&
                   cuModuleGetFunction(&counter, module, "count") == CUDA_SUCCESS &&
                   cuMemAlloc(&out, 4) == CUDA_SUCCESS &&
                   cuLaunchKernel(counter, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr) == CUDA_SUCCESS &&
                   cuMemcpyDtoH(&seen, out, 4) == CUDA_SUCCESS;
  int grid = 0;
  int block = 0;
  cuOccupancyMaxPotentialBlockSize(&grid, &block, counter, nullptr, 0, 1024);
  std::fprintf(stderr, "%d %d %u %d", ran, count, seen, grid % 8);
  std::exit(0);
}

TEST_F(Process, the_environment_sets_the_number_of_multiprocessors) {
  EXPECT_EXIT(print_multiprocessors(), ::testing::ExitedWithCode(0), "^1 8 8 0$");
}

/// The buses of the devices that a process of its own sees, printed: "2 1 ", or "none".
void print_visible_buses(const char* listed) {
  setenv("CUCORE_CPU_DEVICES", "3", 1);
  setenv("CUDA_VISIBLE_DEVICES", listed, 1);
  int count = 0;
  if (cuInit(0) != CUDA_SUCCESS || cuDeviceGetCount(&count) != CUDA_SUCCESS) std::fprintf(stderr, "none");
  for (int ordinal = 0; ordinal < count; ++ordinal) {
    int bus = 0;
    char id[16] = "";
    CUdevice found = -1;
    cuDeviceGetAttribute(&bus, CU_DEVICE_ATTRIBUTE_PCI_BUS_ID, ordinal);
    cuDeviceGetPCIBusId(id, sizeof id, ordinal);
    cuDeviceGetByPCIBusId(&found, id);
    if (found == ordinal) std::fprintf(stderr, "%d ", bus);
  }
  std::exit(0);
}

TEST_F(Process, visible_devices_are_those_listed_in_the_order_of_the_list) {
  const std::pair<const char*, const char*> cases[] = {
      {"1", "^2 $"},  {"2,0", "^3 1 $"}, {"0,7,1", "^1 $"},  {"1, 1,0", "^2 $"},
      {"", "^none$"}, {"-1", "^none$"},  {"GPU-", "^none$"}, {"0,1,2", "^1 2 3 $"},
  };
  for (const auto& [listed, seen] : cases)
    EXPECT_EXIT(print_visible_buses(listed), ::testing::ExitedWithCode(0), seen) << listed;
}

/// "GPU-" and the first four bytes of the second device's UUID, which a child asks: cuInit reads the list only once.
std::string beginning_of_second_uuid() {
  int ends[2];
  char text[13] = "";
  if (pipe(ends) != 0) std::_Exit(98);
  const pid_t child = fork();
  if (child == 0) {
    setenv("CUCORE_CPU_DEVICES", "3", 1);
    CUuuid uuid{};
    cuInit(0);
    cuDeviceGetUuid(&uuid, 1);
    const auto byte = [&](int i) { return static_cast<unsigned int>(static_cast<unsigned char>(uuid.bytes[i])); };
    std::snprintf(text, sizeof text, "GPU-%02x%02x%02x%02x", byte(0), byte(1), byte(2), byte(3));
    std::_Exit(write(ends[1], text, sizeof text) == sizeof text ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  if (read(ends[0], text, sizeof text) != sizeof text) std::_Exit(97);
  return text;
}

TEST_F(Process, a_uuid_names_a_visible_device) {
  EXPECT_EXIT(print_visible_buses((beginning_of_second_uuid() + ",0").c_str()), ::testing::ExitedWithCode(0), "^2 1 $");
}

}  // namespace
