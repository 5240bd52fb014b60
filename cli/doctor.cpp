// `cucore doctor`: everything cucore looks for on a machine, where it was found, and what to install where it was not.
// Exit status 1 if kernels cannot be compiled or nothing can run them.
#include <cstdio>
#include <exception>

#include "cli/commands.hpp"
#include "cucore/driver.hpp"
#include "cucore/toolkit.hpp"

namespace {

bool report(const char* name, const cucore::ToolkitLibrary& library, const char* remedy) {
  if (library.available) {
    std::printf("%-10s ok       %d.%d, %s (%s)\n", name, library.major, library.minor, library.path.c_str(),
                library.found_by.c_str());
  } else {
    std::printf("%-10s missing  %s\n%-10s          %s\n", name, library.why_not.c_str(), "", remedy);
  }
  return library.available;
}

bool report_driver() {
  try {
    const cucore::DriverInfo driver = cucore::driver_info();
    std::printf("%-10s ok       %s, CUDA %d.%d, %s (%s)\n", "driver",
                driver.kind == cucore::DriverKind::gpu ? "GPU" : "CPU device", driver.version / 1000,
                driver.version % 1000 / 10, driver.path.c_str(), driver.chosen_by.c_str());
    return true;
  } catch (const std::exception& error) {
    std::printf("%-10s missing  %s\n", "driver", error.what());
    return false;
  }
}

}  // namespace

int cucore::cli::doctor(Arguments) {
  bool healthy = report_driver();
  const ToolkitInfo toolkit = toolkit_info();
  healthy &= report("NVRTC", toolkit.nvrtc, "pip install nvidia-cuda-nvrtc, or set CUDA_HOME");
  report("nvJitLink", toolkit.nvjitlink, "pip install nvidia-nvjitlink, or set CUDA_HOME (needed for PTX programs)");
  for (const auto& path : toolkit.include_paths) std::printf("%-10s ok       %s\n", "headers", path.c_str());
  if (toolkit.include_paths.empty()) {
    std::printf("%-10s missing  kernels that include cuda_fp16.h and the like will not compile\n%-10s          %s\n",
                "headers", "", "pip install nvidia-cuda-runtime nvidia-cuda-cccl nvidia-cuda-crt, or set CUDA_HOME");
  }
  return healthy ? 0 : 1;
}
