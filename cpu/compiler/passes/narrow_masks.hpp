// A pass over loads and stores under masks that are known, as in the last steps of a sum over a block.
#pragma once

#include <llvm/IR/PassManager.h>

namespace cucore::cpu::compiler {

/// Makes accesses of the first 1, 2, 4... lanes of a vector plain accesses of a shorter one. Processors without mask
/// registers store under a mask slowly, and none hands what was stored so to a load before it has reached memory.
struct NarrowMasksPass : llvm::PassInfoMixin<NarrowMasksPass> {
  static llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager&);
};

}  // namespace cucore::cpu::compiler
