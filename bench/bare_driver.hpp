// The driver with nothing in between: entry points taken straight from the library that cucore has open, for the
// "bare" side of every comparison.
#pragma once

#include <dlfcn.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace bare {

using Result = int;

struct LaunchConfig {  // CUlaunchConfig
  unsigned grid[3];
  unsigned block[3];
  unsigned shared_bytes;
  void* stream;
  void* attributes;
  unsigned attribute_count;
};

struct Driver {
  Result (*launch_kernel_ex)(const LaunchConfig*, void*, void**, void**);
  Result (*context_get_current)(void**);
  Result (*event_create)(void**, unsigned);
  Result (*event_record)(void*, void*);
  Result (*event_destroy)(void*);
  Result (*stream_create)(void**, unsigned, int);
  Result (*stream_destroy)(void*);
  Result (*stream_synchronize)(void*);
  Result (*mem_alloc_async)(std::uint64_t*, std::size_t, void*);
  Result (*mem_free_async)(std::uint64_t, void*);
  Result (*library_load_data)(void**, const void*, int*, void**, unsigned, int*, void**, unsigned);
  Result (*library_get_kernel)(void**, void*, const char*);
  Result (*library_unload)(void*);

  explicit Driver(const char* path) {
    void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) fail(path);
    load(library, launch_kernel_ex, "cuLaunchKernelEx");
    load(library, context_get_current, "cuCtxGetCurrent");
    load(library, event_create, "cuEventCreate");
    load(library, event_record, "cuEventRecord");
    load(library, event_destroy, "cuEventDestroy_v2");
    load(library, stream_create, "cuStreamCreateWithPriority");
    load(library, stream_destroy, "cuStreamDestroy_v2");
    load(library, stream_synchronize, "cuStreamSynchronize");
    load(library, mem_alloc_async, "cuMemAllocAsync");
    load(library, mem_free_async, "cuMemFreeAsync");
    load(library, library_load_data, "cuLibraryLoadData");
    load(library, library_get_kernel, "cuLibraryGetKernel");
    load(library, library_unload, "cuLibraryUnload");
  }

 private:
  [[noreturn]] static void fail(const char* what) {
    std::fprintf(stderr, "bench: %s: %s\n", what, dlerror());
    std::exit(1);
  }
  template <class Function>
  static void load(void* library, Function& function, const char* name) {
    function = reinterpret_cast<Function>(dlsym(library, name));
    if (function == nullptr) fail(name);
  }
};

inline void check(Result result, const char* call) {
  if (result == 0) return;
  std::fprintf(stderr, "bench: %s failed with %d\n", call, result);
  std::exit(1);
}

}  // namespace bare
