// printf in kernels: CUDA's format rules over arguments packed as CUDA packs them.
#pragma once

#include <cstdint>

#include "cpu/runtime/objects/printf_buffer.hpp"

namespace cucore::cpu::runtime {

/// Formats at once and appends one line's worth to `buffer`. Returns the number of arguments used, -1 without a format.
std::int32_t device_printf(PrintfBuffer& buffer, const char* format, const void* arguments);

}  // namespace cucore::cpu::runtime
