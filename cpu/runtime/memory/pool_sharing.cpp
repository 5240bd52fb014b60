// Pools between processes: as a file, and pointers into it. See memory_pool.hpp, pool_file.hpp.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <new>

#include "cpu/runtime/address_space/address_space.hpp"
#include "cpu/runtime/memory/memory_pool.hpp"
#include "cpu/runtime/memory/pool_file.hpp"

namespace cucore::cpu::runtime {
namespace pool_file {
namespace {

off_t number_of(std::size_t offset) {
  return static_cast<off_t>(largest_size + offset / page_bytes * sizeof(std::uint64_t));
}

}  // namespace

bool write_number(int file, std::size_t offset, std::uint64_t number) {
  return pwrite(file, &number, sizeof number, number_of(offset)) == sizeof number;
}

std::uint64_t read_number(int file, std::size_t offset) {
  std::uint64_t number = 0;
  return pread(file, &number, sizeof number, number_of(offset)) == sizeof number ? number : 0;
}

int make(const CUmemPoolProps& properties) {
  const int file = memfd_create("cucore memory pool", MFD_CLOEXEC);
  const Header header{magic_number, properties};
  if (file < 0) throw std::bad_alloc();
  if (ftruncate(file, static_cast<off_t>(largest_size + numbers)) != 0 || pwrite(file, &header, sizeof header, 0) < 0) {
    close(file);
    throw std::bad_alloc();
  }
  return file;
}

}  // namespace pool_file

namespace {

/// What CUmemPoolPtrExportData holds.
struct PointerData {
  std::uint64_t magic;
  std::uint64_t file;  ///< its number, the same in every process: of which pool this is
  std::uint64_t offset;
  std::uint64_t size;
  std::uint64_t number;
};
static_assert(sizeof(PointerData) <= sizeof(CUmemPoolPtrExportData));

/// The pools of other processes, by the number of their file.
struct ImportedPools {
  std::mutex mutex;  ///< for importing and ending imports, one at a time
  std::map<ino_t, std::weak_ptr<MemoryPool>> by_file;
};
ImportedPools& imported_pools() {
  static auto* pools = new ImportedPools;
  return *pools;
}

}  // namespace

Result<int> MemoryPool::export_file() const {
  if (is_imported_) return ErrorCode::InvalidValue;  // only its own process sends it on
  if (file_ < 0) return ErrorCode::NotSupported;
  const int file = fcntl(file_, F_DUPFD_CLOEXEC, 0);
  if (file < 0) return ErrorCode::OperatingSystem;
  is_exported_ = true;
  return file;
}

Result<CUmemoryPool> MemoryPool::import_file(int file) {
  pool_file::Header header{};
  if (pread(file, &header, sizeof header, 0) != sizeof header || header.magic != pool_file::magic_number)
    return ErrorCode::InvalidValue;
  header.properties.win32SecurityAttributes = nullptr;
  if (Result<void> checked = check(header.properties); !checked) return std::move(checked).failure();
  struct stat status{};
  if (fstat(file, &status) != 0) return ErrorCode::OperatingSystem;
  ImportedPools& imported = imported_pools();
  const std::lock_guard lock(imported.mutex);
  std::weak_ptr<MemoryPool>& known = imported.by_file[status.st_ino];
  std::shared_ptr<MemoryPool> pool = known.lock();
  if (!pool || pool->imports_ == 0) {
    pool = std::make_shared<MemoryPool>(header.properties, false);
    pool->file_ = fcntl(file, F_DUPFD_CLOEXEC, 0);
    if (pool->file_ < 0) return ErrorCode::OperatingSystem;
    pool->is_imported_ = true;
    pool->enter();
    known = pool;
  }
  ++pool->imports_;
  return pool->handle_;
}

std::map<std::uintptr_t, std::size_t> MemoryPool::mappings() const {
  std::map<std::uintptr_t, std::size_t> found;
  {
    const std::lock_guard lock(mutex_);
    found = offsets_;
  }
  std::erase_if(found, [](const auto& mapping) { return !find_allocation(mapping.first); });
  return found;
}

Result<bool> MemoryPool::end_import() {
  ImportedPools& imported = imported_pools();
  const std::lock_guard lock(imported.mutex);
  if (imports_ == 0 || !mappings().empty()) return ErrorCode::InvalidValue;
  if (--imports_ != 0) return false;
  std::erase_if(imported.by_file, [](const auto& known) { return known.second.expired(); });
  return true;
}

Result<CUmemPoolPtrExportData> MemoryPool::export_pointer(std::uintptr_t address) const {
  const auto allocation = find_allocation(address);
  const std::lock_guard lock(mutex_);
  const auto found = offsets_.find(address);
  if (is_imported_ || !is_exported_ || !allocation || found == offsets_.end()) return ErrorCode::InvalidValue;
  struct stat status{};
  if (fstat(file_, &status) != 0) return ErrorCode::OperatingSystem;
  const PointerData exported{pool_file::magic_number, status.st_ino, found->second, allocation->size,
                             pool_file::read_number(file_, found->second)};
  CUmemPoolPtrExportData data{};
  std::memcpy(&data, &exported, sizeof exported);
  return data;
}

Result<std::uintptr_t> MemoryPool::import_pointer(const CUmemPoolPtrExportData& data) {
  PointerData exported{};
  std::memcpy(&exported, &data, sizeof exported);
  struct stat status{};
  if (!is_imported_ || exported.magic != pool_file::magic_number || fstat(file_, &status) != 0 ||
      exported.file != status.st_ino)
    return ErrorCode::InvalidValue;
  const std::size_t rounded = pool_file::whole_pages(exported.size);
  if (exported.size == 0 || exported.offset % pool_file::page_bytes != 0 || exported.offset < pool_file::page_bytes ||
      rounded > pool_file::largest_size || exported.offset > pool_file::largest_size - rounded)
    return ErrorCode::InvalidValue;
  if (exported.number == 0 || exported.number != pool_file::read_number(file_, exported.offset))
    return ErrorCode::InvalidValue;  // its process has freed it
  const std::lock_guard importing(imported_pools().mutex);
  for (const auto& [mapped, offset] : mappings()) {
    if (offset == exported.offset) return mapped;
  }
  const std::uintptr_t base = AddressSpace::instance().reserve(rounded, pool_file::page_bytes, 0);
  if (base == 0 || !AddressSpace::map_file(base, rounded, file_, exported.offset, true)) {
    if (base != 0) AddressSpace::instance().unreserve(base, rounded);
    return ErrorCode::OutOfMemory;
  }
  {
    const std::lock_guard lock(mutex_);
    offsets_[base] = exported.offset;
    used_ += rounded;
    reserved_ += rounded;
  }
  Allocation allocation;
  allocation.base = base;
  allocation.size = exported.size;
  allocation.kind = allocation_kind();
  allocation.device = std::max(0, device_ordinal());
  allocation.pool = shared_from_this();
  enter_allocation(std::move(allocation));
  return base;
}

}  // namespace cucore::cpu::runtime
