// Appends the functions of loaded code to the file in which perf looks for names: see perf_map.hpp.
#include "cpu/loader/perf_map.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

#include "cpu/abi/demangle.hpp"
#include "cpu/abi/symbols.hpp"

namespace cucore::cpu::loader {
namespace {

std::string name_of(std::string_view symbol, std::string_view kernel) {
  constexpr std::string_view function_prefix = "ptx.function.";
  if (symbol == run_thread_symbol || symbol == run_block_symbol) return demangled(std::string(kernel));
  if (symbol.starts_with(function_prefix)) symbol.remove_prefix(function_prefix.size());
  return demangled(std::string(symbol));
}

}  // namespace

void add_to_perf_map(const LoadedObject& object, std::string_view kernel) {
  std::string lines;
  for (const LoadedObject::FunctionRange& function : object.functions()) {
    char range[2 * 16 + 3];
    std::snprintf(range, sizeof range, "%zx %zx ", reinterpret_cast<std::size_t>(function.begin), function.bytes);
    lines += range + name_of(function.symbol, kernel) + "\n";
  }
  // The name is perf's, in a folder that others write to as well: no link is followed, no file of theirs is taken.
  const std::string path = "/tmp/perf-" + std::to_string(getpid()) + ".map";
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, 0644);
  if (file < 0) return;
  struct stat known{};
  if (fstat(file, &known) == 0 && S_ISREG(known.st_mode) && known.st_uid == geteuid() && known.st_nlink == 1) {
    // One write for all: lines of other threads do not come in between.
    [[maybe_unused]] const ssize_t written = write(file, lines.data(), lines.size());
  }
  close(file);
}

}  // namespace cucore::cpu::loader
