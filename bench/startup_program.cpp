// What a program waits for before its first kernel has run, on the CPU device, in a process of its own:
// startup_program DRIVER PTX KERNEL. Prints JSON: milliseconds of the driver's start, of the load of the module and of
// the first launch with its wait (and of processor time in it, by all threads), nanoseconds of a later one, memory and
// threads before, between and after.
#include <dlfcn.h>
#include <time.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "bench/driver_call.hpp"

namespace {

using Clock = std::chrono::steady_clock;

double milliseconds_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

double processor_milliseconds() {
  timespec used{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  return static_cast<double>(used.tv_sec) * 1e3 + static_cast<double>(used.tv_nsec) / 1e6;
}

struct Usage {
  long resident_kib = 0, private_kib = 0, threads = 0;
};

Usage usage() {
  Usage now;
  for (const char* const file : {"/proc/self/status", "/proc/self/smaps_rollup"}) {
    std::ifstream lines(file);
    for (std::string line; std::getline(lines, line);) {
      long value = 0;
      if (std::sscanf(line.c_str(), "VmRSS: %ld", &value) == 1) now.resident_kib = value;
      if (std::sscanf(line.c_str(), "Threads: %ld", &value) == 1) now.threads = value;
      if (std::sscanf(line.c_str(), "Private_Clean: %ld", &value) == 1) now.private_kib += value;
      if (std::sscanf(line.c_str(), "Private_Dirty: %ld", &value) == 1) now.private_kib += value;
    }
  }
  return now;
}

void print(const char* when, const Usage& used) {
  std::printf("\"%s\": {\"resident_kib\": %ld, \"private_kib\": %ld, \"threads\": %ld}, ", when, used.resident_kib,
              used.private_kib, used.threads);
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 4) return 2;
  std::ifstream file(arguments[2]);
  const std::string text(std::istreambuf_iterator<char>(file), {});
  const Usage before = usage();

  auto start = Clock::now();
  open_driver(arguments[1]);
  call("cuInit", 0U);
  int device = 0;
  void* context = nullptr;
  call("cuDeviceGet", &device, 0);
  call("cuDevicePrimaryCtxRetain", &context, device);
  call("cuCtxSetCurrent", context);
  std::uint64_t memory = 0;
  call("cuMemAlloc_v2", &memory, std::size_t{1} << 16);
  call("cuMemsetD32_v2", memory, 0U, std::size_t{1} << 14);
  call("cuCtxSynchronize");
  const double started = milliseconds_since(start);
  const Usage idle = usage();

  start = Clock::now();
  void* module = nullptr;
  void* kernel = nullptr;
  call("cuModuleLoadData", &module, static_cast<const void*>(text.c_str()));
  call("cuModuleGetFunction", &kernel, module, static_cast<const char*>(arguments[3]));
  const double loaded = milliseconds_since(start);

  const auto launch = reinterpret_cast<int (*)(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                                               unsigned, void*, void**, void**)>(dlsym(driver, "cuLaunchKernel"));
  const auto wait = reinterpret_cast<int (*)(void*)>(dlsym(driver, "cuStreamSynchronize"));
  void* parameters[] = {&memory};
  const auto run = [&] { return launch(kernel, 1, 1, 1, 32, 1, 1, 0, nullptr, parameters, nullptr) | wait(nullptr); };
  start = Clock::now();
  const double used_before = processor_milliseconds();
  if (const int result = run(); result != 0) {
    std::fprintf(stderr, "the first launch: %d\n", result);
    return 1;
  }
  const double first = milliseconds_since(start);
  const double used = processor_milliseconds() - used_before;
  const Usage after = usage();

  std::vector<double> later;
  for (int i = 0; i < 5000; ++i) {
    start = Clock::now();
    run();
    later.push_back(milliseconds_since(start) * 1e6);
  }
  std::sort(later.begin(), later.end());
  std::printf("{");
  print("before", before);
  print("idle", idle);
  print("after", after);
  std::printf("\"start_ms\": %.3f, \"load_ms\": %.3f, \"first_launch_ms\": %.3f, ", started, loaded, first);
  std::printf("\"first_launch_processor_ms\": %.3f, \"later_ns\": %.0f}\n", used, later[later.size() / 2]);
}
