// Pools of stream-ordered memory: see memory_pool.hpp.
#include "cpu/runtime/memory/memory_pool.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <iterator>

#include "cpu/runtime/address_space/address_space.hpp"
#include "cpu/runtime/address_space/shadow.hpp"
#include "cpu/runtime/memory/pool_file.hpp"
#include "cpu/runtime/objects/device.hpp"
#include "cpu/runtime/process/handle_table.hpp"

namespace cucore::cpu::runtime {

namespace {

using PoolTable = HandleTable<MemoryPool, HandleKind::MemoryPool>;
PoolTable& pool_table() {
  static auto* table = new PoolTable;
  return *table;
}

/// Bytes cached by all pools together: lets a synchronisation with nothing to release cost one load.
std::atomic<std::uint64_t> cached_everywhere{0};

// Attributes that CUDA 13.1 added, with what CU_MEMPOOL_ATTR_ stands before in its header.
enum NewerAttribute : int {
  AllocationType = CU_MEMPOOL_ATTR_USED_MEM_HIGH + 1,
  ExportHandleTypes,
  LocationId,
  LocationType,
  MaxPoolSize,
  HwDecompressEnabled,
  LocalityDomainId,
};

bool is_host(CUmemLocationType type) {
  return type == CU_MEM_LOCATION_TYPE_HOST || type == CU_MEM_LOCATION_TYPE_HOST_NUMA;
}

}  // namespace

Result<void> MemoryPool::check(const CUmemPoolProps& properties) {
  if (properties.allocType != CU_MEM_ALLOCATION_TYPE_PINNED && properties.allocType != CU_MEM_ALLOCATION_TYPE_MANAGED)
    return ErrorCode::InvalidValue;
  const bool is_managed = properties.allocType == CU_MEM_ALLOCATION_TYPE_MANAGED;
  const CUmemLocation& location = properties.location;
  if (properties.handleTypes != CU_MEM_HANDLE_TYPE_NONE) {
    // Pools of the host as a whole cannot be shared, those of a NUMA node can; managed ones never.
    if (is_managed || (location.type != CU_MEM_LOCATION_TYPE_DEVICE && location.type != CU_MEM_LOCATION_TYPE_HOST_NUMA))
      return ErrorCode::InvalidValue;
    if (properties.handleTypes == CU_MEM_HANDLE_TYPE_FABRIC) return ErrorCode::NotSupported;
    if (properties.handleTypes != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR) return ErrorCode::InvalidValue;
  }
  if (is_managed && (properties.maxSize != 0 || properties.usage != 0)) return ErrorCode::InvalidValue;
  // The first reserved byte has a meaning since CUDA 13.3, which is a hint.
  if (std::any_of(std::begin(properties.reserved) + 1, std::end(properties.reserved),
                  [](auto byte) { return byte != 0; }))
    return ErrorCode::InvalidValue;
  constexpr std::size_t largest_pool = std::size_t{1} << 45;
  if (properties.maxSize > largest_pool) return ErrorCode::OutOfMemory;
  switch (location.type) {
    case CU_MEM_LOCATION_TYPE_DEVICE:
      return find_device(location.id) ? Result<void>() : ErrorCode::InvalidValue;
    case CU_MEM_LOCATION_TYPE_HOST:
      return {};
    case CU_MEM_LOCATION_TYPE_HOST_NUMA:
      return location.id == host_node ? Result<void>() : ErrorCode::InvalidValue;
    case CU_MEM_LOCATION_TYPE_NONE:
    case CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT:  // a pool outlives the thread's location, which only managed memory
                                                  // follows
      return is_managed ? Result<void>() : ErrorCode::InvalidValue;
    default:
      return ErrorCode::InvalidValue;
  }
}

std::shared_ptr<MemoryPool> MemoryPool::create(const CUmemPoolProps& properties, bool is_default) {
  auto pool = std::make_shared<MemoryPool>(properties, is_default);
  if (properties.handleTypes != CU_MEM_HANDLE_TYPE_NONE) pool->file_ = pool_file::make(properties);
  pool->enter();
  return pool;
}

void MemoryPool::enter() {
  const auto pool = shared_from_this();
  handle_ =
      reinterpret_cast<CUmemoryPool>(is_default_ ? pool_table().insert_uncounted(pool) : pool_table().insert(pool));
}

MemoryPool::MemoryPool(const CUmemPoolProps& properties, bool is_default)
    : properties_(properties), is_default_(is_default) {}

MemoryPool::~MemoryPool() {
  trim(0);
  if (file_ >= 0) close(file_);
}

std::uintptr_t MemoryPool::obtain(std::size_t rounded) {
  if (file_ < 0) return AddressSpace::instance().allocate(rounded, heap());
  AddressSpace& space = AddressSpace::instance();
  const std::uintptr_t address = space.reserve(rounded, pool_file::page_bytes, 0);
  const std::size_t offset = std::max(next_offset_, pool_file::page_bytes);
  if (address == 0 || offset + rounded > pool_file::largest_size ||
      !AddressSpace::map_file(address, rounded, file_, offset, true)) {
    if (address != 0) space.unreserve(address, rounded);
    return 0;
  }
  next_offset_ = offset + rounded;
  offsets_[address] = offset;
  return address;
}

void MemoryPool::release(std::uintptr_t address, std::size_t rounded) {
  if (file_ < 0) return AddressSpace::instance().release(address, rounded, heap());
  const std::size_t offset = offsets_[address];
  offsets_.erase(address);
  AddressSpace::instance().unreserve(address, rounded);
  if (!is_imported_)
    fallocate(file_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(offset),
              static_cast<off_t>(rounded));
}

Allocation::Kind MemoryPool::allocation_kind() const {
  if (properties_.allocType == CU_MEM_ALLOCATION_TYPE_MANAGED) return Allocation::Kind::Managed;
  return is_host(properties_.location.type) ? Allocation::Kind::Host : Allocation::Kind::Device;
}

Heap MemoryPool::heap() const { return allocation_kind() == Allocation::Kind::Device ? Heap::Device : Heap::Host; }

int MemoryPool::device_ordinal() const {
  return properties_.location.type == CU_MEM_LOCATION_TYPE_DEVICE ? properties_.location.id : -1;
}

Result<std::uintptr_t> MemoryPool::take(std::size_t size) {
  const Device& device = *find_device(std::max(0, device_ordinal()));
  if (!has_room(device, size)) return ErrorCode::OutOfMemory;
  if (is_imported_) return ErrorCode::InvalidValue;  // its process allocates
  const std::size_t rounded = rounded_size(size);
  const std::lock_guard lock(mutex_);
  if (properties_.maxSize != 0 && used_ + size > most()) return ErrorCode::OutOfMemory;
  std::uintptr_t address = 0;
  if (const auto cached = cached_.find(rounded); cached != cached_.end()) {
    address = cached->second;
    cached_.erase(cached);
    cached_everywhere.fetch_sub(rounded);
  } else {
    address = obtain(rounded);
    if (address == 0) return ErrorCode::OutOfMemory;
    held_ += rounded;
  }
  if (file_ >= 0 && !pool_file::write_number(file_, offsets_[address], ++last_number_)) {
    cached_.emplace(rounded, address);
    cached_everywhere.fetch_add(rounded);
    return ErrorCode::OutOfMemory;
  }
  used_ += size;
  used_high_ = std::max(used_high_, used_);
  reserved_ = std::max(reserved_, whole_chunks(used_));
  reserved_high_ = std::max(reserved_high_, reserved_);
  release_cached(reserved_);
  return address;
}

std::size_t MemoryPool::most() const { return whole_chunks(properties_.maxSize); }

std::size_t MemoryPool::rounded_size(std::size_t size) const {
  return file_ < 0 ? AddressSpace::rounded(size + shadow::redzone(size)) : pool_file::whole_pages(size);
}

void MemoryPool::give_back(std::uintptr_t address, std::size_t size) {
  const std::size_t rounded = rounded_size(size);
  const std::lock_guard lock(mutex_);
  used_ -= size;
  // Unmapped, not kept: the memory is another process's, or the checker wants what is freed to stay unused.
  if (is_imported_ || (file_ < 0 && shadow::is_open())) {
    held_ -= rounded;
    return release(address, rounded);
  }
  if (file_ >= 0)
    pool_file::write_number(file_, offsets_[address], 0);  // a process that has its export data can no longer map it
  cached_.emplace(rounded, address);
  cached_everywhere.fetch_add(rounded);
}

void MemoryPool::trim(std::size_t keep) {
  const std::lock_guard lock(mutex_);
  reserved_ = whole_chunks(std::max(used_, std::min<std::uint64_t>(reserved_, keep)));
  release_cached(std::min<std::uint64_t>(keep, reserved_));
}

void MemoryPool::release_cached(std::uint64_t most_held) {
  while (held_ > most_held && !cached_.empty()) {
    const auto largest = std::prev(cached_.end());
    release(largest->second, largest->first);
    held_ -= largest->first;
    cached_everywhere.fetch_sub(largest->first);
    cached_.erase(largest);
  }
}

std::uint64_t MemoryPool::release_threshold() const {
  const std::lock_guard lock(mutex_);
  return threshold_;
}

Result<void> MemoryPool::property(int attribute, void* value) const {
  const auto number = [value](int answer) {
    std::memcpy(value, &answer, sizeof answer);
    return Result<void>();
  };
  switch (attribute) {
    case AllocationType:
      return number(properties_.allocType);
    case ExportHandleTypes:
      return number(is_imported_ ? CU_MEM_HANDLE_TYPE_NONE : properties_.handleTypes);
    case LocationId:
      return number(properties_.location.id);
    case LocationType:
      return number(properties_.location.type);
    case MaxPoolSize: {
      const std::uint64_t size = properties_.maxSize;
      std::memcpy(value, &size, sizeof size);
      return {};
    }
    case HwDecompressEnabled:
      return number(0);
    case LocalityDomainId:
      return number(-1);
    default:
      return ErrorCode::InvalidValue;
  }
}

Result<void> MemoryPool::attribute(CUmemPool_attribute attribute, void* value) const {
  if (is_imported_ && attribute <= CU_MEMPOOL_ATTR_USED_MEM_HIGH) return ErrorCode::InvalidValue;
  const std::lock_guard lock(mutex_);
  const auto number = [value](std::uint64_t answer) {
    std::memcpy(value, &answer, sizeof answer);
    return Result<void>();
  };
  switch (attribute) {
    case CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES:
    case CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC:
    case CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES:
      std::memcpy(value, &reuse_[attribute - CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES], sizeof(int));
      return {};
    case CU_MEMPOOL_ATTR_RELEASE_THRESHOLD:
      return number(threshold_);
    case CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT:
      return number(reserved_);
    case CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH:
      return number(reserved_high_);
    case CU_MEMPOOL_ATTR_USED_MEM_CURRENT:
      return number(used_);
    case CU_MEMPOOL_ATTR_USED_MEM_HIGH:
      return number(used_high_);
    default:
      return property(attribute, value);
  }
}

Result<void> MemoryPool::set_attribute(CUmemPool_attribute attribute, const void* value) {
  if (is_imported_) return ErrorCode::InvalidValue;
  const std::lock_guard lock(mutex_);
  std::uint64_t number = 0;
  switch (attribute) {
    case CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES:
    case CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC:
    case CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES:
      std::memcpy(&reuse_[attribute - CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES], value, sizeof(int));
      return {};
    case CU_MEMPOOL_ATTR_RELEASE_THRESHOLD:
      std::memcpy(&threshold_, value, sizeof threshold_);
      return {};
    case CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH:
    case CU_MEMPOOL_ATTR_USED_MEM_HIGH:
      std::memcpy(&number, value, sizeof number);
      if (number != 0) return ErrorCode::InvalidValue;  // can only be reset
      if (attribute == CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH)
        reserved_high_ = reserved_;
      else
        used_high_ = used_;
      return {};
    default:
      return ErrorCode::InvalidValue;
  }
}

CUmemAccess_flags MemoryPool::access(const CUmemLocation& location) const {
  const std::lock_guard lock(mutex_);
  if (location.type == CU_MEM_LOCATION_TYPE_DEVICE) {
    if (const auto found = granted_.find(location.id); found != granted_.end()) return found->second;
    const bool own = properties_.location.type == CU_MEM_LOCATION_TYPE_DEVICE && properties_.location.id == location.id;
    return own || properties_.allocType == CU_MEM_ALLOCATION_TYPE_MANAGED ? CU_MEM_ACCESS_FLAGS_PROT_READWRITE
                                                                          : CU_MEM_ACCESS_FLAGS_PROT_NONE;
  }
  return allocation_kind() == Allocation::Kind::Device ? CU_MEM_ACCESS_FLAGS_PROT_NONE
                                                       : CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
}

Result<void> MemoryPool::set_access(const CUmemAccessDesc* descriptions, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    const CUmemAccessDesc& each = descriptions[i];
    if (each.location.type != CU_MEM_LOCATION_TYPE_DEVICE) return ErrorCode::InvalidValue;
    if (!find_device(each.location.id)) return ErrorCode::InvalidDevice;
    if (each.flags != CU_MEM_ACCESS_FLAGS_PROT_NONE && each.flags != CU_MEM_ACCESS_FLAGS_PROT_READ &&
        each.flags != CU_MEM_ACCESS_FLAGS_PROT_READWRITE)
      return ErrorCode::InvalidValue;
    // A pool's own device cannot lose its access.
    if (each.location.id == device_ordinal() && each.flags != CU_MEM_ACCESS_FLAGS_PROT_READWRITE)
      return ErrorCode::InvalidDevice;
  }
  const std::lock_guard lock(mutex_);
  for (std::size_t i = 0; i < count; ++i) granted_[descriptions[i].location.id] = descriptions[i].flags;
  return {};
}

std::shared_ptr<MemoryPool> find_pool(CUmemoryPool handle) { return pool_table().find(handle); }

Result<void> destroy_pool(CUmemoryPool handle) {
  const auto pool = pool_table().find(handle);
  if (!pool || pool->is_default()) return ErrorCode::InvalidValue;
  if (pool->is_imported()) {
    Result<bool> is_last = pool->end_import();
    if (!is_last) return std::move(is_last).failure();
    if (!*is_last) return {};
  }
  pool_table().remove(handle);
  if (Device* device = find_device(pool->device_ordinal()); device && device->current_pool() == pool)
    device->set_current_pool(device->default_pool());
  return {};
}

void release_unused_pool_memory() {
  if (cached_everywhere.load() == 0) return;
  for (const auto& pool : pool_table().all()) pool->trim(pool->release_threshold());
}

std::shared_ptr<MemoryPool> default_pool_for(const CUmemLocation& location, CUmemAllocationType type) {
  const bool managed = type == CU_MEM_ALLOCATION_TYPE_MANAGED;
  if (location.type == CU_MEM_LOCATION_TYPE_DEVICE && !managed) return find_device(location.id)->default_pool();
  static auto* const made = new std::map<std::pair<int, int>, std::shared_ptr<MemoryPool>>;
  static auto* const mutex = new std::mutex;
  const int id = location.type == CU_MEM_LOCATION_TYPE_DEVICE ? location.id : managed ? -2 : -1;
  const std::lock_guard lock(*mutex);
  std::shared_ptr<MemoryPool>& pool = (*made)[{managed, id}];
  if (!pool) {
    CUmemPoolProps properties{};
    properties.allocType = type;
    properties.location = location;
    pool = MemoryPool::create(properties, true);
  }
  return pool;
}

}  // namespace cucore::cpu::runtime
