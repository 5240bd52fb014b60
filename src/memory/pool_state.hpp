// PoolState: one memory pool of the driver's, shared by memory resources and the buffers allocated from it; and how
// pools are created, imported and configured.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

#include "src/device/context_state.hpp"
#include "src/handles/pools_set_aside.hpp"
#include "src/memory/mapped_pointers.hpp"

namespace cucore::detail {

/// Allocations keep their pool alive, so that none is left when it is destroyed.
struct PoolState {
  driver::CUmemoryPool handle = nullptr;   ///< null for memory that is allocated without a pool
  mutable OwnedPool owned;                 ///< empty for a pool of the driver's; its freed_in is guarded by mutex_
  driver::CUmemLocation location{};        ///< of its memory
  std::shared_ptr<MappedPointers> mapped;  ///< of a pool that was imported from another process; null for others
  mutable std::atomic<bool> peers_granted = false;

  PoolState() = default;
  PoolState(const PoolState&) = delete;
  PoolState& operator=(const PoolState&) = delete;
  ~PoolState();

  bool is_mapped() const noexcept { return mapped != nullptr; }
  bool is_owned() const noexcept { return owned.handle.get() != nullptr; }
  bool is_ipc_enabled() const noexcept { return owned.properties.handleTypes != driver::CU_MEM_HANDLE_TYPE_NONE; }
  /// The ordinal of the device whose memory it is; -1: the host's, or managed memory, which migrates.
  int device() const noexcept { return location.type == driver::CU_MEM_LOCATION_TYPE_DEVICE ? location.id : -1; }
  /// Notes that memory of the pool will be freed in this context.
  void used_in(ContextHandle context) const;

 private:
  void revoke_peers() const noexcept;
  void give_up() noexcept;
  void end_import() noexcept;
  friend std::shared_ptr<const PoolState> import_pool(int file, const driver::CUmemLocation& location);
  void add(OwnedPool imports);

  mutable std::mutex mutex_;
  mutable std::atomic<ContextHandle> last_context_ = nullptr;
};

/// "memory pool 0x... of Device 0".
std::string describe(const PoolState& pool);

/// A pool of our own. @throws DriverError
std::shared_ptr<const PoolState> create_pool(const driver::CUmemPoolProps& properties, std::uint64_t release_threshold);

/// A pool of another process, imported from a file descriptor that stays the caller's; the same one as before, if it
/// has been imported already. @throws DriverError
std::shared_ptr<const PoolState> import_pool(int file, const driver::CUmemLocation& location);

/// The driver's current pool for memory of `type` at `location`, made to keep idle memory. @throws DriverError with
/// `hint`
std::shared_ptr<const PoolState> current_pool(const driver::CUmemLocation& location, int type, std::string_view hint);

/// Makes a pool of the driver's keep idle memory, unless a threshold has been set already.
void keep_idle_memory(const PoolState& pool);

/// How many bytes the pool keeps when idle.
void set_release_threshold(const PoolState& pool, std::uint64_t bytes);

/// Lets every device read and write the memory of a host pool, which gives no device access until it is asked.
void grant_every_device(const PoolState& pool);

template <class Value>
Value get_attribute(const PoolState& pool, int attribute) {
  Value value{};
  driver::check(driver::table().cuMemPoolGetAttribute(pool.handle, attribute, &value), "cuMemPoolGetAttribute",
                [&] { return "attribute " + std::to_string(attribute) + " of " + describe(pool); });
  return value;
}

}  // namespace cucore::detail
