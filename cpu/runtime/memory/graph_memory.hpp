// Memory of graphs: an allocation node's address is fixed when the node is made, and the memory is allocated and freed
// each time the graph runs. Thread-safe.
//
// What a device says of it is counted as an H100's driver counts: an allocation uses memory from the first run of its
// node on, whether freed or not, until it is destroyed or cuDeviceGraphMemTrim finds it not allocated. Memory comes in
// chunks of 32 MiB, which small allocations share.
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
  /// cuDeviceGraphMemTrim: gives back the memory behind those of a device that are not live.
  static void trim(const Device& device);

 private:
  GraphAllocation(int device, std::size_t size) : device_(device), size_(size) {}

  const int device_;
  const std::size_t size_;
  bool is_mapped_ = false;  ///< has memory behind its address: from the first run of its node until a trim
  std::uintptr_t address_ = 0;
};

/// The allocation at exactly this address; null if it is none of a graph's.
std::shared_ptr<GraphAllocation> find_graph_allocation(std::uintptr_t address);

Result<std::uint64_t> graph_memory_attribute(const Device& device, CUgraphMem_attribute attribute);
Result<void> set_graph_memory_attribute(const Device& device, CUgraphMem_attribute attribute, const void* value);

}  // namespace cucore::cpu::runtime
