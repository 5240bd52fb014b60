// As PassBuilder wants it: see analyses.hpp.
#include "cpu/compiler/ir/analyses.hpp"

#include <llvm/Passes/PassBuilder.h>

#include <optional>

namespace cucore::cpu::compiler {

Analyses::Analyses(llvm::TargetMachine* machine, llvm::PassInstrumentationCallbacks* callbacks) {
  llvm::PassBuilder builder(machine, llvm::PipelineTuningOptions(), std::nullopt, callbacks);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(call_graph);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, call_graph, modules);
}

}  // namespace cucore::cpu::compiler
