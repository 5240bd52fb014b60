// Virtual memory management: physical memory (a file of its own), reserved addresses, and mappings of one at the other.
// Thread-safe.
#pragma once

#include <cuda.h>

#include <cstddef>
#include <cstdint>
#include <memory>

#include "cpu/error/result.hpp"

namespace cucore::cpu::runtime {

/// All sizes, offsets and alignments are multiples of it.
inline constexpr std::size_t virtual_memory_granularity = std::size_t{2} << 20;

Result<void> check_allocation_properties(const CUmemAllocationProp& properties);

Result<CUmemGenericAllocationHandle> create_physical_memory(const CUmemAllocationProp& properties, std::size_t size);
/// Drops a reference; mappings hold others.
Result<void> release_physical_memory(CUmemGenericAllocationHandle handle);
Result<CUmemAllocationProp> properties_of_physical_memory(CUmemGenericAllocationHandle handle);
/// A file descriptor, which the caller closes.
Result<int> export_physical_memory(CUmemGenericAllocationHandle handle);
Result<CUmemGenericAllocationHandle> import_physical_memory(int file);

Result<std::uintptr_t> reserve_addresses(std::size_t size, std::size_t alignment, std::uintptr_t hint);
Result<void> free_addresses(std::uintptr_t address, std::size_t size);

Result<void> map_memory(std::uintptr_t address, std::size_t size, std::size_t offset,
                        CUmemGenericAllocationHandle handle);
/// The range must be made of whole mappings.
Result<void> unmap_memory(std::uintptr_t address, std::size_t size);
Result<void> set_memory_access(std::uintptr_t address, std::size_t size, const CUmemAccessDesc* descriptions,
                               std::size_t count);
Result<CUmemAccess_flags> memory_access(std::uintptr_t address, const CUmemLocation& location);
/// One more reference to what is mapped at an address.
Result<CUmemGenericAllocationHandle> retain_physical_memory(std::uintptr_t address);

}  // namespace cucore::cpu::runtime
