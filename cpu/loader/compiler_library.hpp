// The library that holds LLVM and all that makes code. It lies beside the one that this code is in, and is opened when
// a kernel must be compiled: a process whose kernels are all in the cache never maps it.
#pragma once

#include <string>

#include "cpu/abi/compiler.hpp"
#include "cpu/loader/kernel_record.hpp"

namespace cucore::cpu::codegen {

/// What the library gives: one exported function, cucore_cpu_compiler, returns it. Both sides are of one build and pass
/// C++ objects; `interface` tells whether they are.
struct CompilerLibrary {
  const char* interface;
  /// False, and `error` in a sentence, if the kernel cannot be compiled.
  bool (*compile)(const ptx::Module& module, ptx::FunctionId kernel, const CompileOptions& options,
                  KernelRecord& record, std::string& error);
  /// The text, or what prevents it.
  void (*print_ir)(const ptx::Module& module, ptx::FunctionId kernel, const CompileOptions& options, std::string& text);
  void (*print_assembly)(const ptx::Module& module, ptx::FunctionId kernel, const CompileOptions& options,
                         std::string& text);
};

/// Where it is expected; empty if the system does not say where this code is.
const std::string& compiler_library_path();

/// Opened at the first call that succeeds and kept for good. Null, and `error` in a sentence, if that fails; a later
/// call tries again. Thread-safe.
const CompilerLibrary* open_compiler_library(std::string& error);

}  // namespace cucore::cpu::codegen
