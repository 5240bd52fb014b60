// Memory between processes by cuIpcGetMemHandle: a handle names the file that its owner moved the memory to, which
// others open through /proc. The system keeps the memory as long as someone maps it. Thread-safe.
#pragma once

#include <cuda.h>

#include <cstdint>

#include "cpu/runtime/memory/memory.hpp"

namespace cucore::cpu::runtime {

/// Memory of cuMemAlloc alone, of this process.
bool is_shareable(const Allocation& allocation);
/// A handle of the allocation that holds `address`; INVALID_VALUE if there is none that can be shared.
CUresult share_memory(std::uintptr_t address, CUipcMemHandle* handle);
/// From now on the handles of an allocation open nothing.
void end_sharing(const Allocation& allocation);

/// Maps another process's allocation; again in the same context, it only counts. INVALID_VALUE for a handle that is
/// none or whose memory is gone, INVALID_CONTEXT for memory of this process (as NVIDIA's driver says), MAP_FAILED.
CUresult open_memory(Context& context, const CUipcMemHandle& handle, std::uintptr_t* address);
/// The last close of an address unmaps it, when the context's work is done.
CUresult close_memory(std::uintptr_t address);
/// For memory.cpp: takes away what is mapped at an allocation that was opened.
void unmap_opened_memory(const Allocation& allocation);

}  // namespace cucore::cpu::runtime
