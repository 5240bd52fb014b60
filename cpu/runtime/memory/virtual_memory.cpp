// Virtual memory management: see virtual_memory.hpp.
#include "cpu/runtime/memory/virtual_memory.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <vector>

#include "cpu/abi/pages.hpp"
#include "cpu/runtime/address_space/address_space.hpp"
#include "cpu/runtime/memory/memory.hpp"
#include "cpu/runtime/objects/device.hpp"

namespace cucore::cpu::runtime {

namespace {

struct Physical {
  Physical(int descriptor, std::size_t bytes, const CUmemAllocationProp& given)
      : file(descriptor), size(bytes), properties(given) {}
  ~Physical() { close(file); }
  Physical(const Physical&) = delete;
  Physical& operator=(const Physical&) = delete;

  const int file;
  const std::size_t size;
  const CUmemAllocationProp properties;
};

struct Reference {
  std::shared_ptr<Physical> memory;
  unsigned int count = 1;
};

struct Mapping {
  std::size_t size = 0;
  std::shared_ptr<Physical> memory;
  CUmemGenericAllocationHandle handle = 0;
  std::map<std::pair<int, int>, CUmemAccess_flags> access;  ///< by type and id of a location
};

struct VirtualMemory {
  std::mutex mutex;
  CUmemGenericAllocationHandle next_handle = 0x2200000010;
  std::map<CUmemGenericAllocationHandle, Reference> physical;
  std::map<std::uintptr_t, std::size_t> reservations;
  std::map<std::uintptr_t, Mapping> mappings;
};

VirtualMemory& self() {
  static auto* instance = new VirtualMemory;
  return *instance;
}

bool is_multiple(std::size_t value) { return value % virtual_memory_granularity == 0; }

/// Whether a reservation, or several that follow each other, hold the whole range.
bool is_reserved(const VirtualMemory& memory, std::uintptr_t address, std::size_t size) {
  auto each = memory.reservations.upper_bound(address);
  if (each == memory.reservations.begin()) return false;
  --each;
  if (address - each->first >= each->second) return false;
  for (std::size_t held = each->second - (address - each->first); held < size; held += each->second) {
    ++each;
    if (each == memory.reservations.end() || each->first != address + held) return false;
  }
  return true;
}

/// The mappings that make up exactly this range; empty if they do not.
std::vector<std::uintptr_t> mappings_of(const VirtualMemory& memory, std::uintptr_t address, std::size_t size) {
  std::vector<std::uintptr_t> found;
  std::uintptr_t next = address;
  for (auto each = memory.mappings.find(address); each != memory.mappings.end() && next < address + size; ++each) {
    if (each->first != next) return {};
    found.push_back(next);
    next += each->second.size;
  }
  return next == address + size ? found : std::vector<std::uintptr_t>{};
}

bool is_host(CUmemLocationType type) {
  return type == CU_MEM_LOCATION_TYPE_HOST || type == CU_MEM_LOCATION_TYPE_HOST_NUMA ||
         type == CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT;
}

Allocation describe(std::uintptr_t address, const Mapping& mapping) {
  Allocation allocation;
  allocation.base = address;
  allocation.size = mapping.size;
  const CUmemLocation& location = mapping.memory->properties.location;
  allocation.kind = is_host(location.type) ? Allocation::Kind::Host : Allocation::Kind::Device;
  allocation.device = location.type == CU_MEM_LOCATION_TYPE_DEVICE ? location.id : 0;
  allocation.origin = Allocation::Origin::Mapping;
  return allocation;
}

int protection_of(const Mapping& mapping) {
  int protection = PROT_NONE;
  for (const auto& [location, flags] : mapping.access) {
    if (flags == CU_MEM_ACCESS_FLAGS_PROT_READ) protection |= PROT_READ;
    if (flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE) protection |= PROT_READ | PROT_WRITE;
  }
  return protection;
}

CUmemGenericAllocationHandle insert(VirtualMemory& memory, std::shared_ptr<Physical> physical) {
  const CUmemGenericAllocationHandle handle = memory.next_handle;
  memory.next_handle += 16;
  memory.physical[handle] = {std::move(physical), 1};
  return handle;
}

}  // namespace

Result<void> check_allocation_properties(const CUmemAllocationProp& properties) {
  if (properties.type != CU_MEM_ALLOCATION_TYPE_PINNED) return ErrorCode::InvalidValue;
  if ((properties.requestedHandleTypes & (CU_MEM_HANDLE_TYPE_WIN32 | CU_MEM_HANDLE_TYPE_WIN32_KMT)) != 0)
    return ErrorCode::InvalidValue;  // of another operating system
  if (properties.allocFlags.compressionType > CU_MEM_ALLOCATION_COMP_GENERIC) return ErrorCode::InvalidValue;
  if (properties.requestedHandleTypes != CU_MEM_HANDLE_TYPE_NONE &&
      properties.requestedHandleTypes != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR)
    return ErrorCode::NotSupported;
  const CUmemLocation& location = properties.location;
  switch (location.type) {
    case CU_MEM_LOCATION_TYPE_DEVICE:
      return find_device(location.id) ? Result<void>() : ErrorCode::InvalidDevice;
    case CU_MEM_LOCATION_TYPE_HOST:  // memory of the host as a whole cannot be shared, that of a NUMA node can
      return properties.requestedHandleTypes == CU_MEM_HANDLE_TYPE_NONE ? Result<void>() : ErrorCode::InvalidValue;
    case CU_MEM_LOCATION_TYPE_HOST_NUMA:
      return location.id == host_node ? Result<void>() : ErrorCode::InvalidValue;
    default:
      return ErrorCode::InvalidValue;
  }
}

Result<CUmemGenericAllocationHandle> create_physical_memory(const CUmemAllocationProp& properties, std::size_t size) {
  if (size == 0 || !is_multiple(size)) return ErrorCode::InvalidValue;
  if (Result<void> checked = check_allocation_properties(properties); !checked) return std::move(checked).failure();
  const Device& device =
      *find_device(properties.location.type == CU_MEM_LOCATION_TYPE_DEVICE ? properties.location.id : 0);
  if (!has_room(device, size)) return ErrorCode::OutOfMemory;
  const int file = memfd_create("cucore memory", MFD_CLOEXEC);
  if (file < 0) return ErrorCode::OutOfMemory;
  if (ftruncate(file, static_cast<off_t>(size)) != 0) {
    close(file);
    return ErrorCode::OutOfMemory;
  }
  auto physical = std::make_shared<Physical>(file, size, properties);
  const std::lock_guard lock(self().mutex);
  return insert(self(), std::move(physical));
}

Result<void> release_physical_memory(CUmemGenericAllocationHandle handle) {
  const std::lock_guard lock(self().mutex);
  const auto found = self().physical.find(handle);
  if (found == self().physical.end()) return ErrorCode::InvalidValue;
  if (--found->second.count == 0) self().physical.erase(found);
  return {};
}

Result<CUmemAllocationProp> properties_of_physical_memory(CUmemGenericAllocationHandle handle) {
  const std::lock_guard lock(self().mutex);
  const auto found = self().physical.find(handle);
  if (found == self().physical.end()) return ErrorCode::InvalidValue;
  return found->second.memory->properties;
}

Result<int> export_physical_memory(CUmemGenericAllocationHandle handle) {
  const std::lock_guard lock(self().mutex);
  const auto found = self().physical.find(handle);
  if (found == self().physical.end()) return ErrorCode::InvalidValue;
  const Physical& memory = *found->second.memory;
  if (memory.properties.requestedHandleTypes != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR)
    return ErrorCode::InvalidValue;
  const int file = fcntl(memory.file, F_DUPFD_CLOEXEC, 0);
  return file >= 0 ? Result<int>(file) : ErrorCode::OperatingSystem;
}

Result<CUmemGenericAllocationHandle> import_physical_memory(int file) {
  struct stat status{};
  if (fstat(file, &status) != 0 || status.st_size <= 0 || !is_multiple(static_cast<std::size_t>(status.st_size)))
    return ErrorCode::InvalidValue;
  const int own = fcntl(file, F_DUPFD_CLOEXEC, 0);
  if (own < 0) return ErrorCode::OperatingSystem;
  CUmemAllocationProp properties{};
  properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
  properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
  auto physical = std::make_shared<Physical>(own, static_cast<std::size_t>(status.st_size), properties);
  const std::lock_guard lock(self().mutex);
  return insert(self(), std::move(physical));
}

Result<std::uintptr_t> reserve_addresses(std::size_t size, std::size_t alignment, std::uintptr_t hint) {
  if (size == 0 || !is_multiple(size) || (alignment & (alignment - 1)) != 0 || hint % page_bytes != 0)
    return ErrorCode::InvalidValue;
  const std::uintptr_t base =
      AddressSpace::instance().reserve(size, std::max(alignment, virtual_memory_granularity), hint);
  if (base == 0) return ErrorCode::OutOfMemory;
  const std::lock_guard lock(self().mutex);
  self().reservations[base] = size;
  return base;
}

Result<void> free_addresses(std::uintptr_t address, std::size_t size) {
  const std::lock_guard lock(self().mutex);
  // One reservation, or several that follow each other: programs grow by reserving behind what they have.
  std::uintptr_t next = address;
  auto end = self().reservations.find(address);
  for (; end != self().reservations.end() && end->first == next && next < address + size; ++end) next += end->second;
  if (size == 0 || next != address + size) return ErrorCode::InvalidValue;
  const auto mapped = self().mappings.lower_bound(address);
  if (mapped != self().mappings.end() && mapped->first < address + size) return ErrorCode::InvalidValue;
  self().reservations.erase(self().reservations.find(address), end);
  AddressSpace::instance().unreserve(address, size);
  return {};
}

Result<void> map_memory(std::uintptr_t address, std::size_t size, std::size_t offset,
                        CUmemGenericAllocationHandle handle) {
  if (size == 0 || !is_multiple(size) || !is_multiple(offset) || !is_multiple(address)) return ErrorCode::InvalidValue;
  const std::lock_guard lock(self().mutex);
  const auto found = self().physical.find(handle);
  if (found == self().physical.end() || !is_reserved(self(), address, size)) return ErrorCode::InvalidValue;
  const std::shared_ptr<Physical> memory = found->second.memory;
  if (offset > memory->size || size > memory->size - offset) return ErrorCode::InvalidValue;
  auto next = self().mappings.lower_bound(address);
  if (next != self().mappings.end() && next->first < address + size) return ErrorCode::InvalidValue;
  if (next != self().mappings.begin() && std::prev(next)->first + std::prev(next)->second.size > address)
    return ErrorCode::InvalidValue;
  if (!AddressSpace::map_file(address, size, memory->file, offset, false)) return ErrorCode::OutOfMemory;
  Mapping& mapping = self().mappings[address];
  mapping = {size, memory, handle, {}};
  enter_allocation(describe(address, mapping));
  return {};
}

Result<void> unmap_memory(std::uintptr_t address, std::size_t size) {
  const std::lock_guard lock(self().mutex);
  if (size == 0 || address + size < address || !is_reserved(self(), address, 1)) return ErrorCode::InvalidValue;
  // Whole mappings only; where nothing is mapped there is nothing to do.
  const auto first = self().mappings.lower_bound(address);
  const auto end = self().mappings.lower_bound(address + size);
  if (first != self().mappings.begin() && std::prev(first)->first + std::prev(first)->second.size > address)
    return ErrorCode::InvalidValue;
  if (first != end && std::prev(end)->first + std::prev(end)->second.size > address + size)
    return ErrorCode::InvalidValue;
  for (auto each = first; each != end; ++each) {
    forget_allocation(each->first);
    AddressSpace::unmap(each->first, each->second.size);
  }
  self().mappings.erase(first, end);
  return {};
}

Result<void> set_memory_access(std::uintptr_t address, std::size_t size, const CUmemAccessDesc* descriptions,
                               std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    const CUmemAccessDesc& each = descriptions[i];
    if (each.location.type == CU_MEM_LOCATION_TYPE_DEVICE && !find_device(each.location.id))
      return ErrorCode::InvalidValue;
    if ((each.location.type != CU_MEM_LOCATION_TYPE_DEVICE && each.location.type != CU_MEM_LOCATION_TYPE_HOST &&
         each.location.type != CU_MEM_LOCATION_TYPE_HOST_NUMA) ||
        (each.flags != CU_MEM_ACCESS_FLAGS_PROT_NONE && each.flags != CU_MEM_ACCESS_FLAGS_PROT_READ &&
         each.flags != CU_MEM_ACCESS_FLAGS_PROT_READWRITE))
      return ErrorCode::InvalidValue;
  }
  const std::lock_guard lock(self().mutex);
  const std::vector<std::uintptr_t> found = mappings_of(self(), address, size);
  if (found.empty()) return ErrorCode::InvalidValue;
  const bool is_for_host =
      std::any_of(descriptions, descriptions + count, [](const auto& each) { return is_host(each.location.type); });
  for (const std::uintptr_t base : found) {
    Mapping& mapping = self().mappings[base];
    if (is_for_host && !is_host(mapping.memory->properties.location.type)) return ErrorCode::NotSupported;
    for (std::size_t i = 0; i < count; ++i)
      mapping.access[{descriptions[i].location.type, descriptions[i].location.id}] = descriptions[i].flags;
    if (mprotect(reinterpret_cast<void*>(base), mapping.size, protection_of(mapping)) != 0)
      return ErrorCode::OperatingSystem;
  }
  return {};
}

Result<CUmemAccess_flags> memory_access(std::uintptr_t address, const CUmemLocation& location) {
  if (!is_host(location.type) && (location.type != CU_MEM_LOCATION_TYPE_DEVICE || !find_device(location.id)))
    return ErrorCode::InvalidDevice;
  const std::lock_guard lock(self().mutex);
  auto after = self().mappings.upper_bound(address);
  if (after == self().mappings.begin()) return ErrorCode::InvalidValue;
  const auto& [base, mapping] = *std::prev(after);
  if (address - base >= mapping.size) return ErrorCode::InvalidValue;
  const auto found = mapping.access.find({location.type, location.id});
  return found == mapping.access.end() ? CU_MEM_ACCESS_FLAGS_PROT_NONE : found->second;
}

Result<CUmemGenericAllocationHandle> retain_physical_memory(std::uintptr_t address) {
  const std::lock_guard lock(self().mutex);
  auto after = self().mappings.upper_bound(address);
  if (after == self().mappings.begin()) return ErrorCode::InvalidValue;
  const auto& [base, mapping] = *std::prev(after);
  if (address - base >= mapping.size) return ErrorCode::InvalidValue;
  const auto known = self().physical.find(mapping.handle);
  if (known != self().physical.end())
    ++known->second.count;
  else
    self().physical[mapping.handle] = {mapping.memory, 1};  // released, but alive as long as it is mapped
  return mapping.handle;
}

}  // namespace cucore::cpu::runtime
