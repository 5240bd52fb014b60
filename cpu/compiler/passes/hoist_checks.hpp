// The pass that takes checks out of loops: see checks/marks.hpp. Needs LLVM's analyses, unlike what emits the marks.
#pragma once

#include <llvm/IR/PassManager.h>

namespace cucore::cpu::compiler {

/// Makes code of a function's marks. Where an access moves by equal steps, the place before its loop says once whether
/// the first and the last round lie in the interval; then no round asks.
class HoistChecksPass : public llvm::PassInfoMixin<HoistChecksPass> {
 public:
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses);
  static bool isRequired() { return true; }  // or marks stay that nothing else makes code of
};

}  // namespace cucore::cpu::compiler
