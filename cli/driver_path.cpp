// `cucore driver-path`: the folder to put into LD_LIBRARY_PATH so that any CUDA driver program runs on the CPU device.
#include <cstdio>
#include <filesystem>

#include "cli/commands.hpp"
#include "cucore/driver.hpp"

int cucore::cli::driver_path(Arguments) {
  std::printf("%s\n", std::filesystem::path(cpu_driver_path()).parent_path().c_str());
  return 0;
}
