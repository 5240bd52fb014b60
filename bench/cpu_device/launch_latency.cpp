// What a launch costs on the CPU device, compared with the least that a driver with threads needs on this machine:
// launch_latency DRIVER. Prints a table: nanoseconds of wall time and of processor time (all threads) for each
// launch, best and median of the rounds.
#include <dlfcn.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

#include "bench/driver_call.hpp"

namespace {

constexpr int most_rounds = 25;

double nanoseconds(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

/// Runs `body()`, which does `count` things, again and again, and prints what one of them took.
template <class F>
void measure(const char* what, int count, F&& body) {
  std::vector<double> wall;
  std::vector<double> processor;
  body();
  for (int round = 0; round < most_rounds; ++round) {
    const double before = nanoseconds(CLOCK_MONOTONIC);
    const double used_before = nanoseconds(CLOCK_PROCESS_CPUTIME_ID);
    body();
    processor.push_back((nanoseconds(CLOCK_PROCESS_CPUTIME_ID) - used_before) / count);
    wall.push_back((nanoseconds(CLOCK_MONOTONIC) - before) / count);
  }
  std::sort(wall.begin(), wall.end());
  std::sort(processor.begin(), processor.end());
  std::printf("%-58s %10.0f %10.0f %10.0f\n", what, wall.front(), wall[most_rounds / 2], processor[most_rounds / 2]);
  std::fflush(stdout);
}

void futex(std::atomic<std::uint32_t>& word, int operation, std::uint32_t value) {
  syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&word), operation | FUTEX_PRIVATE_FLAG, value, nullptr);
}

/// A thread that sleeps is woken and wakes the caller, which sleeps.
void measure_hand_over() {
  constexpr int repetitions = 500;
  std::atomic<std::uint32_t> turn{0};
  std::atomic<bool> ends{false};
  const auto hand_to = [&](std::uint32_t other) {
    turn.store(other);
    futex(turn, FUTEX_WAKE, 1);
    while (turn.load() == other && !ends.load()) futex(turn, FUTEX_WAIT, other);
  };
  std::thread partner([&] {
    while (turn.load() == 0) futex(turn, FUTEX_WAIT, 0);
    while (!ends.load()) hand_to(0);
  });
  measure("the machine: to a sleeping thread and back, by futex", repetitions, [&] {
    for (int i = 0; i < repetitions; ++i) hand_to(1);
  });
  ends.store(true);
  turn.store(1);
  futex(turn, FUTEX_WAKE, 1);
  partner.join();
}

long status(const std::string& name) {
  std::ifstream lines("/proc/self/status");
  for (std::string line; std::getline(lines, line);)
    if (line.compare(0, name.size(), name) == 0) return std::atol(line.c_str() + name.size() + 1);
  return -1;
}

constexpr const char* empty_kernel =
    ".version 7.8\n.target sm_80\n.address_size 64\n"
    ".visible .entry empty(.param .u64 memory)\n{\n  ret;\n}\n"
    ".visible .entry note(.param .u64 memory)\n{\n"
    "  .reg .b32 %r1; .reg .b64 %rd1;\n"
    "  ld.param.u64 %rd1, [memory]; mov.u32 %r1, 1; st.global.u32 [%rd1], %r1; ret;\n}\n";

}  // namespace

int main(int count, char** arguments) {
  if (count != 2) return 2;
  open_driver(arguments[1]);
  call("cuInit", 0U);
  int device = 0;
  void* context = nullptr;
  void* module = nullptr;
  void* kernel = nullptr;
  void* note = nullptr;
  void* stream = nullptr;
  void* event = nullptr;
  std::uint64_t memory = 0;
  call("cuDeviceGet", &device, 0);
  call("cuDevicePrimaryCtxRetain", &context, device);
  call("cuCtxSetCurrent", context);
  call("cuMemAlloc_v2", &memory, std::size_t{1} << 16);
  call("cuModuleLoadData", &module, static_cast<const void*>(empty_kernel));
  call("cuModuleGetFunction", &kernel, module, static_cast<const char*>("empty"));
  call("cuModuleGetFunction", &note, module, static_cast<const char*>("note"));
  call("cuStreamCreate", &stream, 1U);
  call("cuEventCreate", &event, 0U);

  const auto entry = [](auto*& function, const char* name) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(driver, name));
  };
  using Size = unsigned int;
  int (*start)(void*, Size, Size, Size, Size, Size, Size, Size, void*, void**, void**);
  int (*wait)(void*);
  int (*record)(void*, void*);
  int (*wait_for_event)(void*);
  int (*copy)(void*, std::uint64_t, std::size_t);
  entry(start, "cuLaunchKernel");
  entry(wait, "cuStreamSynchronize");
  entry(record, "cuEventRecord");
  entry(wait_for_event, "cuEventSynchronize");
  entry(copy, "cuMemcpyDtoH_v2");
  void* parameters[] = {&memory};
  const auto launch = [&](Size blocks, Size threads, void* on) {
    if (start(kernel, blocks, 1, 1, threads, 1, 1, 0, on, parameters, nullptr) != 0) std::exit(1);
  };
  const auto repeated = [&](int times, auto&& body) {
    return [times, &body] {
      for (int i = 0; i < times; ++i) body();
    };
  };

  std::printf("%-58s %10s %10s %10s\n", "nanoseconds, each", "best", "median", "processor");
  const auto launch_and_wait = [&](const char* what, int times, Size blocks, Size threads, void* on) {
    const auto body = [&] {
      launch(blocks, threads, on);
      wait(on);
    };
    measure(what, times, repeated(times, body));
  };
  launch_and_wait("launch and wait: 1 block of 32 threads", 1000, 1, 32, stream);
  const long threads_at_first = status("Threads:");
  launch_and_wait("launch and wait: the same, on the default stream", 1000, 1, 32, nullptr);
  launch_and_wait("launch and wait: 2 blocks of 32", 1000, 2, 32, stream);
  launch_and_wait("launch and wait: 64 blocks of 32", 1000, 64, 32, stream);
  launch_and_wait("launch and wait: 64 blocks of 256", 1000, 64, 256, stream);
  const auto with_event = [&] {
    launch(1, 32, stream);
    record(event, stream);
    wait_for_event(event);
  };
  measure("launch, record an event and wait for it", 1000, repeated(1000, with_event));
  std::uint32_t word = 0;
  const auto with_copy = [&] {
    launch(1, 32, nullptr);
    copy(&word, memory, sizeof word);
  };
  measure("launch and copy 4 bytes to the host", 1000, repeated(1000, with_copy));
  const auto ten = [&] {
    for (int i = 0; i < 10; ++i) launch(1, 32, stream);
    wait(stream);
  };
  measure("ten launches and a wait, each launch", 1000, repeated(100, ten));
  measure("launches without waits (5000, then one wait), each", 5000, [&] {
    for (int i = 0; i < 5000; ++i) launch(1, 32, stream);
    wait(stream);
  });
  const auto now_and_then = [&] {
    launch(1, 32, stream);
    wait(stream);
    usleep(1000);
  };
  measure("launch and wait after a millisecond's sleep, with the sleep", 50, repeated(50, now_and_then));
  std::atomic_ref<std::uint32_t> noted(*reinterpret_cast<std::uint32_t*>(memory));
  const auto unasked = [&] {
    noted.store(0);
    start(note, 1, 1, 1, 1, 1, 1, 0, stream, parameters, nullptr);
    while (noted.load() == 0) std::this_thread::yield();
  };
  measure("launch and read its memory until it has run", 50, repeated(50, unasked));
  int (*query)(void*);
  entry(query, "cuStreamQuery");
  const auto polled = [&] {
    launch(1, 32, stream);
    while (query(stream) != 0) std::this_thread::yield();
  };
  measure("launch and query the stream until it is done", 50, repeated(50, polled));
  launch_and_wait("launch and wait: 100000 blocks of 1, each launch", 3, 100000, 1, stream);
  launch_and_wait("launch and wait: 100000 blocks of 32, each launch", 3, 100000, 32, stream);
  measure("the machine: a system call", 10000, [] {
    for (int i = 0; i < 10000; ++i) syscall(SYS_getppid);
  });
  measure_hand_over();
  std::printf("threads, the program's among them: %ld after the first line, %ld in the end; resident: %ld KiB\n",
              threads_at_first, status("Threads:"), status("VmRSS:"));
}
