// Allocations: see memory.hpp.
#include "cpu/runtime/memory/memory.hpp"

#include <atomic>
#include <iterator>
#include <map>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <utility>
#include <vector>

#include "cpu/runtime/address_space/shadow.hpp"
#include "cpu/runtime/memory/graph_memory.hpp"
#include "cpu/runtime/memory/memory_pool.hpp"
#include "cpu/runtime/memory/shared_memory.hpp"
#include "cpu/runtime/objects/context.hpp"
#include "cpu/runtime/objects/device.hpp"
#include "cpu/runtime/objects/stream.hpp"
#include "cpu/runtime/process/live_objects.hpp"
#include "cpu/runtime/process/process.hpp"

namespace cucore::cpu::runtime {

namespace {

using Origin = Allocation::Origin;

struct Allocations {
  std::shared_mutex mutex;
  std::map<std::uintptr_t, Allocation> by_base;
  std::map<int, std::size_t> used;  ///< by device, Device and Managed kinds
  std::uint64_t next_buffer_id = 1;

  std::map<std::uintptr_t, Allocation>::iterator find(std::uintptr_t address) {
    auto after = by_base.upper_bound(address);
    if (after == by_base.begin()) return by_base.end();
    const auto candidate = std::prev(after);
    return address - candidate->first < candidate->second.size ? candidate : by_base.end();
  }
  /// Null if it is freed too.
  const Allocation* live(std::uintptr_t address) {
    const auto found = find(address);
    return found == by_base.end() || found->second.is_freed ? nullptr : &found->second;
  }
};

Allocations& allocations() {
  static auto* instance = new Allocations;
  return *instance;
}

bool counts_as_device_memory(const Allocation& allocation) {
  return allocation.kind == Allocation::Kind::Device || allocation.kind == Allocation::Kind::Managed;
}

/// By cuMemFree and cuMemFreeAsync.
bool may_be_freed(const Allocation& allocation) {
  return !allocation.is_module_memory() && allocation.origin != Origin::Mapping &&
         allocation.origin != Origin::OtherProcess;
}

/// For live_objects; null: not the program's to give back.
const char* kind_name(const Allocation& allocation) {
  if (allocation.is_module_memory() || allocation.is_freed) return nullptr;
  if (allocation.origin == Origin::Mapping) return "mapping";
  if (allocation.origin == Origin::OtherProcess) return "memory of another process";
  if (allocation.origin == Origin::External) return "buffer of external memory";
  switch (allocation.kind) {
    case Allocation::Kind::Device:
      return allocation.pool ? "pool memory" : "device memory";
    case Allocation::Kind::Host:
      return "host memory";
    case Allocation::Kind::Managed:
      return "managed memory";
    case Allocation::Kind::Registered:
      return "registered memory";
  }
  return nullptr;
}

/// For the checker: what kernels can reach, and whether it counts as written from the start. Hosts write theirs unseen.
void show_to_checker(const Allocation& allocation) {
  if (!shadow::is_open()) return;
  const Origin origin = allocation.origin;
  const bool is_fresh = origin == Origin::Call || origin == Origin::Array || origin == Origin::KernelHeap;
  shadow::allow(allocation.base, allocation.size, allocation.kind != Allocation::Kind::Device || !is_fresh);
  const char* const kind = kind_name(allocation);
  const bool is_heap = origin == Origin::KernelHeap;
  shadow::note_allocation(allocation.base, allocation.size,
                          kind                      ? kind
                          : is_heap                 ? "the kernel's heap"
                          : origin == Origin::Array ? "a CUDA array"
                                                    : "a module's variable",
                          is_heap ? allocation.made_at : shadow::caller(), is_heap);
}

/// Enters a new allocation into the table.
void publish(Allocation allocation) {
  show_to_checker(allocation);
  if (const char* kind = kind_name(allocation)) live_objects::made(kind, allocation.base);
  Allocations& self = allocations();
  const std::unique_lock lock(self.mutex);
  allocation.buffer_id = self.next_buffer_id++;
  if (counts_as_device_memory(allocation)) self.used[allocation.device] += allocation.size;
  self.by_base.insert_or_assign(allocation.base, std::move(allocation));
}

/// Gives memory back: pool memory to its pool, the rest to the address space. The entry is already gone.
void give_back(const Allocation& allocation) {
  if (allocation.kind == Allocation::Kind::Registered) return;
  if (allocation.origin == Origin::OtherProcess) return unmap_opened_memory(allocation);
  if (allocation.origin == Origin::External)
    return AddressSpace::instance().unmap_part(allocation.base, allocation.size);
  if (allocation.is_shared) end_sharing(allocation);
  if (allocation.pool)
    allocation.pool->give_back(allocation.base, allocation.size);
  else
    AddressSpace::instance().release(allocation.base, allocation.size + shadow::redzone(allocation.size),
                                     allocation.heap());
}

/// Removes the entry at exactly `base`; nothing if there is none. `freed_at`: shadow::caller() of who freed it.
std::optional<Allocation> withdraw(std::uintptr_t base, std::string freed_at = {}) {
  Allocations& self = allocations();
  const std::unique_lock lock(self.mutex);
  const auto found = self.by_base.find(base);
  if (found == self.by_base.end()) return std::nullopt;
  Allocation allocation = std::move(found->second);
  self.by_base.erase(found);
  if (counts_as_device_memory(allocation)) self.used[allocation.device] -= allocation.size;
  if (const char* kind = kind_name(allocation)) live_objects::gone(kind, base);
  if (shadow::is_open()) {
    shadow::forbid(base, allocation.size);
    shadow::note_free(base, std::move(freed_at));
  }
  return allocation;
}

std::optional<Allocation> find_exact(std::uintptr_t base) {
  Allocations& self = allocations();
  const std::shared_lock lock(self.mutex);
  const auto found = self.by_base.find(base);
  if (found == self.by_base.end() || found->second.is_freed) return std::nullopt;
  return found->second;
}

Result<std::uintptr_t> allocate_entry(Allocation allocation) {
  const Device& device = *find_device(allocation.device);
  if (!has_room(device, allocation.size)) return ErrorCode::OutOfMemory;
  const std::uintptr_t base =
      AddressSpace::instance().allocate(allocation.size + shadow::redzone(allocation.size), allocation.heap());
  if (base == 0) return ErrorCode::OutOfMemory;
  allocation.base = base;
  publish(std::move(allocation));
  return base;
}

/// The use of a graph's allocation ends; its address stays the graph's.
Result<void> end_graph_use(std::uintptr_t address) {
  const auto allocation = find_graph_allocation(address);
  if (!allocation || !allocation->is_live()) return ErrorCode::InvalidValue;
  allocation->set_live(false);
  return {};
}

}  // namespace

std::optional<Allocation> find_allocation(std::uintptr_t address) {
  Allocations& self = allocations();
  const std::shared_lock lock(self.mutex);
  const Allocation* const found = self.live(address);
  return found ? std::optional(*found) : std::nullopt;
}

std::optional<Allocation> nearest_allocation(std::uintptr_t address) {
  constexpr std::uintptr_t far = std::uintptr_t{1} << 20;
  Allocations& self = allocations();
  const std::shared_lock lock(self.mutex);
  const auto after = self.by_base.upper_bound(address);
  const Allocation* nearest = nullptr;
  std::uintptr_t distance = far;
  if (after != self.by_base.end() && after->first - address < distance) {
    nearest = &after->second;
    distance = after->first - address;
  }
  if (after != self.by_base.begin()) {
    const Allocation& before = std::prev(after)->second;
    const std::uintptr_t end = before.base + before.size;
    if (address >= end && address - end < distance) nearest = &before;
  }
  if (nearest == nullptr) return std::nullopt;
  return *nearest;
}

bool change_allocation(std::uintptr_t address, void (*change)(Allocation&, const void*), const void* argument) {
  Allocations& self = allocations();
  const std::unique_lock lock(self.mutex);
  const auto found = self.find(address);
  if (found == self.by_base.end() || found->second.is_freed) return false;
  change(found->second, argument);
  return true;
}

Result<std::uintptr_t> allocate(Context& context, std::size_t size, Allocation::Kind kind, unsigned int flags) {
  if (size == 0) return ErrorCode::InvalidValue;
  Allocation allocation;
  allocation.size = size;
  allocation.kind = kind;
  allocation.context = &context.home();
  allocation.device = context.device().ordinal();
  allocation.flags = flags;
  allocation.sync_memops = kind == Allocation::Kind::Managed;
  return allocate_entry(std::move(allocation));
}

Result<std::uintptr_t> allocate_module_memory(Context& context, std::size_t size, bool managed) {
  Allocation allocation;
  allocation.kind = managed ? Allocation::Kind::Managed : Allocation::Kind::Device;
  allocation.size = size;
  allocation.context = &context.home();
  allocation.device = context.device().ordinal();
  allocation.origin = Origin::Variable;
  return allocate_entry(std::move(allocation));
}

void free_module_memory(std::uintptr_t address) {
  if (const auto allocation = withdraw(address)) give_back(*allocation);
}

Result<std::uintptr_t> allocate_array_memory(Context& context, std::size_t size) {
  Allocation allocation;
  allocation.size = size;
  allocation.context = &context.home();
  allocation.device = context.device().ordinal();
  allocation.origin = Origin::Array;
  return allocate_entry(std::move(allocation));
}

void free_array_memory(std::uintptr_t address, std::string freed_at) {
  if (const auto allocation = withdraw(address, std::move(freed_at))) give_back(*allocation);
}

Result<std::uintptr_t> allocate_heap_memory(Context& context, std::size_t size, std::string made_at) {
  Allocation allocation;
  allocation.made_at = std::move(made_at);
  allocation.size = size;
  allocation.context = &context.home();
  allocation.device = context.device().ordinal();
  allocation.origin = Origin::KernelHeap;
  return allocate_entry(std::move(allocation));
}

bool free_heap_memory(std::uintptr_t address, std::string freed_at) {
  const auto allocation = find_exact(address);
  if (!allocation || allocation->origin != Origin::KernelHeap) return false;
  const auto withdrawn = withdraw(address, std::move(freed_at));
  if (withdrawn) give_back(*withdrawn);
  return withdrawn.has_value();
}

Result<std::uintptr_t> allocate_graph_memory(const Device& device, std::size_t size, Allocation::Kind kind) {
  Allocation allocation;
  allocation.kind = kind;
  allocation.size = size;
  allocation.device = device.ordinal();
  allocation.origin = Origin::GraphNode;
  return allocate_entry(std::move(allocation));
}

void free_graph_memory(std::uintptr_t address) { free_module_memory(address); }

void enter_allocation(Allocation allocation) { publish(std::move(allocation)); }

std::optional<Allocation> forget_allocation(std::uintptr_t base) { return withdraw(base); }

Result<void> free_device(Context& context, std::uintptr_t address) {
  if (address == 0) return {};
  const auto allocation = find_exact(address);
  if (!allocation || !counts_as_device_memory(*allocation) || !may_be_freed(*allocation))
    return ErrorCode::InvalidValue;
  // Work in flight may still use the memory: wait for the context it belongs to.
  Context& owner = allocation->context ? *allocation->context : context;
  if (Result<void> error = owner.synchronize(); !error) return error;
  if (allocation->origin == Origin::GraphNode) return end_graph_use(address);
  const auto withdrawn = withdraw(address, shadow::caller());
  if (!withdrawn) return ErrorCode::InvalidValue;
  give_back(*withdrawn);
  return {};
}

Result<void> free_host(Context& context, std::uintptr_t address) {
  if (address == 0) return {};
  const auto allocation = find_exact(address);
  if (!allocation || allocation->kind != Allocation::Kind::Host) return ErrorCode::InvalidValue;
  Context& owner = allocation->context ? *allocation->context : context;
  owner.wait();
  const auto withdrawn = withdraw(address);
  if (!withdrawn) return ErrorCode::InvalidValue;
  give_back(*withdrawn);
  return {};
}

Result<void> register_host(Context& context, std::uintptr_t address, std::size_t size, unsigned int flags) {
  // Not IOMEMORY: ordinary memory is not a device's registers.
  constexpr unsigned int known_bits =
      CU_MEMHOSTREGISTER_PORTABLE | CU_MEMHOSTREGISTER_DEVICEMAP | CU_MEMHOSTREGISTER_READ_ONLY;
  if (address == 0 || size == 0 || (flags & ~known_bits) != 0 || address + size < address)
    return ErrorCode::InvalidValue;
  if (AddressSpace::instance().contains(address)) return ErrorCode::InvalidValue;
  Allocation allocation;
  allocation.base = address;
  allocation.size = size;
  allocation.kind = Allocation::Kind::Registered;
  allocation.context = &context.home();
  allocation.device = context.device().ordinal();
  allocation.flags = flags;
  Allocations& self = allocations();
  std::unique_lock lock(self.mutex);
  const auto next = self.by_base.lower_bound(address);
  if ((next != self.by_base.end() && next->first < address + size) || self.find(address) != self.by_base.end())
    return ErrorCode::HostMemoryAlreadyRegistered;
  allocation.buffer_id = self.next_buffer_id++;
  self.by_base.emplace(address, std::move(allocation));
  lock.unlock();
  live_objects::made("registered memory", address);
  return {};
}

Result<void> unregister_host(std::uintptr_t address) {
  const auto allocation = find_exact(address);
  if (!allocation) return ErrorCode::HostMemoryNotRegistered;
  if (allocation->kind != Allocation::Kind::Registered) return ErrorCode::InvalidValue;
  if (allocation->context) allocation->context->wait();
  return withdraw(address) ? Result<void>() : ErrorCode::HostMemoryNotRegistered;
}

Result<std::uintptr_t> allocate_async(Context& context, MemoryPool& pool, std::size_t size, Stream& stream) {
  (void)stream;  // memory is ready at once, so before the stream can use it
  if (size == 0) return std::uintptr_t{0};
  Result<std::uintptr_t> base = pool.take(size);
  if (!base) return base;
  Allocation allocation;
  allocation.base = *base;
  allocation.size = size;
  allocation.kind = pool.allocation_kind();
  allocation.sync_memops = allocation.kind == Allocation::Kind::Managed;
  allocation.device = pool.device_ordinal() >= 0 ? pool.device_ordinal() : context.device().ordinal();
  allocation.pool = pool.shared_from_this();
  publish(std::move(allocation));
  return base;
}

Result<void> free_async(std::uintptr_t address, Stream& stream) {
  if (address == 0) return {};
  if (const auto graph_memory = find_graph_allocation(address)) {
    if (!graph_memory->is_live()) return ErrorCode::InvalidValue;
    graph_memory->set_live(false);  // the memory stays the graph's and is not reused meanwhile
    return {};
  }
  {
    Allocations& self = allocations();
    const std::unique_lock lock(self.mutex);
    const auto found = self.by_base.find(address);
    if (found == self.by_base.end() || found->second.is_freed || !may_be_freed(found->second) ||
        !(counts_as_device_memory(found->second) || found->second.pool))
      return ErrorCode::InvalidValue;
    if (const char* kind = kind_name(found->second)) live_objects::gone(kind, address);
    found->second.is_freed = true;
  }
  const auto release = [address, freed_at = shadow::caller()] {
    if (const auto allocation = withdraw(address, freed_at)) give_back(*allocation);
  };
  if (!stream.run_if_ready(release))
    stream.enqueue(make_work([release](const Result<void>&) { release(); }, Work::Runner::Briefly));
  return {};
}

std::size_t free_memory(const Device& device) {
  Allocations& self = allocations();
  const std::shared_lock lock(self.mutex);
  const auto found = self.used.find(device.ordinal());
  const std::size_t used = found == self.used.end() ? 0 : found->second;
  return device.usable_memory() - std::min(device.usable_memory(), used);
}

bool has_room(const Device& device, std::size_t size) {
  constexpr std::size_t large = std::size_t{16} << 20;  // filling this much takes far longer than the query
  return size <= free_memory(device) && (size < large || size <= host_memory().available);
}

bool is_device_range(std::uintptr_t address, std::size_t size, Asked when) {
  Allocations& self = allocations();
  const std::shared_lock lock(self.mutex);
  const auto at = [&](std::uintptr_t place) -> const Allocation* {
    const auto found = self.find(place);
    const bool is_there = found != self.by_base.end() && (when == Asked::InTurn || !found->second.is_freed);
    return is_there ? &found->second : nullptr;
  };
  const Allocation* allocation = at(address);
  while (allocation && allocation->origin == Origin::Mapping &&
         size > allocation->size - (address - allocation->base)) {
    const std::size_t here = allocation->size - (address - allocation->base);
    address += here;
    size -= here;
    allocation = at(address);
    if (allocation && (allocation->origin != Origin::Mapping || allocation->base != address)) return false;
  }
  return allocation && size <= allocation->size - (address - allocation->base);
}

bool is_any_range(std::uintptr_t address, std::size_t size, Asked when) {
  if (is_device_range(address, size, when)) return true;
  // Registered memory is part of ordinary memory, which may continue beyond it.
  if (const auto allocation = find_allocation(address)) return allocation->kind == Allocation::Kind::Registered;
  return address != 0 && !AddressSpace::instance().contains(address);
}

void free_memory_of(const Context& context) {
  std::vector<std::uintptr_t> owned;
  {
    Allocations& self = allocations();
    const std::shared_lock lock(self.mutex);
    for (const auto& [base, allocation] : self.by_base)
      if (allocation.context == &context && !allocation.is_module_memory()) owned.push_back(base);
  }
  for (const std::uintptr_t base : owned)
    if (const auto allocation = withdraw(base)) give_back(*allocation);
}

}  // namespace cucore::cpu::runtime
