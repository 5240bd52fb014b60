// Memory of every kind, given and taken back. Thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "cpu/error/result.hpp"
#include "cpu/runtime/memory/allocation_table.hpp"

namespace cucore::cpu::runtime {

class Context;
class Device;
class MemoryPool;
class Stream;

Result<std::uintptr_t> allocate(Context& context, std::size_t size, Allocation::Kind kind, unsigned int flags);
/// Memory of a module's variable. Never cached, freed with the module.
Result<std::uintptr_t> allocate_module_memory(Context& context, std::size_t size, bool managed);
void free_module_memory(std::uintptr_t address);
/// Memory of a CUDA array. `freed_at`: shadow::caller() of who destroyed it.
Result<std::uintptr_t> allocate_array_memory(Context& context, std::size_t size);
void free_array_memory(std::uintptr_t address, std::string freed_at);
/// malloc and free of checked kernels, and where in the kernel. False: `address` is not such memory.
Result<std::uintptr_t> allocate_heap_memory(Context& context, std::size_t size, std::string made_at);
bool free_heap_memory(std::uintptr_t address, std::string freed_at);
/// Memory of a graph's allocation node, for graph_memory alone.
Result<std::uintptr_t> allocate_graph_memory(const Device& device, std::size_t size, Allocation::Kind kind);
void free_graph_memory(std::uintptr_t address);
/// cuMemFree: waits for the context's work. Null is success.
Result<void> free_device(Context& context, std::uintptr_t address);
Result<void> free_host(Context& context, std::uintptr_t address);

Result<void> register_host(Context& context, std::uintptr_t address, std::size_t size, unsigned int flags);
Result<void> unregister_host(std::uintptr_t address);

/// Stream-ordered. Size 0 gives address 0, and freeing 0 is success.
Result<std::uintptr_t> allocate_async(Context& context, MemoryPool& pool, std::size_t size, Stream& stream);
Result<void> free_async(std::uintptr_t address, Stream& stream);

/// Bytes of a device that are not allocated, of those that the host had available when the driver started.
std::size_t free_memory(const Device& device);
/// Whether `size` more bytes are available. If not, the allocation fails, since using the memory would make the host
/// kill a process. Large sizes are compared with what the host has available now, too.
bool has_room(const Device& device, std::size_t size);

void free_memory_of(const Context& context);

}  // namespace cucore::cpu::runtime
