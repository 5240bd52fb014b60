// Makes values of the stack slots of large functions as long as there is time. LLVM's own pass does it for all slots at
// once, in time that grows with slots times blocks: a kernel of 27,000 instructions takes it 15 seconds. Of slots that
// are written at several places it also looks through each block from its beginning to the first access, so that time
// grows with the square of a long block: 6,500 instructions of an unrolled hash, 4 seconds. Registers begin as zero, so
// nearly all are written twice; where nobody can read that zero it is not stored.
#pragma once

#include <llvm/IR/PassManager.h>

#include <functional>

namespace cucore::cpu::compiler {

/// Leaves to LLVM's pass the slots of functions whose values it makes in a moment.
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
