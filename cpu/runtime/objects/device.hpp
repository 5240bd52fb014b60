// A CPU device: what cuDeviceGet* reports, its primary context and its pools of memory. One per ordinal, made by
// initialize, never destroyed.
#pragma once

#include <cuda.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "cpu/error/result.hpp"
#include "cpu/runtime/process/device_identity.hpp"
#include "cpu/runtime/process/host_memory.hpp"

namespace cucore::cpu::runtime {

class Context;
class MemoryPool;

/// Limits that the scheduler and the launch checks share with the attribute table.
inline constexpr unsigned int warp_size = 32;
inline constexpr unsigned int max_threads_per_block = 1024;
inline constexpr unsigned int max_threads_per_multiprocessor = 2048;
inline constexpr unsigned int max_blocks_per_multiprocessor = 32;
inline constexpr std::size_t shared_per_block = 48 * 1024;
inline constexpr std::size_t shared_per_block_opt_in = 227 * 1024;
inline constexpr std::size_t shared_per_multiprocessor = 228 * 1024;
inline constexpr std::size_t shared_reserved_per_block = 1024;
/// Compute capability from which on there are clusters and tensor maps.
inline constexpr int least_for_clusters = 90;
inline constexpr unsigned int max_blocks_per_portable_cluster = 8;
inline constexpr unsigned int max_blocks_per_cluster = 16;
inline constexpr unsigned int registers_per_block = 65536;
inline constexpr std::size_t l2_bytes = std::size_t{4} << 20;
/// Persisting accesses: of the cache, in the steps and the proportion that an H100 has.
inline constexpr std::size_t persisting_l2_step = l2_bytes / 16;
inline constexpr std::size_t most_persisting_l2 = 10 * persisting_l2_step;
inline constexpr std::size_t largest_access_window = std::size_t{128} << 20;
inline bool is_access_window(const CUaccessPolicyWindow& window) {
  return window.num_bytes <= largest_access_window && window.hitRatio >= 0 && window.hitRatio <= 1 &&
         window.missProp != CU_ACCESS_PROPERTY_PERSISTING;
}
inline constexpr std::size_t max_parameter_bytes = 32764;
inline constexpr int host_node = 0;  ///< the NUMA node of the host; there is no other, as the device says of itself

class Device {
 public:
  /// `ordinal` counts the devices that the driver shows, `index` those of the host. `capability` is 10 * major + minor.
  Device(int ordinal, int index, int capability, std::shared_ptr<MemoryPool> default_pool);
  ~Device();

  int ordinal() const { return ordinal_; }
  int capability() const { return capability_; }
  const std::string& name() const { return name_; }
  const CUuuid& uuid() const { return uuid_; }
  unsigned int pci_bus() const { return runtime::pci_bus(index_); }
  std::string pci_bus_id() const;
  std::size_t total_memory() const { return memory_.total; }
  /// The part of it that the host had available when the driver started.
  std::size_t usable_memory() const { return std::min(memory_.total, memory_.available); }

  /// InvalidValue for a number that is not an attribute's.
  Result<int> attribute(CUdevice_attribute attribute) const;

  Context& primary_context() const { return *primary_; }
  CUcontext retain_primary();
  Result<void> release_primary();
  void reset_primary();
  Result<void> set_primary_flags(unsigned int flags);
  void primary_state(unsigned int* flags, bool* active) const;

  const std::shared_ptr<MemoryPool>& default_pool() const { return default_pool_; }
  std::shared_ptr<MemoryPool> current_pool() const;
  void set_current_pool(std::shared_ptr<MemoryPool> pool);

 private:
  int ordinal_;
  int index_;
  int capability_;
  std::string name_;
  CUuuid uuid_{};
  HostMemory memory_;
  std::unique_ptr<Context> primary_;
  mutable std::mutex mutex_;
  int retain_count_ = 0;
  std::shared_ptr<MemoryPool> default_pool_;
  std::shared_ptr<MemoryPool> current_pool_;
};

/// In ordinal order; none before initialize.
const std::vector<std::unique_ptr<Device>>& devices();
/// For initialize.
void add_device(std::unique_ptr<Device> device);

/// Null if there is no such device.
Device* find_device(CUdevice device);

}  // namespace cucore::cpu::runtime
