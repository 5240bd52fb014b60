// The memory of the host, as far as this process may have it: what a device shows as its own.
#pragma once

#include <cstddef>
#include <string>

namespace cucore::cpu::runtime {

struct HostMemory {
  std::size_t total = 0;      ///< bytes: the host's, or the least limit of a container around this process
  std::size_t available = 0;  ///< bytes that can be used now before the kernel kills a process
};

/// Reads /proc/meminfo and the limits of control groups, version 1 or 2, of this process and of those around it.
/// `root`: where /proc and /sys are found, for tests. Any thread; some 50 us.
HostMemory host_memory(const std::string& root = "");

}  // namespace cucore::cpu::runtime
