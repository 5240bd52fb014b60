// A compile, step by step: reach → lay out → declare → emit → (vectorise →) optimise → assemble. make_kernel and the
// two functions above it name the steps, a line each. The compiler library's one entry.
#include <llvm/IR/Verifier.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Support/raw_ostream.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "compiler_interface.hpp"
#include "cpu/abi/compiler.hpp"
#include "cpu/analysis/layout.hpp"
#include "cpu/analysis/reach.hpp"
#include "cpu/analysis/unsupported.hpp"
#include "cpu/analysis/vector_limits.hpp"
#include "cpu/compiler/checks/marks.hpp"
#include "cpu/compiler/compile_budget.hpp"
#include "cpu/compiler/emitters/module_emitter.hpp"
#include "cpu/compiler/host_target.hpp"
#include "cpu/compiler/instructions/body_steps.hpp"
#include "cpu/compiler/instructions/flushing_adds.hpp"
#include "cpu/compiler/vector/vectorise.hpp"

namespace cucore::cpu::codegen {

namespace {

/// What the steps read: a kernel and all that was found out about it before there is code.
struct Analysed {
  const ptx::Module& module;
  const Reach& reach;
  const Layout& layout;
  const CompileOptions& options;
  const HostTarget& target;
  llvm::LLVMContext& context;

  std::string kernel_name() const { return std::string(module.functions[reach.functions.front()].name); }
  HostFeatures host() const { return {.f16c = target.has_feature("f16c"), .avx512f = target.has_feature("avx512f")}; }
};

/// A kernel that waits to be assembled. Without `ir`, `error` says in a sentence why there is none, or `refusal` why
/// there is none in the vector form; with it, that of CompileResult.
struct OptimisedKernel {
  std::unique_ptr<llvm::Module> ir = {};
  KernelInfo info = {};
  std::string refusal = {};
  std::string error = {};
};

std::unique_ptr<llvm::Module> new_module(const Analysed& kernel) {
  auto ir = std::make_unique<llvm::Module>(kernel.kernel_name(), kernel.context);
  kernel.target.prepare(*ir);
  return ir;
}

/// The sentence about the first instruction that has no generator; empty if all have one.
std::string refuse_unsupported(const Analysed& kernel) {
  for (ptx::FunctionId id : kernel.reach.functions) {
    for (const Unsupported& found : find_unsupported_in(kernel.module, kernel.module.functions[id])) {
      return kernel.kernel_name() + " needs " + found.instruction + " (line " + std::to_string(found.line) + ", in " +
             found.kernel + "), which the CPU device does not support: " + found.reason;
    }
  }
  return {};
}

/// A generator that made ill-formed IR is a defect here; it must not become a crash of the optimiser.
std::string verify(const Analysed& kernel, const llvm::Module& ir) {
  std::string complaint;
  llvm::raw_string_ostream stream(complaint);
  if (!llvm::verifyModule(ir, &stream)) return {};
  return kernel.kernel_name() + ": generated code is ill-formed: " + complaint;
}

/// What went wrong while the code was emitted; empty if it may go to the optimiser.
std::string error_of(const Analysed& kernel, const ModuleEmitter& emitter, const llvm::Module& ir) {
  if (!emitter.error().empty()) return kernel.kernel_name() + ": " + emitter.error();
  return verify(kernel, ir);
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
OptimisedKernel make_scalar_form(const Analysed& kernel) {
  const auto& [module, reach, layout, options, target, context] = kernel;
  std::unique_ptr<llvm::Module> ir = new_module(kernel);
  ModuleEmitter emitter(module, reach, layout, context, *ir, kernel.host(), nullptr, options.checks);
  if (options.debug) emitter.describe_for_debuggers();
  emitter.declare();
  emitter.emit_bodies(body_steps);
  emitter.emit_entry_points(reach.needs_fibers || options.by_thread);
  if (std::string error = error_of(kernel, emitter, *ir); !error.empty()) return {.error = error};
  KernelInfo info = layout.info;
  if (options.debug) {
    expand_check_marks(*ir);
    info.frame_bytes = unoptimised_frame_bytes(kernel);
    return {.ir = std::move(ir), .info = info};
  }
  const CompileTime time;
  target.optimise(*ir, options.checks != 0, time);
  if (!time.is_not_enough_for(*ir)) return {.ir = std::move(ir), .info = info};
  target.spare_effort();
  info.frame_bytes = unoptimised_frame_bytes(kernel, *ir);
  return {.ir = std::move(ir), .info = info, .refusal = scalar_form_too_long};
}

/// Declare → emit → optimise one lane's code, before there are many → vectorise → optimise.
OptimisedKernel make_vector_form(const Analysed& kernel) {
  const auto& [module, reach, layout, options, target, context] = kernel;
  if (std::string why = refuse_vector_form(module, reach, layout.info, options.checks); !why.empty())
    return {.refusal = why};
  std::unique_ptr<llvm::Module> ir = new_module(kernel);
  ModuleEmitter emitter(module, reach, layout, context, *ir, kernel.host(), options.block, options.checks);
  emitter.declare();
  emitter.emit_bodies(body_steps);
  if (std::string error = error_of(kernel, emitter, *ir); !error.empty()) return {.error = error};
  const CompileTime time;
  target.optimise(*ir, /*checked=*/false, time);
  if (time.is_up()) return {.refusal = vector_form_too_long};
  KernelInfo info = layout.info;
  if (std::string why =
          vectorise(*emitter.kernel(), options, kernel.host(), layout.shared_variables, !reach.lockstep.empty(), info);
      !why.empty())
    return {.refusal = why};
  if (std::string error = verify(kernel, *ir); !error.empty()) return {.error = error};
  target.optimise(*ir, options.checks != 0, time);
  if (time.is_not_enough_for(*ir)) return {.refusal = vector_form_too_long};
  return {.ir = std::move(ir), .info = info};
}

bool wants_vector_form(const CompileOptions& options) {
  return options.form != FormOfCode::Scalar && !options.debug;  // debuggers follow one thread
}

/// The pipeline, but for assembling.
OptimisedKernel make_kernel(const ptx::Module& module, ptx::FunctionId id, const CompileOptions& options,
                            const HostTarget& target, llvm::LLVMContext& context) {
  const Reach reach = find_reach(module, id);
  const Layout layout = lay_out(module, reach, options.checks != 0 ? kSharedRedzone : 0);
  const Analysed kernel{module, reach, layout, options, target, context};
  if (!target.error().empty()) return {.error = kernel.kernel_name() + ": " + target.error()};
  if (std::string error = refuse_unsupported(kernel); !error.empty()) return {.error = error};
  OptimisedKernel made;
  if (wants_vector_form(options)) made = make_vector_form(kernel);
  if (made.ir == nullptr && made.error.empty()) {
    const std::string refusal = std::move(made.refusal);
    made = make_scalar_form(kernel);
    made.refusal = join_refusals(refusal, made.refusal);
  }
  if (made.ir != nullptr) expand_flushing_adds(*made.ir);
  return made;
}

bool compile_kernel(const ptx::Module& module, ptx::FunctionId kernel, const CompileOptions& options,
                    KernelRecord& record, std::string& error) {
  const HostTarget target(options.debug, options.march);
  llvm::LLVMContext context;
  const OptimisedKernel made = make_kernel(module, kernel, options, target, context);
  error = made.error;
  if (made.ir == nullptr) return false;
  record = {.info = made.info, .refusal = made.refusal, .object = target.assemble(*made.ir)->getBuffer().str()};
  return true;
}

void print_ir(const ptx::Module& module, ptx::FunctionId kernel, const CompileOptions& options, std::string& text) {
  const HostTarget target(options.debug, options.march);
  llvm::LLVMContext context;
  const OptimisedKernel made = make_kernel(module, kernel, options, target, context);
  text = made.error;
  if (made.ir == nullptr) return;
  llvm::raw_string_ostream stream(text);
  made.ir->print(stream, nullptr);
}

void print_assembly(const ptx::Module& module, ptx::FunctionId kernel, const CompileOptions& options,
                    std::string& text) {
  const HostTarget target(options.debug, options.march);
  llvm::LLVMContext context;
  const OptimisedKernel made = make_kernel(module, kernel, options, target, context);
  text = made.ir == nullptr ? made.error : target.assembly(*made.ir);
}

}  // namespace

extern "C" __attribute__((visibility("default"))) const CompilerLibrary* cucore_cpu_compiler();

const CompilerLibrary* cucore_cpu_compiler() {
  static constexpr CompilerLibrary library{.interface = kCompilerInterface,
                                           .compile = compile_kernel,
                                           .print_ir = print_ir,
                                           .print_assembly = print_assembly};
  return &library;
}

}  // namespace cucore::cpu::codegen
