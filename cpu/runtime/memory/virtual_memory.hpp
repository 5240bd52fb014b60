// Virtual memory management: physical memory (a file of its own), reserved addresses, and mappings of one at the other.
// Thread-safe.
#pragma once

#include <cuda.h>

#include <cstddef>
#include <cstdint>
#include <memory>

namespace cucore::cpu::runtime {

/// All sizes, offsets and alignments are multiples of it.
inline constexpr std::size_t kVirtualMemoryGranularity = std::size_t{2} << 20;

CUresult check_allocation_properties(const CUmemAllocationProp& properties);

CUresult create_physical_memory(const CUmemAllocationProp& properties, std::size_t size,
                                CUmemGenericAllocationHandle* handle);
/// Drops a reference; mappings hold others.
CUresult release_physical_memory(CUmemGenericAllocationHandle handle);
CUresult properties_of_physical_memory(CUmemGenericAllocationHandle handle, CUmemAllocationProp* properties);
CUresult export_physical_memory(CUmemGenericAllocationHandle handle, int* file);
CUresult import_physical_memory(int file, CUmemGenericAllocationHandle* handle);

CUresult reserve_addresses(std::size_t size, std::size_t alignment, std::uintptr_t hint, std::uintptr_t* address);
CUresult free_addresses(std::uintptr_t address, std::size_t size);

CUresult map_memory(std::uintptr_t address, std::size_t size, std::size_t offset, CUmemGenericAllocationHandle handle);
/// The range must be made of whole mappings.
CUresult unmap_memory(std::uintptr_t address, std::size_t size);
CUresult set_memory_access(std::uintptr_t address, std::size_t size, const CUmemAccessDesc* descriptions,
                           std::size_t count);
CUresult memory_access(std::uintptr_t address, const CUmemLocation& location, unsigned long long* flags);
/// One more reference to what is mapped at an address.
CUresult retain_physical_memory(std::uintptr_t address, CUmemGenericAllocationHandle* handle);

}  // namespace cucore::cpu::runtime
