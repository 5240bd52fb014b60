// From a kernel to code that can be called: the cache's object code, or else what the compiler library makes.
#include "cpu/loader/compiler.hpp"

#include <optional>
#include <string>
#include <utility>

#include "cpu/abi/checks.hpp"
#include "cpu/analysis/flow/reach.hpp"
#include "cpu/analysis/layout/layout.hpp"
#include "cpu/analysis/vector_limits.hpp"
#include "cpu/loader/cache/kernel_cache.hpp"
#include "cpu/loader/compiler_library.hpp"
#include "cpu/loader/kernel_key.hpp"
#include "cpu/loader/link.hpp"

namespace cucore::cpu::loader {
namespace {

using analysis::check_vector_form;
using analysis::find_reach;
using analysis::lay_out;
using analysis::Reach;

/// Has the compiler library make it, and stores it in the cache where there is a key.
Result<CompiledKernel> compile_anew(const ptx::Module& module, ptx::FunctionId kernel, const Reach& reach,
                                    const ModuleAddresses& addresses, const CompileOptions& options, KernelCache* cache,
                                    const std::optional<KernelKey>& key) {
  Result<const CompilerLibrary*> compiler = open_compiler_library();
  if (!compiler) return std::move(compiler).failure();
  Result<KernelRecord> record = (*compiler)->compile(module, kernel, options);
  if (!record) return std::move(record).failure();
  Result<CompiledKernel> linked = link(*record, module, reach, addresses, options);
  if (!linked)
    return Failure(ErrorCode::InvalidPtx,
                   std::string(module.functions[kernel].name) + ": " + linked.failure().sentence());
  if (key) cache->store(*key, *record);
  return linked;
}

/// In the form of `options`, which the compiler may still refuse.
Result<CompiledKernel> compile_form(const ptx::Module& module, ptx::FunctionId kernel, const Reach& reach,
                                    const ModuleAddresses& addresses, const CompileOptions& options,
                                    KernelCache* cache) {
  std::optional<KernelKey> key;
  if (cache != nullptr && !options.debug) {  // the key knows nothing of source lines
    if (const auto identity = identity_of(module, reach, options)) key = key_of(*identity);
  }
  if (const auto cached = key ? cache->find(*key) : std::nullopt) {
    if (Result<CompiledKernel> linked = link(*cached, module, reach, addresses, options)) {
      linked->was_cached = true;
      return linked;
    }
  }
  return compile_anew(module, kernel, reach, addresses, options, cache, key);
}

}  // namespace

Result<CompiledKernel> compile(const ptx::Module& module, ptx::FunctionId kernel, const ModuleAddresses& addresses,
                               const CompileOptions& wanted, KernelCache* cache) {
  const Reach reach = find_reach(module, kernel);
  CompileOptions options = wanted;
  std::string refusal;
  if (wanted.form != FormOfCode::Scalar) {
    const KernelInfo info = lay_out(module, reach).info;
    if (const Result<void> allowed = check_vector_form(module, reach, info, wanted.checks); !allowed) {
      refusal = allowed.failure().sentence();
      options.form = FormOfCode::Scalar;
    }
  }
  Result<CompiledKernel> compiled = compile_form(module, kernel, reach, addresses, options, cache);
  if (!compiled) return compiled;
  compiled->refusal = join_refusals(refusal, compiled->refusal);
  if ((options.checks & check_class::access_checks) != 0)
    compiled->code->shared_variables = lay_out(module, reach, shared_redzone).shared_variables;
  return compiled;
}

Result<FormOfKernel> form_of(const ptx::Module& module, ptx::FunctionId kernel, const CompileOptions& options) {
  Result<const CompilerLibrary*> compiler = open_compiler_library();
  if (!compiler) return std::move(compiler).failure();
  Result<KernelRecord> record = (*compiler)->compile(module, kernel, options);
  if (!record) return std::move(record).failure();
  return FormOfKernel{.form = record->info.form, .refusal = std::move(record->refusal)};
}

Result<std::string> dump_ir(const ptx::Module& module, ptx::FunctionId kernel, const CompileOptions& options) {
  Result<const CompilerLibrary*> compiler = open_compiler_library();
  if (!compiler) return std::move(compiler).failure();
  return (*compiler)->print_ir(module, kernel, options);
}

Result<std::string> dump_assembly(const ptx::Module& module, ptx::FunctionId kernel, const CompileOptions& options) {
  Result<const CompilerLibrary*> compiler = open_compiler_library();
  if (!compiler) return std::move(compiler).failure();
  return (*compiler)->print_assembly(module, kernel, options);
}

}  // namespace cucore::cpu::loader
