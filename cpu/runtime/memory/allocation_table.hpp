// The table of allocations of every kind, and the look-up from any address inside one. Thread-safe.
#pragma once

#include <cuda.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "cpu/runtime/address_space/address_space.hpp"

namespace cucore::cpu::runtime {

class Context;
class MemoryPool;

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
  bool is_device_memory() const { return kind == Kind::Device || kind == Kind::Managed; }  ///< counts as used there
  bool is_module_memory() const { return origin <= Origin::KernelHeap; }
  /// By cuMemFree and cuMemFreeAsync.
  bool may_be_freed() const {
    return !is_module_memory() && origin != Origin::Mapping && origin != Origin::OtherProcess;
  }
  Heap heap() const { return kind == Kind::Device ? Heap::Device : Heap::Host; }
};

/// The allocation that contains `address` (a freed one no longer does).
std::optional<Allocation> find_allocation(std::uintptr_t address);
/// The one that ends or begins next to an address in none, if any does within a MiB.
std::optional<Allocation> nearest_allocation(std::uintptr_t address);
/// Changes it in place under the lock: `change(Allocation&)`. False if there is none.
bool change_allocation(std::uintptr_t address, void (*change)(Allocation&, const void*), const void* argument);
/// The one that begins there.
std::optional<Allocation> allocation_at(std::uintptr_t base);
/// Those of a context but for its modules' memory: where they begin.
std::vector<std::uintptr_t> allocations_of(const Context& context);
/// Bytes of a device's memory that are allocated.
std::size_t used_memory(int device);

/// Who gives memory out enters it, and forgets it before it is given back. `freed_at`: shadow::caller() of who frees
/// it.
void enter_allocation(Allocation allocation);
std::optional<Allocation> forget_allocation(std::uintptr_t base, std::string freed_at = {});
/// Memory that the host has from elsewhere. False if some of it is in the table already.
bool enter_host_memory(Allocation allocation);
/// cuMemFreeAsync was called: to calls it is gone. False if there is none, or it is not freed so.
bool note_freed(std::uintptr_t base);

/// When memory is asked for. To a call of the program it is gone once cuMemFreeAsync was called; to work whose turn in
/// a stream has come it is there until the stream gets to the free.
enum class Asked { ByCall, InTurn };

/// True if [address, address + size) lies in one allocation of ours that devices can use.
bool is_device_range(std::uintptr_t address, std::size_t size, Asked when = Asked::ByCall);
/// True if the range is not ours at all (ordinary host memory), or lies within one allocation.
bool is_any_range(std::uintptr_t address, std::size_t size, Asked when = Asked::ByCall);

}  // namespace cucore::cpu::runtime
