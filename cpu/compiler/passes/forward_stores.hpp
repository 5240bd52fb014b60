// Store-to-load forwarding in straight-line code, which kernels in the vector form mostly are: memory that a kernel has
// just written need not be read.
#pragma once

#include <llvm/IR/PassManager.h>

namespace cucore::cpu::compiler {

/// Replaces loads by values stored before in the same basic block, even if two neighbouring stores hold them: the
/// processor would wait for such stores to reach memory. Removes stores that others overwrite unread.
struct ForwardStoresPass : llvm::PassInfoMixin<ForwardStoresPass> {
  static llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager&);
};

}  // namespace cucore::cpu::compiler
