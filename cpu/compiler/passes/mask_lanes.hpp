// A pass for processors without mask registers (AVX2): the masks that the vector form keeps as bits of an integer.
#pragma once

#include <llvm/IR/PassManager.h>

namespace cucore::cpu::compiler {

/// Expands a mask's bits to lanes with a few vector instructions, or reuses the comparisons that gave the bits where
/// they are at hand. LLVM would extract the bits one by one, in some thirty instructions for eight lanes.
struct MaskLanesPass : llvm::PassInfoMixin<MaskLanesPass> {
  static llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager&);
};

}  // namespace cucore::cpu::compiler
