// Reads what the kernel says of memory: see host_memory.hpp.
#include "cpu/runtime/process/host_memory.hpp"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <optional>
#include <string_view>

namespace cucore::cpu::runtime {

namespace {

/// The first number of a file; none if there is no file or it says "max".
std::optional<std::size_t> number_in(const std::string& path) {
  std::ifstream file(path);
  std::size_t number = 0;
  if (file >> number) return number;
  return std::nullopt;
}

/// The number after `name` in a file of names and numbers.
std::optional<std::size_t> number_of(const std::string& path, std::string_view name) {
  std::ifstream file(path);
  for (std::string word; file >> word;) {
    std::size_t number = 0;
    if (word == name && file >> number) return number;
  }
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
  const auto limit = number_in(group + "/" + version.limit);
  if (!limit || *limit >= memory.total) return;  // version 1 writes a very large number for none
  memory.total = *limit;
  const std::size_t usage = number_in(group + "/" + version.usage).value_or(0);
  const std::size_t reclaimable = number_of(group + "/memory.stat", version.reclaimable).value_or(0);
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
  memory.total = number_of(root + "/proc/meminfo", "MemTotal:").value_or(if_unknown) * kibibyte;
  memory.available = number_of(root + "/proc/meminfo", "MemAvailable:").value_or(memory.total / kibibyte) * kibibyte;
  std::ifstream groups(root + "/proc/self/cgroup");
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
