// Names in object code: the entry points that the run-time calls, the variables and functions of the PTX module.
#pragma once

#include <string>
#include <string_view>

#include "cpu/ptx/tree/ast.hpp"

namespace cucore::cpu {

inline constexpr const char* run_thread_symbol = "cucpu_run_thread";
inline constexpr const char* run_block_symbol = "cucpu_run_block";

/// Symbol of a module variable in the object code: an absolute address supplied when the code is linked, so that the
/// object itself does not depend on where the module was loaded.
inline std::string symbol_of(const ptx::Variable& variable) { return "ptx." + std::string(variable.name); }

/// Symbol of the address by which code names a kernel: ModuleAddresses::kernels has what is there.
inline constexpr std::string_view kernel_symbol_prefix = "ptx.kernel.";
inline std::string kernel_symbol_of(const ptx::Function& kernel) {
  return std::string(kernel_symbol_prefix) + std::string(kernel.name);
}

/// Symbol of a function whose address stands in the initialiser of a variable.
inline std::string symbol_of(const ptx::Function& function) { return "ptx.function." + std::string(function.name); }

}  // namespace cucore::cpu
