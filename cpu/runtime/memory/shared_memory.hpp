// Memory between processes by cuIpcGetMemHandle: a handle names the file that its owner moved the memory to, which
// others open through /proc. The system keeps the memory as long as someone maps it. Thread-safe.
#pragma once

#include <cuda.h>

#include <cstdint>

#include "cpu/error/result.hpp"
#include "cpu/runtime/memory/memory.hpp"

namespace cucore::cpu::runtime {

/// Memory of cuMemAlloc alone, of this process.
bool is_shareable(const Allocation& allocation);
/// A handle of the allocation that holds `address`; InvalidValue if there is none that can be shared.
Result<CUipcMemHandle> share_memory(std::uintptr_t address);
/// From now on the handles of an allocation open nothing.
void end_sharing(const Allocation& allocation);

/// Maps another process's allocation; again in the same context, it only counts. InvalidValue for a handle that is
/// none or whose memory has been freed, InvalidContext for memory of this process (as NVIDIA's driver says), MapFailed.
Result<std::uintptr_t> open_memory(Context& context, const CUipcMemHandle& handle);
/// The last close of an address unmaps it, when the context's work is done.
Result<void> close_memory(std::uintptr_t address);
/// For memory.cpp: takes away what is mapped at an allocation that was opened.
void unmap_opened_memory(const Allocation& allocation);

}  // namespace cucore::cpu::runtime
