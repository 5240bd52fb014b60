// From a kernel to code that can be called: the cache's object code, or else what the compiler library makes.
#include "cpu/loader/compiler.hpp"

#include <optional>
#include <utility>

#include "cpu/analysis/layout.hpp"
#include "cpu/analysis/reach.hpp"
#include "cpu/analysis/vector_limits.hpp"
#include "cpu/loader/compiler_library.hpp"
#include "cpu/loader/kernel_cache.hpp"
#include "cpu/loader/kernel_key.hpp"
#include "cpu/loader/link.hpp"

namespace cucore::cpu::codegen {

namespace {

void note_shared_variables(Code& code, const ptx::Module& module, const Reach& reach, const CompileOptions& options) {
  if (options.checks != 0) code.shared_variables = lay_out(module, reach, kSharedRedzone).shared_variables;
}

/// In the form of `options`, which may still turn out to be refused.
CompileResult compile_form(const ptx::Module& module, ptx::FunctionId kernel, const Reach& reach,
                           const ModuleAddresses& addresses, const CompileOptions& options, KernelCache* cache) {
  std::optional<KernelKey> key;
  if (cache != nullptr && !options.debug) {  // the key knows nothing of source lines
    if (const auto identity = identity_of(module, reach, options)) key = key_of(*identity);
  }
  if (const auto cached = key ? cache->find(*key) : std::nullopt) {
    CompileResult result = link(*cached, module, reach, addresses, options);
    result.was_cached = true;
    if (result.code != nullptr) {
      note_shared_variables(*result.code, module, reach, options);
      return result;
    }
  }
  CompileResult result;
  const CompilerLibrary* const compiler = open_compiler_library(result.error);
  result.lacks_compiler = compiler == nullptr;
  KernelRecord record;
  if (compiler == nullptr || !compiler->compile(module, kernel, options, record, result.error)) return result;
  result = link(record, module, reach, addresses, options);
  if (result.code == nullptr) result.error = std::string(module.functions[kernel].name) + ": " + result.error;
  if (result.code != nullptr) note_shared_variables(*result.code, module, reach, options);
  if (key && result.code != nullptr) cache->store(*key, record);
  return result;
}

}  // namespace

CompileResult compile(const ptx::Module& module, ptx::FunctionId kernel, const ModuleAddresses& addresses,
                      const CompileOptions& wanted, KernelCache* cache) {
  const Reach reach = find_reach(module, kernel);
  std::string refusal;
  if (wanted.form != FormOfCode::Scalar)
    refusal = refuse_vector_form(module, reach, lay_out(module, reach).info, wanted.checks);
  CompileOptions options = wanted;
  if (!refusal.empty()) options.form = FormOfCode::Scalar;
  CompileResult result = compile_form(module, kernel, reach, addresses, options, cache);
  result.refusal = join_refusals(refusal, result.refusal);
  return result;
}

std::string dump_ir(const ptx::Module& module, ptx::FunctionId kernel, const CompileOptions& options) {
  std::string text;
  if (const CompilerLibrary* const compiler = open_compiler_library(text))
    compiler->print_ir(module, kernel, options, text);
  return text;
}

std::string dump_assembly(const ptx::Module& module, ptx::FunctionId kernel, const CompileOptions& options) {
  std::string text;
  if (const CompilerLibrary* const compiler = open_compiler_library(text))
    compiler->print_assembly(module, kernel, options, text);
  return text;
}

}  // namespace cucore::cpu::codegen
