// Allocations of every kind, and the look-up from any address inside one. Thread-safe.
#pragma once

#include <cuda.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "cpu/error/result.hpp"
#include "cpu/runtime/address_space/address_space.hpp"

namespace cucore::cpu::runtime {

class Context;
class Device;
class MemoryPool;
class Stream;

struct Allocation {
  enum class Kind { Device, Host, Managed, Registered };
  /// Where it came from. Of the first three is module memory, which the program does not give back itself.
  enum class Origin : std::uint8_t {
    Variable,      ///< a module's
    Array,         ///< of cuArrayCreate and the like
    KernelHeap,    ///< malloc in a kernel, if that is checked
    Call,          ///< a call that allocates or registers: cuMemAlloc and its relatives, from a pool too
    GraphNode,     ///< a graph's allocation node: freeing ends its use, not the address
    Mapping,       ///< cuMemMap: several may follow each other
    External,      ///< cuExternalMemoryGetMappedBuffer
    OtherProcess,  ///< cuIpcOpenMemHandle, until cuIpcCloseMemHandle
  };

  std::uintptr_t base = 0;
  std::size_t size = 0;
  Kind kind = Kind::Device;
  Origin origin = Origin::Call;
  Context* context = nullptr;  ///< null for pool memory, which belongs to its device
  int device = 0;
  unsigned int flags = 0;            ///< of cuMemHostAlloc, cuMemHostRegister, cuMemAllocManaged
  std::shared_ptr<MemoryPool> pool;  ///< of stream-ordered memory
  std::uint64_t buffer_id = 0;
  std::string made_at;     ///< of the heap: where in the kernel
  bool is_shared = false;  ///< cuIpcGetMemHandle was called
  bool is_freed = false;   ///< cuMemFreeAsync was called; memory stays until the stream gets there
  int sync_memops = 0;
  CUmemLocation preferred{CU_MEM_LOCATION_TYPE_INVALID, 0};
  CUmemLocation last_prefetch{CU_MEM_LOCATION_TYPE_INVALID, 0};
  bool read_mostly = false;
  std::set<int> accessed_by;  ///< device ordinals, CU_DEVICE_CPU

  bool is_pool_memory() const { return pool != nullptr; }
  bool is_module_memory() const { return origin <= Origin::KernelHeap; }
  Heap heap() const { return kind == Kind::Device ? Heap::Device : Heap::Host; }
};

/// The allocation that contains `address` (a freed one no longer does).
std::optional<Allocation> find_allocation(std::uintptr_t address);
/// The one that ends or begins next to an address in none, if any does within a MiB.
std::optional<Allocation> nearest_allocation(std::uintptr_t address);
/// Changes it in place under the lock: `change(Allocation&)`. False if there is none.
bool change_allocation(std::uintptr_t address, void (*change)(Allocation&, const void*), const void* argument);

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
/// Memory that is managed elsewhere (mappings, imports): known from `enter` to `forget`, and never freed here.
void enter_allocation(Allocation allocation);
std::optional<Allocation> forget_allocation(std::uintptr_t base);
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

/// When memory is asked for. To a call of the program it is gone once cuMemFreeAsync was called; to work whose turn in
/// a stream has come it is there until the stream gets to the free.
enum class Asked { ByCall, InTurn };

/// True if [address, address + size) lies in one allocation of ours that devices can use.
bool is_device_range(std::uintptr_t address, std::size_t size, Asked when = Asked::ByCall);
/// True if the range is not ours at all (ordinary host memory), or lies within one allocation.
bool is_any_range(std::uintptr_t address, std::size_t size, Asked when = Asked::ByCall);

void free_memory_of(const Context& context);

}  // namespace cucore::cpu::runtime
