// One map by address, under one lock: see allocation_table.hpp.
#include "cpu/runtime/memory/allocation_table.hpp"

#include <iterator>
#include <map>
#include <mutex>
#include <shared_mutex>
#include <utility>

#include "cpu/runtime/address_space/shadow.hpp"
#include "cpu/runtime/process/live_objects.hpp"

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

std::optional<Allocation> allocation_at(std::uintptr_t base) {
  Allocations& self = allocations();
  const std::shared_lock lock(self.mutex);
  const auto found = self.by_base.find(base);
  if (found == self.by_base.end() || found->second.is_freed) return std::nullopt;
  return found->second;
}

std::vector<std::uintptr_t> allocations_of(const Context& context) {
  std::vector<std::uintptr_t> owned;
  Allocations& self = allocations();
  const std::shared_lock lock(self.mutex);
  for (const auto& [base, allocation] : self.by_base)
    if (allocation.context == &context && !allocation.is_module_memory()) owned.push_back(base);
  return owned;
}

std::size_t used_memory(int device) {
  Allocations& self = allocations();
  const std::shared_lock lock(self.mutex);
  const auto found = self.used.find(device);
  return found == self.used.end() ? 0 : found->second;
}

void enter_allocation(Allocation allocation) {
  show_to_checker(allocation);
  if (const char* kind = kind_name(allocation)) live_objects::made(kind, allocation.base);
  Allocations& self = allocations();
  const std::unique_lock lock(self.mutex);
  allocation.buffer_id = self.next_buffer_id++;
  if (allocation.is_device_memory()) self.used[allocation.device] += allocation.size;
  self.by_base.insert_or_assign(allocation.base, std::move(allocation));
}

std::optional<Allocation> forget_allocation(std::uintptr_t base, std::string freed_at) {
  Allocations& self = allocations();
  const std::unique_lock lock(self.mutex);
  const auto found = self.by_base.find(base);
  if (found == self.by_base.end()) return std::nullopt;
  Allocation allocation = std::move(found->second);
  self.by_base.erase(found);
  if (allocation.is_device_memory()) self.used[allocation.device] -= allocation.size;
  if (const char* kind = kind_name(allocation)) live_objects::gone(kind, base);
  if (shadow::is_open()) {
    shadow::forbid(base, allocation.size);
    shadow::note_free(base, std::move(freed_at));
  }
  return allocation;
}

bool enter_host_memory(Allocation allocation) {
  const std::uintptr_t address = allocation.base;
  Allocations& self = allocations();
  std::unique_lock lock(self.mutex);
  const auto next = self.by_base.lower_bound(address);
  if ((next != self.by_base.end() && next->first < address + allocation.size) ||
      self.find(address) != self.by_base.end())
    return false;
  allocation.buffer_id = self.next_buffer_id++;
  self.by_base.emplace(address, std::move(allocation));
  lock.unlock();
  live_objects::made("registered memory", address);
  return true;
}

bool note_freed(std::uintptr_t base) {
  Allocations& self = allocations();
  const std::unique_lock lock(self.mutex);
  const auto found = self.by_base.find(base);
  if (found == self.by_base.end() || found->second.is_freed || !found->second.may_be_freed() ||
      !(found->second.is_device_memory() || found->second.pool))
    return false;
  if (const char* kind = kind_name(found->second)) live_objects::gone(kind, base);
  found->second.is_freed = true;
  return true;
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

}  // namespace cucore::cpu::runtime
