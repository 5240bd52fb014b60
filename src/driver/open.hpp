// Finding and opening a driver; table.cpp turns what is found into the table.
#pragma once

#include <string>
#include <vector>

#include "cucore/driver.hpp"

namespace cucore::driver {

/// A driver library that is loaded, with nothing called in it yet.
struct OpenLibrary {
  void* handle = nullptr;  ///< of dlopen; never closed
  DriverKind kind = DriverKind::gpu;
  std::string path;
  std::string refusal;  ///< why there is no handle
};

/// What CUCORE_DEVICE may say.
enum class DeviceChoice { automatic, gpu, cpu };

/// Reads CUCORE_DEVICE. @throws ValueError another word
DeviceChoice device_choice();

/// The system's libcuda.so.1, by the dynamic linker's search path.
OpenLibrary open_system_driver();

/// The CPU device: the one that this process has loaded already, else $CUCORE_CPU_DRIVER if set, else the first that
/// exists of cpu_device_places(). Never a second copy: one that is loaded and not what CUCORE_CPU_DRIVER names is a
/// refusal.
OpenLibrary open_cpu_device();

/// Files where the CPU device may lie, in the order they are tried, relative to the module this code is part of.
std::vector<std::string> cpu_device_places();

}  // namespace cucore::driver
