// The driver in use: a GPU's, or the CPU device (which is a driver as well).
//
// Which one is decided once per process, at the first call that needs a driver, by the environment variable
// CUCORE_DEVICE:
//   auto (or unset)  the system's libcuda.so.1 if it loads, initialises and has a device; else the CPU device
//   gpu              the system's libcuda.so.1; never falls back
//   cpu              the CPU device; the system's driver is not even looked for
// CUCORE_CPU_DRIVER names the CPU device's library file when it lies outside the places searched.
//
// A process has one CPU device. One that is loaded already (say, found as libcuda.so.1 through LD_LIBRARY_PATH by
// another library that uses CUDA) is used wherever it came from; who asks the dynamic linker for libcuda.so.1 after
// cucore gets cucore's.
//
//   std::cout << cucore::driver_info().path << '\n';
//
// Thread-safety: every function may be called from any thread. The driver stays open until the process ends. In a child
// made by fork() after the driver was opened, every call that needs the driver throws DriverError, NOT_INITIALIZED.
#pragma once

#include <string>
#include <vector>

#include "cucore/export.hpp"

namespace cucore {

/// What executes the kernels.
enum class DriverKind { gpu, cpu };

/// The driver this process uses.
struct DriverInfo {
  DriverKind kind = DriverKind::gpu;
  std::string path;       ///< the file it was loaded from
  int version = 0;        ///< CUDA version it implements, as cuDriverGetVersion gives it: 13000 is 13.0
  std::string chosen_by;  ///< why this one: the value of CUCORE_DEVICE and what was tried before it
};

/// Opens the driver if that has not happened yet and says which it is.
/// @throws UnavailableError no driver can be used; the text lists what was tried and why each was refused
CUCORE_API DriverInfo driver_info();

/// Whether a driver can be used. Opens it; never throws.
CUCORE_API bool driver_available() noexcept;

/// The CPU device's library file, whichever driver is in use: the one that this process has loaded, else the one that
/// it would load; opens nothing. Its folder, put into LD_LIBRARY_PATH, lets any program that uses the CUDA driver run
/// on the CPU device.
/// @throws UnavailableError it is not installed; the text lists the places that were searched
CUCORE_API std::string cpu_driver_path();

/// Where this process finds NVML (libnvidia-ml.so.1), which describes devices without CUDA: that of the open driver,
/// else those of the drivers that CUCORE_DEVICE allows, in the order to try them. The dynamic linker searches for a
/// name without a folder. Opens nothing, so a process may call it and fork.
/// @throws ValueError CUCORE_DEVICE is another word
/// @throws UnavailableError CUCORE_DEVICE is cpu, and the CPU device is not installed
CUCORE_API std::vector<std::string> management_library_places();

/// Names of the functions cucore knows that the driver in use does not have. Each answers CUDA_ERROR_NOT_SUPPORTED.
/// @throws UnavailableError as driver_info()
CUCORE_API std::vector<std::string> missing_driver_functions();

}  // namespace cucore
