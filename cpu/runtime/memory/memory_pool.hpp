// Pools of stream-ordered memory: freed blocks stay here for reuse until a synchronisation finds more than the release
// threshold, or cuMemPoolTrimTo. Thread-safe.
#pragma once

#include <cuda.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>

#include "cpu/error/result.hpp"
#include "cpu/runtime/memory/memory.hpp"

namespace cucore::cpu::runtime {

/// Pools, and graphs, reserve memory in chunks, as drivers of GPUs do.
inline constexpr std::uint64_t chunk_of_memory = std::uint64_t{32} << 20;

constexpr std::uint64_t whole_chunks(std::uint64_t bytes) {
  const std::uint64_t rest = bytes % chunk_of_memory;
  return rest == 0 ? bytes : bytes - rest + chunk_of_memory;
}

class MemoryPool : public std::enable_shared_from_this<MemoryPool> {
 public:
  /// A default pool (of a device) cannot be destroyed. `properties` must have been checked.
  static std::shared_ptr<MemoryPool> create(const CUmemPoolProps& properties, bool is_default);
  static Result<void> check(const CUmemPoolProps& properties);
  MemoryPool(const CUmemPoolProps& properties, bool is_default);
  ~MemoryPool();

  CUmemoryPool handle() const { return handle_; }
  const CUmemPoolProps& properties() const { return properties_; }
  bool is_default() const { return is_default_; }
  Allocation::Kind allocation_kind() const;
  int device_ordinal() const;  ///< -1: host

  /// A file descriptor of the pool's memory, for another process; the caller closes it. NotSupported unless the pool
  /// was made for that.
  Result<int> export_file() const;
  /// Importing a pool again gives the same handle, which is then to be destroyed once more.
  static Result<CUmemoryPool> import_file(int file);
  bool is_imported() const { return is_imported_; }
  /// InvalidValue before the pool itself was exported, as with drivers of GPUs.
  Result<CUmemPoolPtrExportData> export_pointer(std::uintptr_t address) const;
  /// What is mapped already is not mapped again: the same address, which one free unmaps.
  Result<std::uintptr_t> import_pointer(const CUmemPoolPtrExportData& data);
  /// Destroys an imported pool as often as it was imported: true with the last. InvalidValue while memory is mapped.
  Result<bool> end_import();

  Result<std::uintptr_t> take(std::size_t size);
  void give_back(std::uintptr_t address, std::size_t size);
  /// Reserves no more than what is used, or `keep` bytes if that is more, and releases cached blocks beyond.
  void trim(std::size_t keep);
  std::uint64_t release_threshold() const;

  Result<void> attribute(CUmemPool_attribute attribute, void* value) const;
  Result<void> set_attribute(CUmemPool_attribute attribute, const void* value);
  CUmemAccess_flags access(const CUmemLocation& location) const;
  Result<void> set_access(const CUmemAccessDesc* descriptions, std::size_t count);

 private:
  void enter();  ///< into the table of handles
  /// Of an imported pool: the addresses at which its memory is mapped and not freed, and where in the file that is.
  std::map<std::uintptr_t, std::size_t> mappings() const;
  /// What it was made with, as an attribute.
  Result<void> property(int attribute, void* value) const;
  std::size_t rounded_size(std::size_t size) const;
  std::size_t most() const;  ///< of a pool with a largest size
  std::uintptr_t obtain(std::size_t rounded);
  void release(std::uintptr_t address, std::size_t rounded);
  void release_cached(std::uint64_t most_held);  ///< until the pool holds no more, or none is left
  Heap heap() const;

  const CUmemPoolProps properties_;
  const bool is_default_;
  CUmemoryPool handle_ = nullptr;
  mutable std::atomic<bool> is_exported_ = false;
  mutable std::mutex mutex_;
  std::multimap<std::size_t, std::uintptr_t> cached_;  ///< by rounded size
  std::uint64_t held_ = 0;                             ///< bytes of the host: those of allocations and of cached blocks
  std::uint64_t used_ = 0, used_high_ = 0;             ///< bytes of allocations, as asked for
  std::uint64_t reserved_ = 0, reserved_high_ = 0;     ///< as a GPU's driver would: whole chunks for the most used
  std::uint64_t threshold_ = 0;
  int reuse_[3] = {1, 1, 1};
  int file_ = -1;  ///< of a pool that can be shared: its memory
  bool is_imported_ = false;
  std::size_t imports_ = 0;  ///< handles of an imported pool that were not destroyed yet
  std::size_t next_offset_ = 0;
  std::uint64_t last_number_ = 0;                  ///< of an allocation, in the file
  std::map<std::uintptr_t, std::size_t> offsets_;  ///< where in the file an address lies
  std::map<int, CUmemAccess_flags> granted_;       ///< by device ordinal; absent: the pool's own default
};

std::shared_ptr<MemoryPool> find_pool(CUmemoryPool handle);
/// Ends the handle; memory still in use keeps the pool alive. InvalidValue for a default pool.
Result<void> destroy_pool(CUmemoryPool handle);
/// After a synchronisation: every pool gives back what exceeds its release threshold.
void release_unused_pool_memory();
/// The process-wide pool for memory that is not a device's: host or managed.
std::shared_ptr<MemoryPool> default_pool_for(const CUmemLocation& location, CUmemAllocationType type);

}  // namespace cucore::cpu::runtime
