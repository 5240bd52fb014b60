// Reads what the kernel says of memory: see host_memory.hpp.
#include "cpu/runtime/process/host_memory.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <sstream>
#include <string_view>
#include <system_error>

namespace cucore::cpu::runtime {

namespace {

/// A file that the kernel writes for each who reads it, of a few kibibytes; empty if there is none.
std::string contents_of(const std::string& path) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return {};
  char text[16384];
  const ssize_t size = read(file, text, sizeof text);
  close(file);
  return {text, size > 0 ? static_cast<std::size_t>(size) : 0};
}

/// The number that `text` begins with, after spaces.
std::optional<std::size_t> number_in(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  std::size_t number = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  return read.ec == std::errc() ? std::optional(number) : std::nullopt;
}

/// The number in the line that begins with `name`.
std::optional<std::size_t> number_of(std::string_view name, std::string_view lines) {
  for (std::size_t at = lines.find(name); at != std::string_view::npos; at = lines.find(name, at + 1))
    if (at == 0 || lines[at - 1] == '\n') return number_in(lines.substr(at + name.size()));
  return std::nullopt;
}

/// The file names of the two versions of control groups.
struct Version {
  const char* folder;
  const char* limit;
  const char* usage;
  const char* reclaimable;  ///< in memory.stat: file pages that the kernel drops before it kills
};

constexpr Version version_1{"/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes",
                            "total_inactive_file"};
constexpr Version version_2{"/sys/fs/cgroup", "memory.max", "memory.current", "inactive_file"};

void apply_limit(const std::string& group, const Version& version, HostMemory& memory) {
  const auto limit = number_in(contents_of(group + "/" + version.limit));
  if (!limit || *limit >= memory.total) return;  // version 1 writes a very large number for none
  memory.total = *limit;
  const std::size_t usage = number_in(contents_of(group + "/" + version.usage)).value_or(0);
  const std::size_t reclaimable = number_of(version.reclaimable, contents_of(group + "/memory.stat")).value_or(0);
  const std::size_t taken = usage - std::min(usage, reclaimable);
  memory.available = std::min(memory.available, *limit - std::min(*limit, taken));
}

/// A group's own limit, and those of the groups around it. A container often sees its own group as the outermost.
void apply_limits(const std::string& root, std::string group, const Version& version, HostMemory& memory) {
  const std::string folder = root + version.folder;
  for (;;) {
    apply_limit(folder + group, version, memory);
    const std::size_t slash = group.rfind('/');
    if (slash == std::string::npos) return;
    group.resize(slash);
  }
}

}  // namespace

HostMemory host_memory(const std::string& root) {
  constexpr std::size_t kibibyte = 1024;
  constexpr std::size_t if_unknown = std::size_t{4} << 20;
  HostMemory memory;
  const std::string host = contents_of(root + "/proc/meminfo");
  memory.total = number_of("MemTotal:", host).value_or(if_unknown) * kibibyte;
  memory.available = number_of("MemAvailable:", host).value_or(memory.total / kibibyte) * kibibyte;
  std::istringstream groups(contents_of(root + "/proc/self/cgroup"));
  for (std::string line; std::getline(groups, line);) {  // number:controllers:/group
    const std::size_t controllers = line.find(':') + 1;
    const std::size_t group = line.find(':', controllers) + 1;
    if (controllers == 0 || group == 0) continue;
    const std::string names = "," + line.substr(controllers, group - 1 - controllers) + ",";
    if (names == ",,") apply_limits(root, line.substr(group), version_2, memory);
    if (names.find(",memory,") != std::string::npos) apply_limits(root, line.substr(group), version_1, memory);
  }
  return memory;
}

}  // namespace cucore::cpu::runtime
