// Makes values of the stack slots of large functions as long as there is time. LLVM's own pass does it for all slots at
// once, in time that grows with slots times blocks: a kernel of 27,000 instructions takes it 15 seconds.
#pragma once

#include <llvm/IR/PassManager.h>

#include <functional>

namespace cucore::cpu::compiler {

/// Does nothing to functions whose slots LLVM's pass makes values of in a moment.
class PromoteSlotsPass : public llvm::PassInfoMixin<PromoteSlotsPass> {
 public:
  /// `may_go_on` is asked now and then; if it says no, slots are left and `*has_left` becomes true.
  PromoteSlotsPass(std::function<bool()> may_go_on, bool* has_left)
      : may_go_on_(std::move(may_go_on)), has_left_(has_left) {}
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses) const;

 private:
  std::function<bool()> may_go_on_;
  bool* has_left_;
};

}  // namespace cucore::cpu::compiler
