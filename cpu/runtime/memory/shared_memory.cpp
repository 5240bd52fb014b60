// Memory between processes: see shared_memory.hpp. In the upper half of the file of shared memory stands, for every
// 512 bytes of the lower half, which allocation begins there: so a handle that is out of date opens nothing.
#include "cpu/runtime/memory/shared_memory.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <map>
#include <mutex>
#include <tuple>

#include "cpu/runtime/address_space/address_space.hpp"
#include "cpu/runtime/address_space/shadow.hpp"
#include "cpu/runtime/objects/context.hpp"
#include "cpu/runtime/objects/device.hpp"
#include "cpu/runtime/process/shared_file.hpp"

namespace cucore::cpu::runtime {

namespace {

constexpr std::uint64_t memory_magic = 0x79726f6d656d6375;
constexpr std::size_t allocation_granule = 512;

/// What CUipcMemHandle holds.
struct MemoryHandle {
  std::uint64_t magic;
  SharedFileName file;
  std::uint64_t offset;
  std::uint64_t buffer_id;
  std::int32_t device;
  std::int32_t zeros[3];
};
static_assert(sizeof(MemoryHandle) == sizeof(CUipcMemHandle));

bool is_well_formed(const MemoryHandle& handle) {
  const auto& zeros = handle.zeros;
  return handle.magic == memory_magic && find_device(handle.device) &&
         std::all_of(std::begin(zeros), std::end(zeros), [](std::int32_t each) { return each == 0; });
}

/// An allocation in the file's upper half; a buffer id of 0: none.
struct Listed {
  std::uint64_t buffer_id = 0;
  std::uint64_t size = 0;
};

std::size_t place_of_listed(std::size_t space, std::size_t offset) {
  return space + offset / allocation_granule * sizeof(Listed);
}

bool list(int file, std::size_t offset, const Listed& entry) {
  const AddressSpace& space = AddressSpace::instance();
  const auto place = static_cast<off_t>(place_of_listed(space.end() - space.begin(), offset));
  return pwrite(file, &entry, sizeof entry, place) == static_cast<ssize_t>(sizeof entry);
}

/// Which mapping a handle means in a context.
using Key = std::tuple<const Context*, std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t>;

struct Opened {
  std::mutex mutex;
  std::map<Key, std::uintptr_t> addresses;
  std::map<std::uintptr_t, std::pair<Key, unsigned int>> uses;  ///< how often it was opened, by address

  /// Forgets an address; the next to open its memory gets another one.
  void forget(std::uintptr_t address) {
    const auto found = uses.find(address);
    if (found == uses.end()) return;
    addresses.erase(found->second.first);
    uses.erase(found);
  }
};

Opened& opened() {
  static auto* instance = new Opened;
  return *instance;
}

/// What the handle's file says of the handle's memory; nothing if it is not there any more.
Listed find_listed(const File& file, const MemoryHandle& handle) {
  Listed entry;
  const std::size_t space = file.size() / 2;
  if (handle.offset % allocation_granule != 0 || handle.offset >= space) return {};
  const auto place = static_cast<off_t>(place_of_listed(space, handle.offset));
  if (pread(file.number(), &entry, sizeof entry, place) != static_cast<ssize_t>(sizeof entry)) return {};
  const bool is_it = entry.buffer_id == handle.buffer_id && entry.size != 0 && entry.size <= space - handle.offset;
  return is_it ? entry : Listed{};
}

}  // namespace

bool is_shareable(const Allocation& allocation) {
  return allocation.kind == Allocation::Kind::Device && !allocation.pool &&
         allocation.origin == Allocation::Origin::Call;
}

Result<CUipcMemHandle> share_memory(std::uintptr_t address) {
  const auto allocation = find_allocation(address);
  if (!allocation || !is_shareable(*allocation)) return ErrorCode::InvalidValue;
  AddressSpace& space = AddressSpace::instance();
  const int file = space.share(allocation->base, allocation->size + shadow::redzone(allocation->size));
  const auto name = name_of_file(file);
  if (!name) return ErrorCode::OutOfMemory;
  const std::size_t offset = allocation->base - space.begin();
  if (!list(file, offset, {allocation->buffer_id, allocation->size})) return ErrorCode::OutOfMemory;
  change_allocation(allocation->base, [](Allocation& each, const void*) { each.is_shared = true; }, nullptr);
  const MemoryHandle made{memory_magic, *name, offset, allocation->buffer_id, allocation->device, {}};
  CUipcMemHandle handle;
  std::memcpy(&handle, &made, sizeof made);
  return handle;
}

void end_sharing(const Allocation& allocation) {
  AddressSpace& space = AddressSpace::instance();
  const int file = space.share(allocation.base, allocation.size + shadow::redzone(allocation.size));  // where it is
  list(file, allocation.base - space.begin(), {});
}

Result<std::uintptr_t> open_memory(Context& context, const CUipcMemHandle& handle) {
  MemoryHandle given{};
  std::memcpy(&given, &handle, sizeof given);
  if (!is_well_formed(given)) return ErrorCode::InvalidValue;
  const File file(open_shared_file(given.file));
  const Listed entry = find_listed(file, given);
  if (entry.buffer_id == 0) return ErrorCode::InvalidValue;
  if (given.file.is_own()) return ErrorCode::InvalidContext;

  const Key key{&context.home(), given.file.volume, given.file.inode, given.offset, given.buffer_id};
  const std::lock_guard lock(opened().mutex);
  if (const auto known = opened().addresses.find(key); known != opened().addresses.end()) {
    ++opened().uses[known->second].second;
    return known->second;
  }
  const std::uintptr_t base = AddressSpace::instance().map_part(file.number(), given.offset, entry.size);
  if (base == 0) return ErrorCode::MapFailed;
  Allocation allocation;
  allocation.base = base;
  allocation.size = entry.size;
  allocation.context = &context.home();
  allocation.device = given.device;
  allocation.origin = Allocation::Origin::OtherProcess;
  opened().addresses[key] = allocation.base;
  opened().uses[allocation.base] = {key, 1};
  enter_allocation(std::move(allocation));
  return base;
}

Result<void> close_memory(std::uintptr_t address) {
  const auto allocation = find_allocation(address);
  if (!allocation || allocation->origin != Allocation::Origin::OtherProcess || allocation->base != address)
    return ErrorCode::InvalidValue;
  // Work in flight may still use the memory.
  if (Result<void> error = allocation->context->synchronize(); !error) return error;
  {
    const std::lock_guard lock(opened().mutex);
    const auto found = opened().uses.find(address);
    if (found == opened().uses.end()) return ErrorCode::InvalidValue;
    if (--found->second.second != 0) return {};
    opened().forget(address);
  }
  const auto withdrawn = forget_allocation(address);
  if (!withdrawn) return ErrorCode::InvalidValue;
  unmap_opened_memory(*withdrawn);
  return {};
}

void unmap_opened_memory(const Allocation& allocation) {
  {
    const std::lock_guard lock(opened().mutex);
    opened().forget(allocation.base);
  }
  AddressSpace::instance().unmap_part(allocation.base, allocation.size);
}

}  // namespace cucore::cpu::runtime
