// A compile, step by step: reach → lay out → declare → emit → optimise → assemble → link.
#include "cpu/codegen/compiler.hpp"

#include <llvm/IR/Verifier.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Support/raw_ostream.h>

#include "cpu/codegen/host_target.hpp"
#include "cpu/codegen/layout.hpp"
#include "cpu/codegen/module_emitter.hpp"
#include "cpu/codegen/reach.hpp"
#include "cpu/codegen/unsupported.hpp"

namespace cucore::cpu::codegen {

namespace {

/// One kernel on its way through the steps.
struct Compilation {
  const ptx::Module& module;
  Reach reach;
  Layout layout;
  HostTarget target;
  llvm::LLVMContext context;
  llvm::Module ir;

  Compilation(const ptx::Module& module_, ptx::FunctionId kernel)
      : module(module_),
        reach(module, kernel),
        layout(module, reach),
        ir(llvm::StringRef(module.functions[kernel].name), context) {
    target.prepare(ir);
  }

  /// Emits and optimises; a sentence says what went wrong.
  std::string run() {
    if (std::string error = refuse_unsupported(); !error.empty()) return error;
    ModuleEmitter emitter(module, reach, layout, context, ir,
                          {.f16c = target.has_feature("f16c"), .avx512f = target.has_feature("avx512f")});
    emitter.declare();
    emitter.emit();
    if (!emitter.error().empty()) return kernel_name() + ": " + emitter.error();
    if (std::string error = verify(); !error.empty()) return error;
    target.optimise(ir);
    return {};
  }

 private:
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
    if (!llvm::verifyModule(ir, &stream)) return {};
    return kernel_name() + ": generated code is ill-formed: " + complaint;
  }
};

std::string ir_text(const llvm::Module& ir) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  ir.print(stream, nullptr);
  return text;
}

}  // namespace

CompileResult compile(const ptx::Module& module, ptx::FunctionId kernel, const ModuleAddresses& addresses) {
  Compilation compilation(module, kernel);
  if (std::string error = compilation.run(); !error.empty()) return {.code = nullptr, .error = std::move(error)};
  CompileResult result =
      link(compilation.target.assemble(compilation.ir), module, compilation.reach, compilation.layout.info, addresses);
  if (result.code == nullptr) result.error = std::string(module.functions[kernel].name) + ": " + result.error;
  return result;
}

std::string dump_ir(const ptx::Module& module, ptx::FunctionId kernel) {
  Compilation compilation(module, kernel);
  if (std::string error = compilation.run(); !error.empty()) return error;
  return ir_text(compilation.ir);
}

std::string dump_assembly(const ptx::Module& module, ptx::FunctionId kernel) {
  Compilation compilation(module, kernel);
  if (std::string error = compilation.run(); !error.empty()) return error;
  return compilation.target.assembly(compilation.ir);
}

}  // namespace cucore::cpu::codegen
