// `cucore cache push-kernels|pull-kernels STORE`: the CPU device's compiled kernels, to a store that is a folder and
// from it. Stores of other kinds are Python's (cucore.stores).
#include "cli/cache_kernels.hpp"

#include <cstdio>
#include <memory>
#include <string>
#include <string_view>

#include "cli/commands.hpp"
#include "cli/output.hpp"
#include "cli/signing.hpp"
#include "cucore/cpu_kernels.hpp"

namespace cucore::cli {
namespace {

using Transfer = CpuKernelTransfer (*)(const std::shared_ptr<Store>& store, const CpuKernelOptions& options);

std::shared_ptr<Store> store_of(const CLI::App& command) {
  auto place = value_of<std::string>(command, "store");
  constexpr std::string_view of_files = "file://";
  if (place.starts_with(of_files)) place.erase(0, of_files.size());
  if (place.find("://") != std::string::npos) {
    throw CLI::ValidationError("store", "'" + place +
                                            "' is no folder: push_cpu_kernels and pull_cpu_kernels of Python's "
                                            "cucore.stores take stores of other kinds");
  }
  return std::make_shared<FolderStore>(place);
}

/// Success is that nothing was left or rejected.
int move_kernels(const CLI::App& command, Transfer transfer, const char* done) {
  auto options = signing_of<CpuKernelOptions>(command);
  options.folder = value_of<std::string>(command, "--kernels");
  const CpuKernelTransfer report = transfer(store_of(command), options);
  if (wants_json(command)) {
    JsonObject json;
    json.number("copied", report.copied).number("already_there", report.already_there);
    json.raw("rejected", json_of(report.rejected)).number("left", report.left).text("stopped", report.stopped);
    std::printf("%s\n", json.str().c_str());
  } else {
    print(report.rejected);
    std::printf("%zu kernels %s, %zu there already, %zu rejected\n", report.copied, done, report.already_there,
                report.rejected.size());
    if (!report.stopped.empty())
      std::fprintf(stderr, "cucore: %zu kernels were left: %s\n", report.left, report.stopped.c_str());
  }
  return report.rejected.empty() && report.stopped.empty() ? 0 : 1;
}

int run_push(const CLI::App& command) { return move_kernels(command, push_cpu_kernels, "stored"); }
int run_pull(const CLI::App& command) { return move_kernels(command, pull_cpu_kernels, "taken"); }

}  // namespace

void add_cache_kernels(CLI::App& cache, int& status) {
  CLI::App& push = add_command(cache, status, "push-kernels",
                               "Store what the CPU device has compiled in a folder that hosts share", run_push);
  CLI::App& pull = add_command(cache, status, "pull-kernels",
                               "Take what other hosts' CPU devices have compiled from such a folder", run_pull);
  for (CLI::App* const each : {&push, &pull}) {
    add_value(*each, "store", "the folder that hosts share")->type_name("FOLDER")->required();
    add_value(*each, "--kernels", "the CPU device's folder; otherwise the one that it uses here")->type_name("FOLDER");
    add_signing(*each, "to the store");
    add_json(*each);
  }
}

}  // namespace cucore::cli
