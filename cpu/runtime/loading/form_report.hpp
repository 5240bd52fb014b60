// CUCORE_CPU_REPORT=forms: which form of code kernels get, and why, for users who want them faster.
#pragma once

#include <string>

#include "cpu/abi/compiler.hpp"

namespace cucore::cpu::runtime {

/// Writes a line to standard error for code that a kernel has got, if that is asked for: the kernel as its source has
/// it, the form, and if it is scalar the reason and the place in the source. `refusal` is that of CompiledKernel.
void report_form(const ptx::Module& module, const std::string& kernel, const CompileOptions& asked, const Code& code,
                 const std::string& refusal);

}  // namespace cucore::cpu::runtime
