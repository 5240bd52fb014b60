// A driver that does nothing and returns success: times measured on it are cucore's own share of a call.
//
// It is opened like any other (CUCORE_DEVICE=cpu, CUCORE_CPU_DRIVER=libnull_driver.so). It knows one device, and any
// kernel that a program asks for; launches end at once.
#if __has_include(<valgrind/callgrind.h>)
#include <valgrind/callgrind.h>
#endif

#include <cstdint>
#include <cstring>

extern "C" __attribute__((visibility("default"))) int cuInit(unsigned) { return 0; }  // tells where the file lies

namespace {

using Result = int;
constexpr Result success = 0;
constexpr Result not_found = 500;

int something = 0;  // what every handle points to
void* handle() { return &something; }

Result driver_version(int* version) {
  *version = 13000;
  return success;
}
Result one(int* count) {
  *count = 1;
  return success;
}
Result device_get(int* device, int ordinal) {
  *device = ordinal;
  return success;
}
Result current_device(int* device) {
  *device = 0;
  return success;
}
Result device_attribute(int* value, int, int) {
  *value = 9;
  return success;
}
Result retain(void** context, int) {
  *context = handle();
  return success;
}
Result get_current(void** context) {
  *context = handle();
  return success;
}
Result take_pointer(void*) { return success; }
Result priority_range(int* least, int* greatest) {
  *least = *greatest = 0;
  return success;
}
Result stream_create(void** stream, unsigned, int) {
  *stream = handle();
  return success;
}
Result stream_id(void*, unsigned long long* id) {
  *id = 1;
  return success;
}
Result event_create(void** event, unsigned) {
  *event = handle();
  return success;
}
Result event_record(void*, void*) { return success; }
Result library_load(void** library, const void*, int*, void**, unsigned, int*, void**, unsigned) {
  *library = handle();
  return success;
}
Result library_get_kernel(void** kernel, void*, const char* name) {
  *kernel = handle();
  return std::strcmp(name, "?") == 0 ? not_found : success;
}
Result launch(const void*, void*, void**, void**) { return success; }

struct Entry {
  const char* name;
  void* function;
};

template <class Function>
void* address(Function* function) {
  return reinterpret_cast<void*>(function);
}

const Entry entries[] = {{"cuInit", address(cuInit)},
                         {"cuDriverGetVersion", address(driver_version)},
                         {"cuDeviceGetCount", address(one)},
                         {"cuDeviceGet", address(device_get)},
                         {"cuDeviceGetAttribute", address(device_attribute)},
                         {"cuDevicePrimaryCtxRetain", address(retain)},
                         {"cuCtxGetCurrent", address(get_current)},
                         {"cuCtxSetCurrent", address(take_pointer)},
                         {"cuCtxGetDevice", address(current_device)},
                         {"cuCtxGetStreamPriorityRange", address(priority_range)},
                         {"cuStreamCreateWithPriority", address(stream_create)},
                         {"cuStreamDestroy", address(take_pointer)},
                         {"cuStreamSynchronize", address(take_pointer)},
                         {"cuStreamGetId", address(stream_id)},
                         {"cuThreadExchangeStreamCaptureMode", address(take_pointer)},
                         {"cuEventCreate", address(event_create)},
                         {"cuEventDestroy", address(take_pointer)},
                         {"cuEventRecord", address(event_record)},
                         {"cuLibraryLoadData", address(library_load)},
                         {"cuLibraryGetKernel", address(library_get_kernel)},
                         {"cuLibraryUnload", address(take_pointer)},
                         {"cuLaunchKernelEx", address(launch)}};

}  // namespace

extern "C" {

__attribute__((visibility("default"))) Result cuGetProcAddress_v2(const char* symbol, void** function, int,
                                                                  std::uint64_t, int*) {
  for (const Entry& entry : entries) {
    if (std::strcmp(entry.name, symbol) != 0) continue;
    *function = entry.function;
    return success;
  }
  *function = nullptr;
  return not_found;
}

/// Any library that CUCORE_CPU_DRIVER may name exports this.
__attribute__((visibility("default"))) int cucore_cpu_device_version() { return 1000; }

/// Begins a new section of a measurement: under callgrind, what was counted so far is written down. False without
/// valgrind's header at build time.
__attribute__((visibility("default"))) bool null_driver_mark() {
#if __has_include(<valgrind/callgrind.h>)
  CALLGRIND_DUMP_STATS;
  return true;
#else
  return false;
#endif
}

/// The compiler, which decides how many instructions the code has.
__attribute__((visibility("default"))) const char* null_driver_toolchain() {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || !defined(__OPTIMIZE__)
  return "not optimised, or with a sanitizer";
#elif defined(__clang__)
  return "clang " __clang_version__;
#else
  return "g++ " __VERSION__;
#endif
}
}
