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

Result<KernelRecord> compile_record(const ptx::Module& module, ptx::FunctionId kernel, const CompileOptions& options) {
  Result<const CompilerLibrary*> compiler = open_compiler_library();
  if (!compiler) return std::move(compiler).failure();
  return (*compiler)->compile(module, kernel, options);
}

/// Nothing for what is not kept.
std::optional<KernelKey> key_in_cache(const ptx::Module& module, const Reach& reach, const CompileOptions& options) {
  if (options.debug) return std::nullopt;  // the key knows nothing of source lines
  const auto identity = identity_of(module, reach, options);
  return identity ? std::optional(key_of(*identity)) : std::nullopt;
}

/// What is asked for, as far as the PTX alone does not refuse it.
struct Wish {
  Reach reach;
  CompileOptions options;
  std::string refusal = {};  ///< of the vector form
};

Wish wish_of(const ptx::Module& module, ptx::FunctionId kernel, const CompileOptions& wanted) {
  Wish wish{.reach = find_reach(module, kernel), .options = wanted};
  if (wanted.form == FormOfCode::Scalar) return wish;
  const KernelInfo info = lay_out(module, wish.reach).info;
  if (const Result<void> allowed = check_vector_form(module, wish.reach, info, wanted.checks); !allowed) {
    wish.refusal = allowed.failure().sentence();
    wish.options.form = FormOfCode::Scalar;
  }
  return wish;
}

/// Adds what does not depend on where the object code came from.
CompiledKernel completed(CompiledKernel compiled, const Wish& wish, const ptx::Module& module) {
  compiled.refusal = join_refusals(wish.refusal, compiled.refusal);
  if ((wish.options.checks & check_class::access_checks) != 0)
    compiled.code->shared_variables = lay_out(module, wish.reach, shared_redzone).shared_variables;
  return compiled;
}

std::optional<CompiledKernel> find_linked(const ptx::Module& module, const Wish& wish, const ModuleAddresses& addresses,
                                          const KernelCache& cache, const KernelKey& key) {
  const std::optional<KernelRecord> cached = cache.find(key);
  if (!cached) return std::nullopt;
  Result<CompiledKernel> linked = link(*cached, module, wish.reach, addresses, wish.options);
  if (!linked) return std::nullopt;
  linked->was_cached = true;
  return completed(*std::move(linked), wish, module);
}

}  // namespace

Result<CompiledKernel> compile(const ptx::Module& module, ptx::FunctionId kernel, const ModuleAddresses& addresses,
                               const CompileOptions& wanted, KernelCache* cache) {
  const Wish wish = wish_of(module, kernel, wanted);
  const auto key = cache != nullptr ? key_in_cache(module, wish.reach, wish.options) : std::nullopt;
  if (key) {
    if (auto found = find_linked(module, wish, addresses, *cache, *key)) return *std::move(found);
  }
  Result<KernelRecord> record = compile_record(module, kernel, wish.options);
  if (!record) return std::move(record).failure();
  Result<CompiledKernel> linked = link(*record, module, wish.reach, addresses, wish.options);
  if (!linked)
    return Failure(ErrorCode::InvalidPtx,
                   std::string(module.functions[kernel].name) + ": " + linked.failure().sentence());
  if (key) cache->store(*key, *record);
  return completed(*std::move(linked), wish, module);
}

std::optional<CompiledKernel> find_compiled(const ptx::Module& module, ptx::FunctionId kernel,
                                            const ModuleAddresses& addresses, const CompileOptions& options,
                                            const KernelCache& cache) {
  const Wish wish = wish_of(module, kernel, options);
  const auto key = key_in_cache(module, wish.reach, wish.options);
  return key ? find_linked(module, wish, addresses, cache, *key) : std::nullopt;
}

Result<KernelRecord> compile_object(const ptx::Module& module, ptx::FunctionId kernel, const CompileOptions& options,
                                    const KernelCache* cache) {
  const Wish wish = wish_of(module, kernel, options);
  Result<KernelRecord> record = compile_record(module, kernel, wish.options);
  if (!record) return record;
  if (cache != nullptr) {
    if (const auto key = key_in_cache(module, wish.reach, wish.options)) cache->store(*key, *record);
  }
  record->refusal = join_refusals(wish.refusal, record->refusal);
  return record;
}

Result<CompiledKernel> link_object(const KernelRecord& object, const ptx::Module& module, ptx::FunctionId kernel,
                                   const ModuleAddresses& addresses, const CompileOptions& options) {
  return link(object, module, find_reach(module, kernel), addresses, options);
}

Result<FormOfKernel> form_of(const ptx::Module& module, ptx::FunctionId kernel, const CompileOptions& options) {
  Result<KernelRecord> record = compile_record(module, kernel, options);
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
