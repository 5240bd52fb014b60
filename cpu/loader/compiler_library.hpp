// The library that holds LLVM and all that makes code. It lies beside the one that this code is in, and is opened when
// a kernel must be compiled: a process whose kernels are all in the cache never maps it.
#pragma once

#include <string>

#include "cpu/abi/compiler.hpp"
#include "cpu/error/result.hpp"

namespace cucore::cpu::loader {

/// Where it is expected; empty if the system does not say where this code is.
const std::string& compiler_library_path();

/// Opened at the first call that succeeds and kept for good. JitCompilerNotFound, and why, if that fails; a later call
/// tries again. Thread-safe.
Result<const CompilerLibrary*> open_compiler_library();

}  // namespace cucore::cpu::loader
