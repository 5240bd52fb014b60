// `cucore driver-path`: the folder to put into LD_LIBRARY_PATH so that any CUDA driver program runs on the CPU device.
#include <cstdio>
#include <filesystem>

#include "cli/commands.hpp"
#include "cli/output.hpp"
#include "cucore/driver.hpp"

namespace cucore::cli {
namespace {

int run_driver_path(const CLI::App& command) {
  const std::string library = cpu_driver_path();
  const std::string folder = std::filesystem::path(library).parent_path();
  const std::string text =
      wants_json(command) ? JsonObject().text("folder", folder).text("library", library).str() : folder;
  std::printf("%s\n", text.c_str());
  return 0;
}

}  // namespace

void add_driver_path(CLI::App& tool, int& status) {
  add_json(add_command(tool, status, "driver-path", "Print the folder whose libcuda.so.1 is the CPU device",
                       run_driver_path));
}

}  // namespace cucore::cli
