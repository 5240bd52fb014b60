// LLVM's analyses, which its passes ask for: each a manager that knows the others.
#pragma once

#include <llvm/Analysis/CGSCCPassManager.h>
#include <llvm/Analysis/LoopAnalysisManager.h>
#include <llvm/IR/PassManager.h>

namespace llvm {
class PassInstrumentationCallbacks;
class TargetMachine;
}  // namespace llvm

namespace cucore::cpu::compiler {

struct Analyses {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager call_graph;
  llvm::ModuleAnalysisManager modules;

  /// Without a machine, passes know nothing of what operations cost.
  explicit Analyses(llvm::TargetMachine* machine = nullptr, llvm::PassInstrumentationCallbacks* callbacks = nullptr);
};

}  // namespace cucore::cpu::compiler
