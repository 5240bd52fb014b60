// Gives memory of each kind, and takes it back: see memory.hpp.
#include "cpu/runtime/memory/memory.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "cpu/runtime/address_space/shadow.hpp"
#include "cpu/runtime/memory/graph_memory.hpp"
#include "cpu/runtime/memory/memory_pool.hpp"
#include "cpu/runtime/memory/shared_memory.hpp"
#include "cpu/runtime/objects/context.hpp"
#include "cpu/runtime/objects/device.hpp"
#include "cpu/runtime/objects/stream.hpp"
#include "cpu/runtime/process/mapped_memory.hpp"
#include "cpu/runtime/process/process.hpp"

namespace cucore::cpu::runtime {

namespace {

using Origin = Allocation::Origin;

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

Result<std::uintptr_t> allocate_entry(Allocation allocation) {
  const Device& device = *find_device(allocation.device);
  if (!has_room(device, allocation.size)) return ErrorCode::OutOfMemory;
  const std::uintptr_t base =
      AddressSpace::instance().allocate(allocation.size + shadow::redzone(allocation.size), allocation.heap());
  if (base == 0) return ErrorCode::OutOfMemory;
  allocation.base = base;
  enter_allocation(std::move(allocation));
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
  if (const auto allocation = forget_allocation(address)) give_back(*allocation);
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
  if (const auto allocation = forget_allocation(address, std::move(freed_at))) give_back(*allocation);
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
  const auto allocation = allocation_at(address);
  if (!allocation || allocation->origin != Origin::KernelHeap) return false;
  const auto withdrawn = forget_allocation(address, std::move(freed_at));
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

Result<void> free_device(Context& context, std::uintptr_t address) {
  if (address == 0) return {};
  const auto allocation = allocation_at(address);
  if (!allocation || !allocation->is_device_memory() || !allocation->may_be_freed()) return ErrorCode::InvalidValue;
  // Work in flight may still use the memory: wait for the context it belongs to.
  Context& owner = allocation->context ? *allocation->context : context;
  if (Result<void> error = owner.synchronize(); !error) return error;
  if (allocation->origin == Origin::GraphNode) return end_graph_use(address);
  const auto withdrawn = forget_allocation(address, shadow::caller());
  if (!withdrawn) return ErrorCode::InvalidValue;
  give_back(*withdrawn);
  return {};
}

Result<void> free_host(Context& context, std::uintptr_t address) {
  if (address == 0) return {};
  const auto allocation = allocation_at(address);
  if (!allocation || allocation->kind != Allocation::Kind::Host) return ErrorCode::InvalidValue;
  Context& owner = allocation->context ? *allocation->context : context;
  owner.wait();
  const auto withdrawn = forget_allocation(address);
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
  if (!is_accessible(address, size, (flags & CU_MEMHOSTREGISTER_READ_ONLY) == 0)) return ErrorCode::InvalidValue;
  Allocation allocation;
  allocation.base = address;
  allocation.size = size;
  allocation.kind = Allocation::Kind::Registered;
  allocation.context = &context.home();
  allocation.device = context.device().ordinal();
  allocation.flags = flags;
  return enter_host_memory(std::move(allocation)) ? Result<void>() : ErrorCode::HostMemoryAlreadyRegistered;
}

Result<void> unregister_host(std::uintptr_t address) {
  const auto allocation = allocation_at(address);
  // As an H100's driver tells them apart: null and addresses inside a range never began one.
  if (!allocation)
    return address == 0 || find_allocation(address) ? ErrorCode::InvalidValue : ErrorCode::HostMemoryNotRegistered;
  if (allocation->kind != Allocation::Kind::Registered) return ErrorCode::InvalidValue;
  if (allocation->context) allocation->context->wait();
  return forget_allocation(address) ? Result<void>() : ErrorCode::HostMemoryNotRegistered;
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
  enter_allocation(std::move(allocation));
  return base;
}

Result<void> free_async(std::uintptr_t address, Stream& stream) {
  if (address == 0) return {};
  if (const auto graph_memory = find_graph_allocation(address)) {
    if (!graph_memory->is_live()) return ErrorCode::InvalidValue;
    graph_memory->set_live(false);  // the memory stays the graph's and is not reused meanwhile
    return {};
  }
  if (!note_freed(address)) return ErrorCode::InvalidValue;
  const auto release = [address, freed_at = shadow::caller()] {
    if (const auto allocation = forget_allocation(address, freed_at)) give_back(*allocation);
  };
  if (!stream.run_if_ready(release))
    stream.enqueue(make_work([release](const Result<void>&) { release(); }, Work::Runner::Briefly));
  return {};
}

std::size_t free_memory(const Device& device) {
  const std::size_t used = used_memory(device.ordinal());
  return device.usable_memory() - std::min(device.usable_memory(), used);
}

bool has_room(const Device& device, std::size_t size) {
  constexpr std::size_t large = std::size_t{16} << 20;  // filling this much takes far longer than the query
  return size <= free_memory(device) && (size < large || size <= host_memory().available);
}

void free_memory_of(const Context& context) {
  for (const std::uintptr_t base : allocations_of(context))
    if (const auto allocation = forget_allocation(base)) give_back(*allocation);
}

}  // namespace cucore::cpu::runtime
