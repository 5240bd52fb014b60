// Managed memory: one address for host and devices, with pages that move to where they are used, and advice on that.
//
//   auto managed = cucore::ManagedMemoryResource::create({.pooled = false});
//   cucore::ManagedBuffer table(managed->allocate(bytes, stream));
//   table.set_read_mostly(true);
//   table.set_preferred_location(cucore::Host());
//   table.prefetch(device, stream);                    // bring it there before the kernel asks for it
//
// Memory of a managed pool can be prefetched, but NVIDIA's drivers (13.0) take no advice on it, only for buffers
// allocated one by one, with pooled = false. A ManagedBuffer is a Buffer, made from one; whether its memory is managed
// is checked at the first use, with a ValueError if not. A buffer of size 0 takes all advice and
// forgets it. Ownership and thread-safety: as of Buffer.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "cucore/buffer.hpp"
#include "cucore/export.hpp"
#include "cucore/memory.hpp"

namespace cucore {

class Device;

/// The host as a place for memory: any of its NUMA nodes, one of them, or that of the calling thread.
class CUCORE_API Host {
 public:
  /// Any node.
  constexpr Host() noexcept = default;
  /// @throws ValueError negative
  static Host numa(int node);
  /// The node that the calling thread runs on.
  static constexpr Host numa_current() noexcept { return Host(current); }

  constexpr std::optional<int> numa_id() const noexcept { return node_ < 0 ? std::nullopt : std::optional(node_); }
  constexpr bool is_numa_current() const noexcept { return node_ == current; }
  /// Neither a node nor the current one.
  constexpr bool is_any() const noexcept { return node_ == any; }

  friend constexpr bool operator==(Host, Host) noexcept = default;

 private:
  static constexpr int any = -1;
  static constexpr int current = -2;
  explicit constexpr Host(int node) noexcept : node_(node) {}
  int node_ = any;
};

/// A device or the host.
class CUCORE_API MemoryLocation {
 public:
  // NOLINTBEGIN(google-explicit-constructor): a Device and a Host are locations
  MemoryLocation(const Device& device) noexcept;
  constexpr MemoryLocation(Host host) noexcept : host_(host) {}
  // NOLINTEND(google-explicit-constructor)

  /// The ordinal of the device; empty for the host.
  constexpr std::optional<int> device_id() const noexcept {
    return device_ < 0 ? std::nullopt : std::optional(device_);
  }
  /// Empty for a device.
  constexpr std::optional<Host> host() const noexcept { return device_ < 0 ? std::optional(host_) : std::nullopt; }

  friend constexpr bool operator==(const MemoryLocation&, const MemoryLocation&) noexcept = default;

 private:
  int device_ = -1;
  Host host_;
};

struct ManagedMemoryResourceOptions {
  /// Where the memory is preferably; unset: where it was used last.
  std::optional<MemoryLocation> preferred_location = std::nullopt;
  /// Allocate from a pool, in stream order; else each buffer by itself (cuMemAllocManaged), which takes any advice.
  bool pooled = true;
  /// Idle bytes the pool keeps; the default keeps everything.
  std::uint64_t release_threshold = UINT64_MAX;
};

/// Managed memory, accessible from the host and every device. Pools of it came with CUDA 13.
class CUCORE_API ManagedMemoryResource final : public PoolMemoryResource {
 public:
  /// The driver's current managed pool. @throws UnavailableError the driver or the platform has none
  static std::shared_ptr<ManagedMemoryResource> create();
  /// A new pool, or with pooled = false none. @throws ValueError `preferred_location` is Host::numa_current(), but the
  /// memory is to stay at one place  @throws UnavailableError the driver or the platform has no managed pools
  static std::shared_ptr<ManagedMemoryResource> create(const ManagedMemoryResourceOptions& options);

  /// What is not pooled is usable at once, and freed after a wait for `stream`.
  Buffer allocate(std::size_t size, const Stream& stream) override;
  void deallocate(DevicePointer address, std::size_t size, const Stream& stream) override;
  bool is_device_accessible() const noexcept override { return true; }
  bool is_host_accessible() const noexcept override { return true; }
  bool is_managed() const noexcept override { return true; }
  /// The device that is the preferred location, or -1.
  int device_id() const noexcept override { return preferred_ ? preferred_->device_id().value_or(-1) : -1; }
  std::optional<MemoryLocation> preferred_location() const noexcept { return preferred_; }
  bool is_pooled() const noexcept { return pooled_; }

 private:
  ManagedMemoryResource(std::shared_ptr<const detail::PoolState> pool, std::optional<MemoryLocation> preferred,
                        bool pooled);
  std::optional<MemoryLocation> preferred_;
  bool pooled_;
};

/// A buffer of managed memory, with advice to the driver on how it will be used. Every call that concerns advice and
/// prefetching throws ValueError if the memory is not managed, and DriverError.
class CUCORE_API ManagedBuffer : public Buffer {
 public:
  ManagedBuffer() noexcept = default;
  explicit ManagedBuffer(Buffer buffer) noexcept : Buffer(std::move(buffer)) {}

  /// Whether it is mostly read, so that every reader may have a copy of its own.
  bool read_mostly() const;
  void set_read_mostly(bool advised) const;
  /// Where it is preferably.
  std::optional<MemoryLocation> preferred_location() const;
  void set_preferred_location(std::optional<MemoryLocation> location) const;
  /// Who keeps a mapping of it, wherever it is. The host is listed without a node.
  std::vector<MemoryLocation> accessed_by() const;
  /// @throws ValueError the host with a node: this advice knows only the host
  void add_accessed_by(const MemoryLocation& location) const;
  void remove_accessed_by(const MemoryLocation& location) const;
  /// Makes these the only ones, after checking all of them, with as few calls as are needed.
  void set_accessed_by(const std::vector<MemoryLocation>& locations) const;
  /// Where it was prefetched to last; empty: nowhere.
  std::optional<MemoryLocation> last_prefetch_location() const;

  /// Brings it to `location`, in the order of `stream`.
  void prefetch(const MemoryLocation& location, const Stream& stream) const;
  /// Declares its contents no longer needed: they are not moved any more until it is written.
  /// @throws TypeError `stream` is the legacy default stream, which the driver does not take here
  /// @throws UnavailableError the driver is older than CUDA 13
  void discard(const Stream& stream) const;
  /// discard() and prefetch() at once: makes room at `location`, and moves nothing. Throws as discard().
  void discard_prefetch(const MemoryLocation& location, const Stream& stream) const;
};

}  // namespace cucore
