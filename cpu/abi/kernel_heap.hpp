// The heap of device code, as generated code calls it: cpu/runtime/execution/kernel_heap.hpp says what its free does.
#pragma once

#include <cstdint>

namespace cucore::cpu {

struct ThreadState;

extern "C" {
/// malloc
std::uint64_t cucpu_malloc(std::uint64_t bytes);
/// free; may abandon the calling thread, as services in kernel_abi.hpp may.
void cucpu_free(ThreadState*, std::uint64_t block);
}

}  // namespace cucore::cpu
