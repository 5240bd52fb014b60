// cuInit: makes what calls need, and registers the functions of higher folders that lower ones are to call.
#pragma once

#include "cpu/error/result.hpp"

namespace cucore::cpu::runtime {

/// Reads CUCORE_CPU_DEVICES, CUCORE_CPU_COMPUTE_CAPABILITY and CUDA_LAUNCH_BLOCKING, once. Thread-safe.
Result<void> initialize(unsigned int flags);

}  // namespace cucore::cpu::runtime
