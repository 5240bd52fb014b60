// `cucore driver-status [--list]`: how much of the driver API and of PTX the CPU device implements.
#include <dlfcn.h>

#include <cstdio>
#include <string>

#include "cli/commands.hpp"
#include "cpu/api/cucore_cpu.h"
#include "cucore/driver.hpp"
#include "cucore/error.hpp"

namespace {

void list(const char* title, size_t count, const char* const* names) {
  std::printf("%s\n", title);
  for (size_t i = 0; i < count; ++i) std::printf("  %s\n", names[i]);
}

}  // namespace

int cucore::cli::driver_status(Arguments arguments) {
  const std::string path = cpu_driver_path();
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) throw UnavailableError({.call = "dlopen", .message = dlerror()});
  using Status = decltype(cucore_cpu_driver_status);
  auto* const read_status = reinterpret_cast<Status*>(dlsym(library, "cucore_cpu_driver_status"));
  cucore_cpu_status status{};
  status.size = sizeof status;
  if (read_status == nullptr || read_status(&status) != 0) {
    throw UnavailableError({.call = "cucore_cpu_driver_status", .message = path + " is not this version's CPU device"});
  }
  std::printf("driver API: %zu entries are real, %zu are stubs that answer CUDA_ERROR_NOT_SUPPORTED\n",
              status.real_count, status.stub_count);
  std::printf("PTX: %zu of %zu opcodes have a code generator\n", status.covered_opcode_count,
              status.known_opcode_count);
  if (!arguments.empty() && arguments[0] == "--list") {
    list("real entries", status.real_count, status.real_names);
    list("stubs", status.stub_count, status.stub_names);
    list("covered opcodes", status.covered_opcode_count, status.covered_opcodes);
  }
  return 0;
}
