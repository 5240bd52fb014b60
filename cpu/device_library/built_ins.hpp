// Arithmetic that generated code calls instead of doing inline: directed rounding, conversions that round once from
// wide values to narrow formats, and the approximate functions.
#pragma once

#include <span>
#include <string_view>

namespace cucore::cpu::device_library {

struct Symbol {
  std::string_view name;
  void* address;
};

/// Everything generated code may call: built-ins, services of the run-time (kernel_abi.hpp), and the C library's
/// functions that LLVM itself may put in place of an operation the host lacks.
std::span<const Symbol> callable_symbols();

}  // namespace cucore::cpu::device_library
