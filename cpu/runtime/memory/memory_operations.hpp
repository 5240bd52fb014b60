// The memory operations of streams: waiting for a word of memory that the host, a kernel or another stream writes, and
// writing one.
#pragma once

#include <cuda.h>

#include "cpu/error/result.hpp"

namespace cucore::cpu::runtime {

/// InvalidValue for a bad kind, flag, alignment or address.
Result<void> check_memory_operation(const CUstreamBatchMemOpParams& operation);

/// Does it on the calling thread of ours.
void run_memory_operation(const CUstreamBatchMemOpParams& operation);

}  // namespace cucore::cpu::runtime
