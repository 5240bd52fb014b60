// A pass over loads and stores under masks that are known, as in the last steps of a sum over a block.
#pragma once

#include <llvm/IR/PassManager.h>

namespace cucore::cpu::compiler {

/// Replaces masked accesses of the first 1, 2, 4... lanes by plain accesses of a shorter vector. Processors without
/// mask registers are slow at masked stores, and none forwards a masked store to a load.
struct NarrowMasksPass : llvm::PassInfoMixin<NarrowMasksPass> {
  static llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager&);
};

}  // namespace cucore::cpu::compiler
