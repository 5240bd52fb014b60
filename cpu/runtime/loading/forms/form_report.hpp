// Which form of code kernels get, and why, for users who want them faster: at run time (CUCORE_CPU_REPORT=forms), and
// without running them.
#pragma once

#include <cstdint>
#include <string>

#include "cpu/abi/compiler.hpp"

namespace cucore::cpu::runtime {

/// Writes a line to standard error for code that a kernel has got, if that is asked for: the kernel as its source has
/// it, the form, and if it is scalar the reason and the place in the source. `refusal` is that of CompiledKernel;
/// `is_until_later`: it is a LaterForm's until that is there.
void report_form(const ptx::Module& module, const std::string& kernel, const CompileOptions& asked, const Code& code,
                 const std::string& refusal, bool is_until_later);

/// The form that a kernel gets once it has run many threads in such blocks, found out by a compile. Six fields with
/// tabs between them and a newline: its symbol; its name as the source has it; `vector`, `masked`, `scalar`, or `none`
/// if it cannot be compiled; why it is not the one asked for; the PTX line that is the reason, or 0; the same line in
/// words. What does not apply is empty.
std::string form_record(const ptx::Module& module, ptx::FunctionId kernel, const std::uint32_t (&block)[3]);

}  // namespace cucore::cpu::runtime
