// A function's code, form by form, and its handle: see function.hpp.
#include "cpu/runtime/loading/function.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "cpu/analysis/flow/reach.hpp"
#include "cpu/runtime/loading/forms/form_report.hpp"
#include "cpu/runtime/loading/forms/kernel_source.hpp"
#include "cpu/runtime/loading/library.hpp"
#include "cpu/runtime/loading/module.hpp"
#include "cpu/runtime/objects/device.hpp"
#include "cpu/runtime/process/driver_result.hpp"
#include "cpu/runtime/process/handle_table.hpp"
#include "cpu/runtime/process/process.hpp"
#include "cpu/runtime/process/trace.hpp"

namespace cucore::cpu::runtime {

namespace {

constexpr std::uint64_t many_threads = std::numeric_limits<std::uint64_t>::max();

using FunctionTable = HandleTable<Function, HandleKind::Function>;
FunctionTable& function_table() {
  static auto* table = new FunctionTable;
  return *table;
}

/// For the trace.
void describe(const loader::CompiledKernel& compiled, trace::Arguments& arguments) {
  arguments.add("form", compiled.code->info.form == FormOfCode::Scalar ? "scalar" : "vector")
      .raw("from_cache", compiled.was_cached ? "true" : "false");
}

}  // namespace

Function::Function(Module& module, const KernelDescription& description) : module_(module), description_(description) {
  if (!module.program().later) (void)complete();  // which cannot fail
}

Result<void> Function::complete() {
  if (is_complete()) return {};
  const Program& program = module_.program();
  const auto index = static_cast<std::size_t>(&description_ - program.kernels.data());
  if (Result<void> described = program.complete(index); !described) return described;
  {
    const std::lock_guard lock(mutex_);
    if (is_complete()) return {};
    const std::size_t taken = std::min<std::size_t>(shared_per_block, description_.info.declared_shared);
    max_dynamic_shared_.store(shared_per_block - taken);
    for (int axis = 0; axis < 3; ++axis) required_cluster_[axis].store(description_.required_cluster[axis]);
    if (program.later) addresses_ = module_.addresses_in(description_);
    is_complete_.store(true, std::memory_order_release);
  }
  if (!program.later) return {};
  // Device code may launch those that it names, and its stacks are too small to read them there.
  for (const ptx::FunctionId id : analysis::find_reach(*description_.ptx, description_.id).kernels)
    if (void* const named = addresses_.kernels[id]) (void)static_cast<Function*>(named)->complete();
  return {};
}

bool Function::reaches(std::size_t variable) const {
  const std::vector<ptx::VariableId> reached = analysis::find_reach(*description_.ptx, description_.id).variables;
  return std::any_of(reached.begin(), reached.end(), [&](ptx::VariableId id) {
    return (module_.program().later ? description_.variables[id] : id) == variable;
  });
}

CUfunction Function::handle() {
  const std::lock_guard lock(mutex_);
  if (!handle_) {
    // The table's entry keeps the whole module alive.
    handle_ = reinterpret_cast<CUfunction>(
        function_table().insert(std::shared_ptr<Function>(module_.shared_from_this(), this)));
  }
  return handle_;
}

void Function::end_handle() { function_table().remove(handle()); }

std::string Function::name_of_compile() const { return trace::is_open() ? "compile " + description_.display_name : ""; }

const loader::ModuleAddresses& Function::addresses() const {
  return module_.program().later ? addresses_ : module_.addresses();
}

CUresult Function::code(const unsigned int (&block)[3], std::uint64_t threads, std::shared_ptr<const Code>* code,
                        std::shared_ptr<LaterForm>* later) {
  const std::lock_guard lock(mutex_);
  threads_ += threads;
  const FormOfCode form = code_.stays_scalar() ? FormOfCode::Scalar : form_for(block, threads_);
  const FormOfCode in_the_end = code_.stays_scalar() ? FormOfCode::Scalar : form_for(block, many_threads);
  *code = code_.find(in_the_end, block);
  if (*code) return CUDA_SUCCESS;
  if (is_shutting_down()) return CUDA_ERROR_DEINITIALIZED;
  if (const Result<void> supported = check_supported(description_); !supported) return driver_result(supported);
  if (later != nullptr && may_change_later(in_the_end)) {
    std::shared_ptr<LaterForm> vectors = code_.find_later(block);
    if (vectors && vectors->is_made()) {
      *code = take(vectors);
      return CUDA_SUCCESS;
    }
    if (!vectors && (form == in_the_end || !code_.has_no_later())) {
      const CompileOptions options = options_for(in_the_end, block);
      if (form == in_the_end && find(options, code)) return CUDA_SUCCESS;
      vectors = begin_later(options, threads, form != in_the_end);
      if (vectors && form != in_the_end && find(options, code)) return CUDA_SUCCESS;
    }
    if (vectors) {
      *later = std::move(vectors);
      *code = code_.find(FormOfCode::Scalar, block);
      return *code ? CUDA_SUCCESS : compile(options_for(FormOfCode::Scalar, block), true, code);
    }
  }
  if (form != in_the_end) *code = code_.find(form, block);
  return *code ? CUDA_SUCCESS : compile(options_for(form, block), false, code);
}

bool Function::find(const CompileOptions& options, std::shared_ptr<const Code>* code) {
  trace::Slice slice("compile", name_of_compile());
  auto found = find_compiled(*description_.ptx, description_.id, addresses(), options);
  if (!found) {
    slice.drop();
    return false;
  }
  describe(*found, slice.arguments);
  *code = keep(options, *std::move(found));
  return true;
}

CUresult Function::compile(const CompileOptions& options, bool is_until_later, std::shared_ptr<const Code>* code) {
  if (options.form == FormOfCode::Scalar) {
    *code = code_.share_scalar(*description_.ptx, description_.id, options.block);
    if (*code) return CUDA_SUCCESS;
  }
  trace::Slice slice("compile", name_of_compile());
  Result<loader::CompiledKernel> compiled = compile_or_load(*description_.ptx, description_.id, addresses(), options);
  if (!compiled) {
    report("kernel " + description_.name + ": " + compiled.failure().sentence());
    return driver_result(compiled.failure());
  }
  describe(*compiled, slice.arguments);
  *code = keep(options, *std::move(compiled), is_until_later);
  return CUDA_SUCCESS;
}

std::shared_ptr<const Code> Function::keep(const CompileOptions& options, loader::CompiledKernel compiled,
                                           bool is_until_later) {
  std::shared_ptr<const Code> code = std::move(compiled.code);
  code_.add(options, code);
  report_form(*description_.ptx, description_.name, options, *code, compiled.refusal, is_until_later);
  return code;
}

/// For who has waited for it, or has run in the scalar form meanwhile, which has to do if there is no other.
std::shared_ptr<const Code> Function::take(const std::shared_ptr<LaterForm>& made) {
  code_.remove_later(made);
  std::string why;
  if (const Result<KernelRecord>& object = made->made()) {
    Result<loader::CompiledKernel> linked =
        loader::link_object(*object, *description_.ptx, description_.id, addresses(), made->options());
    if (linked) return keep(made->options(), *std::move(linked));
    why = linked.failure().sentence();
  } else {
    why = object.failure().sentence();
  }
  report("kernel " + description_.name + " keeps the scalar form: " + why);
  code_.stay_scalar();
  return code_.find(FormOfCode::Scalar, made->options().block);
}

/// Null if the launch is to wait for vectors.
std::shared_ptr<LaterForm> Function::begin_later(const CompileOptions& options, std::uint64_t threads,
                                                 bool needs_no_vectors) {
  const std::uint64_t per_block = std::uint64_t{options.block[0]} * options.block[1] * options.block[2];
  KernelOfProgram kernel{.ptx = description_.ptx, .id = description_.id, .display_name = description_.display_name};
  const auto worth = time_before_vectors(kernel, {.block = options.block,
                                                  .threads = threads,
                                                  .blocks = threads / per_block,
                                                  .needs_no_vectors = needs_no_vectors});
  if (!worth) {
    code_.have_no_later();
    return nullptr;
  }
  auto later = std::make_shared<LaterForm>(std::move(kernel), options, *worth);
  code_.add_later(later);
  return later;
}

PreparedLaunch Function::prepared_launch() {
  const std::lock_guard lock(mutex_);
  return prepared_;
}

std::shared_ptr<Function> find_function(CUfunction handle) { return function_table().find(handle); }

CUresult find_function(Context& context, CUfunction handle, std::shared_ptr<Function>* function) {
  const CUresult found = find_named_function(context, handle, function);
  return found != CUDA_SUCCESS || (*function)->is_complete() ? found : driver_result((*function)->complete());
}

CUresult find_named_function(Context& context, CUfunction handle, std::shared_ptr<Function>* function) {
  if (auto found = function_table().find(handle)) {
    *function = std::move(found);
    return CUDA_SUCCESS;
  }
  const auto kernel = find_kernel(reinterpret_cast<CUkernel>(handle));
  if (!kernel) return CUDA_ERROR_INVALID_HANDLE;
  return driver_result(kernel->function_in(context),
                       [&](std::shared_ptr<Function> found) { *function = std::move(found); });
}

}  // namespace cucore::cpu::runtime
