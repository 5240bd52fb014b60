// A compile, step by step: reach → lay out → declare → emit → (vectorise →) optimise → assemble. make_kernel and the
// two functions above it name the steps, a line each. The compiler library's one entry.
#include <llvm/IR/Verifier.h>
#include <llvm/Support/raw_ostream.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "compiler_interface.hpp"
#include "cpu/abi/checks.hpp"
#include "cpu/abi/compiler.hpp"
#include "cpu/analysis/flow/independent_threads.hpp"
#include "cpu/analysis/layout/layout.hpp"
#include "cpu/analysis/reach_and_waits.hpp"
#include "cpu/analysis/unsupported.hpp"
#include "cpu/analysis/vector_limits.hpp"
#include "cpu/compiler/checks/marks.hpp"
#include "cpu/compiler/checks/number_marks.hpp"
#include "cpu/compiler/compile_budget.hpp"
#include "cpu/compiler/cost/cost_model.hpp"
#include "cpu/compiler/emitters/module_emitter.hpp"
#include "cpu/compiler/host_target.hpp"
#include "cpu/compiler/instructions/body_steps.hpp"
#include "cpu/compiler/instructions/flushing_adds.hpp"
#include "cpu/compiler/vector/vectorise.hpp"

namespace cucore::cpu::compiler {
namespace {

using analysis::check_vector_form;
using analysis::find_reach_and_waits;
using analysis::find_unsupported_in;
using analysis::lay_out;
using analysis::Layout;
using analysis::Reach;
using analysis::refuse_waiting;
using analysis::Unsupported;

/// What the steps read: a kernel and all that was found out about it before there is code.
struct Analysed {
  const ptx::Module& module;
  const Reach& reach;
  const Layout& layout;
  const CompileOptions& options;
  const HostTarget& target;
  llvm::LLVMContext& context;

  std::string kernel_name() const { return std::string(module.functions[reach.functions.front()].name); }
  HostFeatures host() const { return target.features(); }
  /// For the vector form: kernels with convergent operations mostly begin in the scalar one, which is much slower for
  /// them, so that launches seldom wait for it.
  double patience() const {
    return options.checks == 0 && analysis::exchanges_by_convergent_operations(module, reach)
               ? cost_model::patience_if_convergent
               : 1;
  }
};

/// A kernel that waits to be assembled.
struct OptimisedKernel {
  std::unique_ptr<llvm::Module> ir;
  KernelInfo info;
  std::string refusal = {};  ///< that of CompiledKernel
};

/// The kernel cannot be compiled in any form.
Failure cannot_compile(const std::string& kernel_name, const std::string& what) {
  return Failure(ErrorCode::InvalidPtx, kernel_name + what);
}

/// In the vector form, but perhaps in the scalar one.
Failure refuse_form(std::string refusal) { return Failure(ErrorCode::NotSupported, std::move(refusal)); }
bool is_refusal(const Failure& failure) { return failure.code() == ErrorCode::NotSupported; }

std::unique_ptr<llvm::Module> new_module(const Analysed& kernel) {
  auto ir = std::make_unique<llvm::Module>(kernel.kernel_name(), kernel.context);
  kernel.target.prepare(*ir);
  return ir;
}

/// Whether all instructions have a generator.
Result<void> check_instructions(const Analysed& kernel) {
  for (ptx::FunctionId id : kernel.reach.functions) {
    for (const Unsupported& found : find_unsupported_in(kernel.module, kernel.module.functions[id])) {
      return cannot_compile(kernel.kernel_name(), " needs " + found.instruction + " (line " +
                                                      std::to_string(found.line) + ", in " + found.function +
                                                      "), which the CPU device does not support: " + found.reason);
    }
  }
  return {};
}

/// A generator that made ill-formed IR is a defect here; it must not become a crash of the optimiser.
Result<void> verify(const Analysed& kernel, const llvm::Module& ir) {
  std::string found;
  llvm::raw_string_ostream stream(found);
  if (!llvm::verifyModule(ir, &stream)) return {};
  return cannot_compile(kernel.kernel_name(), ": generated code is ill-formed: " + found);
}

constexpr std::size_t most_frame_bytes = std::size_t{16} << 20;

/// An upper bound for all frames of a thread that does not recurse: every register and result has its place there.
std::uint32_t unoptimised_frame_bytes(const Analysed& kernel) {
  std::size_t bytes = 0;
  for (ptx::FunctionId id : kernel.reach.functions) {
    const ptx::Function& function = kernel.module.functions[id];
    bytes += 512 + 16 * function.registers.size() + 64 * function.body.size();
  }
  return static_cast<std::uint32_t>(std::min(bytes, most_frame_bytes));
}

/// The same where values are those of optimised IR.
std::uint32_t unoptimised_frame_bytes(const Analysed& kernel, const llvm::Module& ir) {
  constexpr std::size_t bytes_of_value = 16;
  const std::size_t bytes = bytes_of_value * ir.getInstructionCount();
  return std::max(unoptimised_frame_bytes(kernel), static_cast<std::uint32_t>(std::min(bytes, most_frame_bytes)));
}

/// Declare → emit → optimise.
Result<OptimisedKernel> make_scalar_form(const Analysed& kernel) {
  const auto& [module, reach, layout, options, target, context] = kernel;
  std::unique_ptr<llvm::Module> ir = new_module(kernel);
  ModuleEmitter emitter(module, reach, layout, context, *ir, kernel.host(), nullptr, options.checks);
  if (options.debug) emitter.describe_for_debuggers();
  emitter.declare();
  if (Result<void> emitted = emitter.emit_bodies(body_steps); !emitted)
    return cannot_compile(kernel.kernel_name(), ": " + emitted.failure().sentence());
  emitter.emit_entry_points(reach.needs_fibers || options.by_thread);
  if (Result<void> verified = verify(kernel, *ir); !verified) return std::move(verified).failure();
  KernelInfo info = layout.info;
  if (options.debug) {
    expand_check_marks(*ir);
    expand_number_marks(*ir);
    info.frame_bytes = unoptimised_frame_bytes(kernel);
    return OptimisedKernel{.ir = std::move(ir), .info = info};
  }
  const CompileTime time;
  const bool is_optimised = target.optimise(*ir, (options.checks & check_class::access_checks) != 0, time);
  expand_number_marks(*ir);
  if (is_optimised && !time.is_not_enough_for(*ir)) return OptimisedKernel{.ir = std::move(ir), .info = info};
  target.spare_effort();
  info.frame_bytes = unoptimised_frame_bytes(kernel, *ir);
  return OptimisedKernel{.ir = std::move(ir), .info = info, .refusal = scalar_form_too_long};
}

/// Declare → emit → optimise one lane's code, before there are many → vectorise → optimise.
Result<OptimisedKernel> make_vector_form(const Analysed& kernel) {
  const auto& [module, reach, layout, options, target, context] = kernel;
  if (Result<void> allowed = check_vector_form(module, reach, layout.info, options.checks); !allowed)
    return std::move(allowed).failure();
  if (analysis::count_instructions(module, reach) > cost_model::largest_kernel_in_ptx) return refuse_form("its size");
  std::unique_ptr<llvm::Module> ir = new_module(kernel);
  ModuleEmitter emitter(module, reach, layout, context, *ir, kernel.host(), options.block, options.checks);
  emitter.declare();
  if (Result<void> emitted = emitter.emit_bodies(body_steps); !emitted)
    return cannot_compile(kernel.kernel_name(), ": " + emitted.failure().sentence());
  if (Result<void> verified = verify(kernel, *ir); !verified) return std::move(verified).failure();
  const CompileTime time(kernel.patience());
  if (!target.optimise(*ir, /*checked=*/false, time)) return refuse_form(vector_form_too_long);
  KernelInfo info = layout.info;
  Result<VectorForm> form = vectorise(*emitter.kernel(), {.options = options,
                                                          .host = kernel.host(),
                                                          .shared = layout.shared_variables,
                                                          .local_bytes = info.local_bytes,
                                                          .in_lockstep = !reach.lockstep.empty(),
                                                          .in_one_group = reach.gives_anew});
  if (!form && is_for_waiting(form.failure())) return refuse_waiting(module, reach, form.failure().sentence());
  if (!form) return std::move(form).failure();
  info.form = FormOfCode::Vector;
  info.needs_fibers = form->threads_of_fiber != 0;
  info.threads_of_fiber = std::max(1U, form->threads_of_fiber);
  info.runs_rows = form->runs_rows;
  info.waiting_bytes = form->waiting_bytes;
  info.frame_bytes = form->frame_bytes;
  if (Result<void> verified = verify(kernel, *ir); !verified) return std::move(verified).failure();
  const bool is_optimised = target.optimise(*ir, (options.checks & check_class::access_checks) != 0, time);
  if (!is_optimised || time.is_not_enough_for(*ir)) return refuse_form(vector_form_too_long);
  return OptimisedKernel{.ir = std::move(ir), .info = info};
}

bool wants_vector_form(const CompileOptions& options) {
  return options.form != FormOfCode::Scalar && !options.debug;  // debuggers follow one thread
}

/// In the form that is asked for, or else in the scalar one.
Result<OptimisedKernel> make_form(const Analysed& kernel) {
  if (!wants_vector_form(kernel.options)) return make_scalar_form(kernel);
  Result<OptimisedKernel> vector = make_vector_form(kernel);
  if (vector || !is_refusal(vector.failure())) return vector;
  Result<OptimisedKernel> scalar = make_scalar_form(kernel);
  if (scalar) scalar->refusal = join_refusals(vector.failure().sentence(), scalar->refusal);
  return scalar;
}

/// The pipeline. `finish(target, optimised)` assembles.
template <typename Finish>
auto make_kernel(const ptx::Module& module, ptx::FunctionId id, const CompileOptions& options, const Finish& finish)
    -> decltype(finish(std::declval<const HostTarget&>(), std::declval<const OptimisedKernel&>())) {
  const Reach reach = find_reach_and_waits(module, id, analysis::shape_of_warps(options.block));
  const Layout layout = lay_out(module, reach, (options.checks & check_class::access_checks) != 0 ? shared_redzone : 0);
  Result<HostTarget> target = HostTarget::create(options.debug, options.march);
  llvm::LLVMContext context;
  if (!target) return cannot_compile(std::string(module.functions[id].name), ": " + target.failure().sentence());
  const Analysed kernel{module, reach, layout, options, *target, context};
  if (Result<void> supported = check_instructions(kernel); !supported) return std::move(supported).failure();
  Result<OptimisedKernel> made = make_form(kernel);
  if (!made) return std::move(made).failure();
  expand_flushing_adds(*made->ir);
  return finish(*target, *made);
}

Result<KernelRecord> compile_kernel(const ptx::Module& module, ptx::FunctionId kernel, const CompileOptions& options) {
  return make_kernel(module, kernel, options,
                     [](const HostTarget& target, const OptimisedKernel& made) -> Result<KernelRecord> {
                       Result<std::string> object = target.assemble(*made.ir);
                       if (!object) return std::move(object).failure();
                       return KernelRecord{.info = made.info, .refusal = made.refusal, .object = *std::move(object)};
                     });
}

Result<std::string> print_ir(const ptx::Module& module, ptx::FunctionId kernel, const CompileOptions& options) {
  return make_kernel(module, kernel, options,
                     [](const HostTarget&, const OptimisedKernel& made) -> Result<std::string> {
                       std::string text;
                       llvm::raw_string_ostream stream(text);
                       made.ir->print(stream, nullptr);
                       return text;
                     });
}

Result<std::string> print_assembly(const ptx::Module& module, ptx::FunctionId kernel, const CompileOptions& options) {
  return make_kernel(module, kernel, options,
                     [](const HostTarget& target, const OptimisedKernel& made) { return target.assembly(*made.ir); });
}

}  // namespace

extern "C" __attribute__((visibility("default"))) const CompilerLibrary* cucore_cpu_compiler();

const CompilerLibrary* cucore_cpu_compiler() {
  static constexpr CompilerLibrary library{.interface = compiler_interface,
                                           .compile = compile_kernel,
                                           .print_ir = print_ir,
                                           .print_assembly = print_assembly};
  return &library;
}

}  // namespace cucore::cpu::compiler
