// A compile, step by step: reach → lay out → declare → emit → optimise → assemble. The compiler library's one entry.
#include "cpu/loader/compiler_library.hpp"

#include <llvm/IR/Verifier.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Support/raw_ostream.h>

#include "compiler_interface.hpp"
#include "cpu/analysis/layout.hpp"
#include "cpu/analysis/reach.hpp"
#include "cpu/analysis/unsupported.hpp"
#include "cpu/analysis/vector_limits.hpp"
#include "cpu/compiler/checks/marks.hpp"
#include "cpu/compiler/emitters/module_emitter.hpp"
#include "cpu/compiler/host_target.hpp"
#include "cpu/compiler/instructions/flushing_adds.hpp"
#include "cpu/compiler/vector/vectorise.hpp"

namespace cucore::cpu::codegen {

namespace {

/// One kernel on its way through the steps.
struct Compilation {
  const ptx::Module& module;
  Reach reach;
  Layout layout;
  HostTarget target;
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> ir;

  CompileOptions options;
  std::string refusal;  ///< of the vector form

  Compilation(const ptx::Module& module_, ptx::FunctionId kernel, const CompileOptions& options_)
      : module(module_),
        reach(module, kernel),
        layout(module, reach, options_.checks != 0 ? kSharedRedzone : 0),
        target(options_.debug, options_.march),
        ir(std::make_unique<llvm::Module>(llvm::StringRef(module.functions[kernel].name), context)),
        options(options_) {}

  /// Emits and optimises; a sentence says what went wrong.
  std::string run() {
    std::string error = emit();
    if (error.empty()) expand_flushing_adds(*ir);
    return error;
  }

  KernelRecord record() {
    return {.info = layout.info, .refusal = refusal, .object = target.assemble(*ir)->getBuffer().str()};
  }

 private:
  std::string emit() {
    if (!target.error().empty()) return kernel_name() + ": " + target.error();
    if (std::string error = refuse_unsupported(); !error.empty()) return error;
    if (options.form != FormOfCode::Scalar && !options.debug) {
      refusal = refuse_vector_form(module, reach, layout.info, options.checks);
      if (refusal.empty()) {
        if (std::string error = emit_vector_form(); !error.empty() || refusal.empty()) return error;
        ir = std::make_unique<llvm::Module>(ir->getName(), context);
      }
    }
    return emit_scalar_form();
  }

  HostFeatures host() const { return {.f16c = target.has_feature("f16c"), .avx512f = target.has_feature("avx512f")}; }

  std::string emit_scalar_form() {
    target.prepare(*ir);
    ModuleEmitter emitter(module, reach, layout, context, *ir, host(), nullptr, options.checks);
    if (options.debug) emitter.describe_for_debuggers();
    emitter.declare();
    emitter.emit_bodies();
    emitter.emit_entry_points(reach.needs_fibers || options.by_thread);
    if (!emitter.error().empty()) return kernel_name() + ": " + emitter.error();
    if (std::string error = verify(); !error.empty()) return error;
    if (options.debug) {
      layout.info.frame_bytes = unoptimised_frame_bytes();
      expand_check_marks(*ir);
    } else {
      target.optimise(*ir, options.checks != 0);
    }
    return {};
  }

  /// An upper bound for all frames of a thread that does not recurse: every register and result has its place there.
  std::uint32_t unoptimised_frame_bytes() const {
    std::size_t bytes = 0;
    for (ptx::FunctionId id : reach.functions)
      bytes += 512 + 16 * module.functions[id].registers.size() + 64 * module.functions[id].body.size();
    return static_cast<std::uint32_t>(std::min<std::size_t>(bytes, std::size_t{16} << 20));
  }

  /// Sets `refusal` if the kernel keeps the scalar form.
  std::string emit_vector_form() {
    target.prepare(*ir);
    ModuleEmitter emitter(module, reach, layout, context, *ir, host(), options.block, options.checks);
    emitter.declare();
    emitter.emit_bodies();
    if (!emitter.error().empty()) return kernel_name() + ": " + emitter.error();
    if (std::string error = verify(); !error.empty()) return error;
    target.optimise(*ir, /*checked=*/false);  // one lane's code, before there are many: all that makes it shorter
    KernelInfo info = layout.info;
    refusal = vectorise(*emitter.kernel(), options, host(), layout.shared_variables, !reach.lockstep.empty(), info);
    if (!refusal.empty()) return {};
    if (std::string error = verify(); !error.empty()) return error;
    layout.info = info;
    target.optimise(*ir, options.checks != 0);
    return {};
  }

  std::string kernel_name() const { return std::string(module.functions[reach.functions.front()].name); }

  std::string refuse_unsupported() const {
    for (ptx::FunctionId id : reach.functions) {
      const ptx::Function& function = module.functions[id];
      for (const Unsupported& found : find_unsupported_in(module, function)) {
        return kernel_name() + " needs " + found.instruction + " (line " + std::to_string(found.line) + ", in " +
               found.kernel + "), which the CPU device does not support: " + found.reason;
      }
    }
    return {};
  }

  /// A generator that made ill-formed IR is a defect here; it must not become a crash of the optimiser.
  std::string verify() const {
    std::string complaint;
    llvm::raw_string_ostream stream(complaint);
    if (!llvm::verifyModule(*ir, &stream)) return {};
    return kernel_name() + ": generated code is ill-formed: " + complaint;
  }
};

bool compile_kernel(const ptx::Module& module, ptx::FunctionId kernel, const CompileOptions& options,
                    KernelRecord& record, std::string& error) {
  Compilation compilation(module, kernel, options);
  error = compilation.run();
  if (error.empty()) record = compilation.record();
  return error.empty();
}

void print_ir(const ptx::Module& module, ptx::FunctionId kernel, const CompileOptions& options, std::string& text) {
  Compilation compilation(module, kernel, options);
  text = compilation.run();
  if (!text.empty()) return;
  llvm::raw_string_ostream stream(text);
  compilation.ir->print(stream, nullptr);
}

void print_assembly(const ptx::Module& module, ptx::FunctionId kernel, const CompileOptions& options,
                    std::string& text) {
  Compilation compilation(module, kernel, options);
  text = compilation.run();
  if (text.empty()) text = compilation.target.assembly(*compilation.ir);
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
