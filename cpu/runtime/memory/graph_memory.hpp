// Memory of graphs: an allocation node's address is fixed when the node is made, and the memory is allocated and freed
// each time the graph runs. Thread-safe.
#pragma once

#include <cuda.h>

#include <cstddef>
#include <cstdint>
#include <memory>

#include "cpu/error/result.hpp"

namespace cucore::cpu::runtime {

class Device;
class Stream;

class GraphAllocation {
 public:
  static Result<std::shared_ptr<GraphAllocation>> create(const Device& device, int kind_of_memory, std::size_t size);
  ~GraphAllocation();
  GraphAllocation(const GraphAllocation&) = delete;
  GraphAllocation& operator=(const GraphAllocation&) = delete;

  std::uintptr_t address() const { return address_; }
  /// Between the run of its node and that of a free (of a node, of cuMemFreeAsync or of cuMemFree).
  bool is_live() const;
  void set_live(bool live);

 private:
  GraphAllocation(int device, std::size_t size) : device_(device), size_(size) {}

  const int device_;
  const std::size_t size_;
  std::uintptr_t address_ = 0;
};

/// The allocation at exactly this address; null if it is none of a graph's.
std::shared_ptr<GraphAllocation> find_graph_allocation(std::uintptr_t address);

Result<std::uint64_t> graph_memory_attribute(const Device& device, CUgraphMem_attribute attribute);
Result<void> set_graph_memory_attribute(const Device& device, CUgraphMem_attribute attribute, const void* value);

}  // namespace cucore::cpu::runtime
