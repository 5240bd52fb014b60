// The pass that hoists checks out of loops: see checks/marks.hpp. It needs LLVM's analyses, unlike the emitter of the
// marks.
#pragma once

#include <llvm/IR/PassManager.h>

namespace cucore::cpu::compiler {

/// Turns a function's marks into code. Where an access moves by equal steps, one check before the loop tells whether
/// the first and the last iteration lie in the interval; if so, no iteration checks.
class HoistChecksPass : public llvm::PassInfoMixin<HoistChecksPass> {
 public:
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses);
  static bool isRequired() { return true; }  // nothing else would turn the marks into code
};

}  // namespace cucore::cpu::compiler
