// The CPU device's own interface, cpu/api/cucore_cpu.h, for commands that call it directly, not through the driver API.
#pragma once

#include <dlfcn.h>

#include <string>

#include "cpu/api/cucore_cpu.h"
#include "cucore/driver.hpp"
#include "cucore/error.hpp"

namespace cucore::cli {

/// The function `name` of the CPU device that this machine has. @throws UnavailableError none, or one without it
template <class Function>
Function* cpu_device_function(const char* name) {
  const std::string path = cpu_driver_path();
  void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) throw UnavailableError({.call = "dlopen", .message = dlerror()});
  auto* const function = reinterpret_cast<Function*>(dlsym(library, name));
  if (function == nullptr) {
    throw UnavailableError({.call = name, .message = path + " is not this version's CPU device"});
  }
  return function;
}

}  // namespace cucore::cli
