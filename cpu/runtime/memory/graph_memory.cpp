// Memory of graphs: see graph_memory.hpp.
#include "cpu/runtime/memory/graph_memory.hpp"

#include <algorithm>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "cpu/runtime/memory/memory.hpp"
#include "cpu/runtime/memory/memory_pool.hpp"
#include "cpu/runtime/objects/device.hpp"

namespace cucore::cpu::runtime {

namespace {

/// A device's memory of graphs.
struct Usage {
  std::uint64_t small = 0;         ///< bytes of mapped allocations that share chunks
  std::uint64_t large = 0;         ///< of those that have chunks of their own,
  std::uint64_t large_chunks = 0;  ///< and these
  std::uint64_t reserved = 0, reserved_high = 0, used_high = 0;

  std::uint64_t used() const { return whole_chunks(small + large); }
  std::uint64_t needed() const { return whole_chunks(small) + large_chunks; }

  void add(std::uint64_t size) {
    (size < chunk_of_memory ? small : large) += size;
    if (size >= chunk_of_memory) large_chunks += whole_chunks(size);
    used_high = std::max(used_high, used());
    reserved = std::max(reserved, needed());
    reserved_high = std::max(reserved_high, reserved);
  }
  void remove(std::uint64_t size) {
    (size < chunk_of_memory ? small : large) -= size;
    if (size >= chunk_of_memory) large_chunks -= whole_chunks(size);
  }
};

struct GraphMemory {
  std::mutex mutex;
  std::map<std::uintptr_t, std::weak_ptr<GraphAllocation>> by_address;
  std::map<const GraphAllocation*, std::shared_ptr<GraphAllocation>> live;  ///< kept until freed
  std::map<int, Usage> usage;
};

GraphMemory& graph_memory() {
  static auto* instance = new GraphMemory;
  return *instance;
}

}  // namespace

Result<std::shared_ptr<GraphAllocation>> GraphAllocation::create(const Device& device, int kind_of_memory,
                                                                 std::size_t size) {
  std::shared_ptr<GraphAllocation> allocation(new GraphAllocation(device.ordinal(), size));
  const auto kind = static_cast<Allocation::Kind>(kind_of_memory);
  Result<std::uintptr_t> address = allocate_graph_memory(device, size, kind);
  if (!address) return std::move(address).failure();
  allocation->address_ = *address;
  GraphMemory& self = graph_memory();
  const std::lock_guard lock(self.mutex);
  self.by_address[allocation->address_] = allocation;
  return allocation;
}

GraphAllocation::~GraphAllocation() {
  if (address_ == 0) return;
  {
    GraphMemory& self = graph_memory();
    const std::lock_guard lock(self.mutex);
    self.by_address.erase(address_);
    if (is_mapped_) self.usage[device_].remove(size_);
  }
  free_graph_memory(address_);
}

bool GraphAllocation::is_live() const {
  GraphMemory& self = graph_memory();
  const std::lock_guard lock(self.mutex);
  return self.live.contains(this);
}

void GraphAllocation::set_live(bool live) {
  std::shared_ptr<GraphAllocation> dropped;  // its destructor takes the lock
  GraphMemory& self = graph_memory();
  const std::lock_guard lock(self.mutex);
  const auto found = self.live.find(this);
  if (live && found == self.live.end()) {
    if (auto shared = self.by_address[address_].lock()) self.live.emplace(this, std::move(shared));
    if (!is_mapped_) self.usage[device_].add(size_);
    is_mapped_ = true;
  } else if (!live && found != self.live.end()) {
    dropped = std::move(found->second);
    self.live.erase(found);
  }
}

std::shared_ptr<GraphAllocation> find_graph_allocation(std::uintptr_t address) {
  GraphMemory& self = graph_memory();
  const std::lock_guard lock(self.mutex);
  const auto found = self.by_address.find(address);
  return found == self.by_address.end() ? nullptr : found->second.lock();
}

Result<std::uint64_t> graph_memory_attribute(const Device& device, CUgraphMem_attribute attribute) {
  GraphMemory& self = graph_memory();
  const std::lock_guard lock(self.mutex);
  const Usage& usage = self.usage[device.ordinal()];
  switch (attribute) {
    case CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT:
      return usage.used();
    case CU_GRAPH_MEM_ATTR_USED_MEM_HIGH:
      return usage.used_high;
    case CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT:
      return usage.reserved;
    case CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH:
      return usage.reserved_high;
    default:
      return ErrorCode::InvalidValue;
  }
}

Result<void> set_graph_memory_attribute(const Device& device, CUgraphMem_attribute attribute, const void* value) {
  GraphMemory& self = graph_memory();
  const std::lock_guard lock(self.mutex);
  Usage& usage = self.usage[device.ordinal()];
  if (*static_cast<const cuuint64_t*>(value) != 0) return ErrorCode::InvalidValue;  // can only be reset
  if (attribute == CU_GRAPH_MEM_ATTR_USED_MEM_HIGH)
    usage.used_high = usage.used();
  else if (attribute == CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH)
    usage.reserved_high = usage.reserved;
  else
    return ErrorCode::InvalidValue;
  return {};
}

void GraphAllocation::trim(const Device& device) {
  std::vector<std::shared_ptr<GraphAllocation>> seen;  // destructors take the lock
  GraphMemory& self = graph_memory();
  const std::lock_guard lock(self.mutex);
  Usage& usage = self.usage[device.ordinal()];
  for (const auto& [address, weak] : self.by_address) {
    auto allocation = weak.lock();
    if (!allocation || allocation->device_ != device.ordinal() || self.live.contains(allocation.get())) continue;
    if (std::exchange(allocation->is_mapped_, false)) usage.remove(allocation->size_);
    seen.push_back(std::move(allocation));
  }
  usage.reserved = usage.needed();
}

}  // namespace cucore::cpu::runtime
