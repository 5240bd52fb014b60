// `cucore version`.
#include "cucore/version.hpp"

#include <cstdio>

#include "cli/commands.hpp"
#include "cli/output.hpp"

namespace cucore::cli {
namespace {

int run_version(const CLI::App& command) {
  const std::string text =
      wants_json(command) ? JsonObject().text("version", CUCORE_VERSION_STRING).str() : CUCORE_VERSION_STRING;
  std::printf("%s\n", text.c_str());
  return 0;
}

}  // namespace

void add_version(CLI::App& tool, int& status) {
  add_json(add_command(tool, status, "version", "Print cucore's version", run_version));
}

}  // namespace cucore::cli
