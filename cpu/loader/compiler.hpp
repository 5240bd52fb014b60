// One PTX kernel in, callable code out: from the cache, or from the compiler's library.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cpu/abi/compiler.hpp"
#include "cpu/error/result.hpp"

namespace cucore::cpu::loader {

/// Addresses of module-scope variables (.global, .const) of `module`, by index into Module::variables; null for shared
/// ones. The memory must outlive the code. Where an initialiser names a function, compiling the first kernel that can
/// reach it, or that calls through pointers, writes the address of the compiled function.
struct ModuleAddresses {
  std::vector<void*> variables;
  /// What the address of a kernel is, by index into Module::functions: nothing that could be called.
  std::vector<void*> kernels;
};

/// A kernel that can run, and how it came about.
struct CompiledKernel {
  std::unique_ptr<Code> code;
  /// Why the vector form was asked for, or open, and is not there, and why the scalar form is not optimised as others
  /// are; empty if nothing is missing.
  std::string refusal;
  bool was_cached = false;  ///< the object code came from the cache
};

class KernelCache;

/// Compiles one kernel and everything it calls for the host CPU, unless `cache` has its object code; what was compiled
/// goes there. Thread-safe; takes milliseconds, five seconds at most. Failures name kernel and line: InvalidPtx, or
/// JitCompilerNotFound if the compiler library is not there.
Result<CompiledKernel> compile(const ptx::Module& module, ptx::FunctionId kernel, const ModuleAddresses& addresses,
                               const CompileOptions& options = {}, KernelCache* cache = nullptr);

/// compile, if the cache has what it would give; else nothing.
std::optional<CompiledKernel> find_compiled(const ptx::Module& module, ptx::FunctionId kernel,
                                            const ModuleAddresses& addresses, const CompileOptions& options,
                                            const KernelCache& cache);

/// The two halves of compile, for who compiles while the module may go: what is compiled goes into the cache, and
/// becomes code that can be called later. The first one takes nothing from the cache.
Result<KernelRecord> compile_object(const ptx::Module& module, ptx::FunctionId kernel, const CompileOptions& options,
                                    const KernelCache* cache);
Result<CompiledKernel> link_object(const KernelRecord& object, const ptx::Module& module, ptx::FunctionId kernel,
                                   const ModuleAddresses& addresses, const CompileOptions& options);

/// The form that a kernel gets, and CompiledKernel's refusal, by a compile whose code is not kept. Fails as compile
/// does.
struct FormOfKernel {
  FormOfCode form = FormOfCode::Scalar;
  std::string refusal;
};
Result<FormOfKernel> form_of(const ptx::Module& module, ptx::FunctionId kernel, const CompileOptions& options);

/// Text forms for `cucore dump` and tests: LLVM IR after optimisation, host assembly. They fail as compile does.
Result<std::string> dump_ir(const ptx::Module& module, ptx::FunctionId kernel, const CompileOptions& options = {});
Result<std::string> dump_assembly(const ptx::Module& module, ptx::FunctionId kernel,
                                  const CompileOptions& options = {});

}  // namespace cucore::cpu::loader
