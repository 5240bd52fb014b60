// The bare side of the Python benchmarks: the same driver calls in a C loop, callable through ctypes. Each function
// returns the seconds that `loops` calls took.
#include <chrono>
#include <vector>

#include "bench/bare_driver.hpp"

namespace {

template <class Operation>
double seconds(const bare::Driver& driver, void* stream, long loops, Operation operation) {
  double total = 0;
  for (long done = 0; done < loops;) {
    const long end = done + 256 < loops ? done + 256 : loops;
    const auto start = std::chrono::steady_clock::now();
    for (; done < end; ++done) operation();
    total += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    bare::check(driver.stream_synchronize(stream), "cuStreamSynchronize");
  }
  return total;
}

}  // namespace

extern "C" {

__attribute__((visibility("default"))) double bare_launch(const char* driver_path, void* stream, void* kernel,
                                                          int arguments, long loops) {
  const bare::Driver driver(driver_path);
  std::vector<std::uint64_t> values(static_cast<std::size_t>(arguments) + 1);
  std::vector<void*> pointers;
  for (auto& value : values) pointers.push_back(&value);
  const bare::LaunchConfig config{{1, 1, 1}, {1, 1, 1}, 0, stream, nullptr, 0};
  return seconds(driver, stream, loops, [&] {
    bare::check(driver.launch_kernel_ex(&config, kernel, pointers.data(), nullptr), "cuLaunchKernelEx");
  });
}

__attribute__((visibility("default"))) double bare_event_record(const char* driver_path, void* stream, void* event,
                                                                long loops) {
  const bare::Driver driver(driver_path);
  return seconds(driver, stream, loops, [&] { bare::check(driver.event_record(event, stream), "cuEventRecord"); });
}

__attribute__((visibility("default"))) double bare_event_create(const char* driver_path, void* stream, long loops) {
  const bare::Driver driver(driver_path);
  return seconds(driver, stream, loops, [&] {
    void* event = nullptr;
    bare::check(driver.event_create(&event, 2), "cuEventCreate");
    bare::check(driver.event_destroy(event), "cuEventDestroy");
  });
}

__attribute__((visibility("default"))) double bare_current_context(const char* driver_path, void* stream, long loops) {
  const bare::Driver driver(driver_path);
  return seconds(driver, stream, loops, [&] {
    void* current = nullptr;
    bare::check(driver.context_get_current(&current), "cuCtxGetCurrent");
  });
}

__attribute__((visibility("default"))) double bare_stream_create(const char* driver_path, void* stream, long loops) {
  const bare::Driver driver(driver_path);
  return seconds(driver, stream, loops, [&] {
    void* created = nullptr;
    bare::check(driver.stream_create(&created, 1, 0), "cuStreamCreateWithPriority");
    bare::check(driver.stream_destroy(created), "cuStreamDestroy");
  });
}

__attribute__((visibility("default"))) double bare_allocate(const char* driver_path, void* stream, long loops) {
  const bare::Driver driver(driver_path);
  return seconds(driver, stream, loops, [&] {
    std::uint64_t address = 0;
    bare::check(driver.mem_alloc_async(&address, 4096, stream), "cuMemAllocAsync");
    bare::check(driver.mem_free_async(address, stream), "cuMemFreeAsync");
  });
}
}
