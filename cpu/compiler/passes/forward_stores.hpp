// A pass over straight code, as whole blocks of threads in vectors are: memory that a kernel's own stores have just
// filled need not be read.
#pragma once

#include <llvm/IR/PassManager.h>

namespace cucore::cpu::compiler {

/// Makes loads of what was stored before in the same basic block, even if it lies in two neighbouring stores: the
/// processor would wait for such stores to reach memory. Removes stores that others overwrite unread.
struct ForwardStoresPass : llvm::PassInfoMixin<ForwardStoresPass> {
  static llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager&);
};

}  // namespace cucore::cpu::compiler
