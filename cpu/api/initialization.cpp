// Initialization, version and profiler chapters.
#include <dlfcn.h>
#include <link.h>

#include <string>
#include <string_view>
#include <vector>

#include "cpu/api/cucore_cpu.h"
#include "cpu/api/entry.hpp"
#include "cpu/runtime/process/device_identity.hpp"
#include "cpu/runtime/process/process.hpp"
#include "cpu/runtime/start/start.hpp"

using namespace cucore::cpu::api;

namespace {

/// The file of another copy of this library that the process has initialised; empty if there is none.
/// src/driver/open.cpp looks for the driver in the same way: driver and library share no code.
std::string other_copy() {
  std::vector<std::string> files;
  const auto add_driver = [](dl_phdr_info* module, std::size_t, void* list) {
    const std::string_view file = module->dlpi_name;
    if (file.substr(file.rfind('/') + 1).starts_with("libcuda.so"))
      static_cast<std::vector<std::string>*>(list)->emplace_back(file);
    return 0;
  };
  dl_iterate_phdr(add_driver, &files);
  for (const std::string& file : files) {
    void* const library = dlopen(file.c_str(), RTLD_LAZY | RTLD_NOLOAD);
    if (library == nullptr) continue;
    const auto is_initialized =
        reinterpret_cast<decltype(&cucore_cpu_is_initialized)>(dlsym(library, "cucore_cpu_is_initialized"));
    const bool is_other =
        is_initialized != nullptr && is_initialized != &cucore_cpu_is_initialized && is_initialized() == 1;
    dlclose(library);
    if (is_other) return file;
  }
  return {};
}

}  // namespace

CUresult cuInit(unsigned int Flags) {
  return guarded([&] {
    if (cucore_cpu_is_initialized() == 0)
      if (const std::string other = other_copy(); !other.empty()) {
        cucore::cpu::runtime::report("cuInit: this process uses another copy of the CPU device already, " + other +
                                     ", which would not know this one's objects; let all find the same libcuda.so.1");
        return CUDA_ERROR_SYSTEM_DRIVER_MISMATCH;
      }
    cucore::cpu::runtime::trace::start();
    cucore::cpu::runtime::trace::Call traced("cuInit");
    return driver_result(cucore::cpu::runtime::initialize(Flags));
  });
}

CUresult cuDriverGetVersion(int* driverVersion) {  // answers before cuInit too
  if (!driverVersion) return CUDA_ERROR_INVALID_VALUE;
  *driverVersion = cucore::cpu::runtime::cuda_version;
  return CUDA_SUCCESS;
}

// There is no profiler to start: the calls mark a range for tools, and no tool is listening.
extern "C" {
CUresult cuProfilerStart();
CUresult cuProfilerStop();
}
CUresult cuProfilerStart() {
  return in_context([](Context&) { return CUDA_SUCCESS; });
}
CUresult cuProfilerStop() {
  return in_context([](Context&) { return CUDA_SUCCESS; });
}
