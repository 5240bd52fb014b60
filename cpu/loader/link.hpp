// The last step of a compile, and the only one that code from the cache needs: object code into memory, beside what it
// calls and the variables it uses.
#pragma once

#include "cpu/analysis/flow/reach.hpp"
#include "cpu/error/result.hpp"
#include "cpu/loader/compiler.hpp"

namespace cucore::cpu::loader {

/// The result keeps the memory. Writes the addresses of functions that initialisers of variables name, where none are
/// yet. InvalidImage, and why, for object code that is not whole or needs what is not there. Tells debuggers and perf
/// if the options say so.
Result<CompiledKernel> link(const KernelRecord& record, const ptx::Module& module, const analysis::Reach& reach,
                            const ModuleAddresses& addresses, const CompileOptions& options);

/// Whether the variable in `memory` has the addresses of the functions that its initialiser names, or what the program
/// wrote over them.
bool has_function_addresses(const ptx::Module& module, const ptx::Variable& variable, const void* memory);

}  // namespace cucore::cpu::loader
