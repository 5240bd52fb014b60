// LaunchConfig: how a kernel is launched; every launch attribute of the driver has a field.
//
//   cucore::LaunchConfig config{.grid = {blocks}, .block = {256}, .shmem_size = 64 * 1024};
//   config.priority = -1;
//
// A plain value: made and compared without any driver. What is wrong on every device (an extent of 0) is refused when
// the config is used; what the stream's device lacks (clusters, cooperative launches) is refused by launch(), which
// names it. ResolvedConfig is the same in the driver's form, for many launches with one config.
// Ownership: holds references to its events. Thread-safety: as any value.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "cucore/driver_types.hpp"
#include "cucore/event.hpp"
#include "cucore/export.hpp"

namespace cucore {

namespace detail {
struct EventState;
struct DriverLaunchConfig;
}  // namespace detail
class Device;
class Kernel;

/// Extents; those not given are 1.
struct Dim3 {
  unsigned x = 1;
  unsigned y = 1;
  unsigned z = 1;
  friend bool operator==(const Dim3&, const Dim3&) = default;
};

/// A reference to an event that the driver records while a launch runs.
class LaunchEvent {
 public:
  /// @throws nothing; a closed event is refused by the launch
  LaunchEvent(const Event& event) : state_(event.state()) {}
  EventHandle handle() const noexcept { return Event(state_).handle(); }
  const std::shared_ptr<const detail::EventState>& state() const noexcept { return state_; }
  friend bool operator==(const LaunchEvent&, const LaunchEvent&) = default;

 private:
  std::shared_ptr<const detail::EventState> state_;
};

/// CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT: fires when every block has called
/// cudaTriggerProgrammaticLaunchCompletion, or has started, if `trigger_at_block_start`.
struct ProgrammaticEvent {
  LaunchEvent event;
  bool trigger_at_block_start = false;
  friend bool operator==(const ProgrammaticEvent&, const ProgrammaticEvent&) = default;
};

/// CUlaunchMemSyncDomain: traffic that fences of the other domain need not wait for.
enum class MemorySyncDomain { normal = 0, remote = 1 };

/// CUlaunchMemSyncDomainMap: the hardware domains that the two stand for.
struct MemorySyncDomainMap {
  std::uint8_t normal = 0;
  std::uint8_t remote = 1;
  friend bool operator==(const MemorySyncDomainMap&, const MemorySyncDomainMap&) = default;
};

/// CUclusterSchedulingPolicy.
enum class ClusterSchedulingPolicy { normal = 0, spread = 1, load_balancing = 2 };

/// CUaccessProperty: how likely L2 keeps what is accessed.
enum class AccessProperty { normal = 0, streaming = 1, persisting = 2 };

/// CUaccessPolicyWindow: `hit_ratio` of the accesses to the window get `hit`, the others `miss`.
struct AccessPolicyWindow {
  DevicePointer base = 0;
  std::size_t num_bytes = 0;
  float hit_ratio = 1;
  AccessProperty hit = AccessProperty::persisting;
  AccessProperty miss = AccessProperty::normal;  ///< normal or streaming
  friend bool operator==(const AccessPolicyWindow&, const AccessPolicyWindow&) = default;
};

/// How to launch. Fields that are not set leave the driver's default alone.
struct LaunchConfig {
  Dim3 grid = {};   ///< blocks, or clusters if `cluster` is set
  Dim3 block = {};  ///< threads
  /// Blocks per cluster (compute capability 9.0 and later). Then `grid` counts clusters.
  std::optional<Dim3> cluster = std::nullopt;
  /// Bytes of dynamic shared memory. Above the kernel's current limit the limit is raised, up to the device's maximum.
  std::size_t shmem_size = 0;
  /// All blocks run at the same time and can synchronise with one another.
  bool is_cooperative = false;
  /// May begin before the previous kernel in the stream has ended; the kernel itself waits for that one's results, with
  /// cudaGridDependencySynchronize (compute capability 9.0 and later).
  bool programmatic_stream_serialization = false;
  /// A priority other than the stream's, in the device's range; a lower number is a higher priority.
  std::optional<int> priority = std::nullopt;
  /// A larger cluster to use where the device has room for it; a multiple of `cluster`.
  std::optional<Dim3> preferred_cluster = std::nullopt;
  std::optional<ClusterSchedulingPolicy> cluster_scheduling_policy = std::nullopt;
  std::optional<ProgrammaticEvent> programmatic_event = std::nullopt;
  /// Recorded when the last block has started.
  std::optional<LaunchEvent> launch_completion_event = std::nullopt;
  std::optional<MemorySyncDomain> memory_sync_domain = std::nullopt;
  std::optional<MemorySyncDomainMap> memory_sync_domain_map = std::nullopt;
  /// Percent of the L1 cache's memory to use as shared memory; -1: the driver's choice.
  std::optional<int> preferred_shared_memory_carveout = std::nullopt;
  std::optional<AccessPolicyWindow> access_policy_window = std::nullopt;

  /// At least `n` threads in one dimension, in blocks of the size that fills the device best with this kernel
  /// (cuOccupancyMaxPotentialBlockSize), or that the kernel requires. `block_size_limit` 0: none.
  /// @throws ValueError `n` is 0, or more than the device's grid has threads  @throws DriverError
  CUCORE_API static LaunchConfig for_kernel(const Kernel& kernel, const Device& device, std::size_t n,
                                            std::size_t shmem_size = 0, int block_size_limit = 0);
  friend bool operator==(const LaunchConfig&, const LaunchConfig&) = default;
};

/// A LaunchConfig checked and in the driver's form, to launch with many times or from many threads at once. Immutable.
class CUCORE_API ResolvedConfig {
 public:
  /// @throws ValueError an extent of 0, too many blocks in a direction, more shared memory than any device has, or a
  ///   field out of its range  @throws StateError an event is closed
  explicit ResolvedConfig(const LaunchConfig& config);
  ResolvedConfig(const ResolvedConfig&) = delete;
  ResolvedConfig& operator=(const ResolvedConfig&) = delete;
  ~ResolvedConfig();

  /// Internal.
  const detail::DriverLaunchConfig& native() const noexcept {
    return *reinterpret_cast<const detail::DriverLaunchConfig*>(storage_.data());
  }

 private:
  static constexpr std::size_t storage_size = 1024;
  alignas(8) std::array<std::byte, storage_size> storage_;  // not initialised: attributes not used cost nothing
};

}  // namespace cucore
