// Marks of numbers in the vector form: questions of several results of all lanes are one branch. Behind it the run-time
// is told which lanes of which chunk have exceptional results.
#pragma once

#include "cpu/compiler/checks/number_marks.hpp"
#include "cpu/compiler/cost/cost_model.hpp"
#include "cpu/compiler/vector/operations/block_checks.hpp"
#include "cpu/compiler/vector/state/context.hpp"
#include "cpu/compiler/vector/state/values.hpp"

namespace cucore::cpu::compiler {

class NumberQuestions {
 public:
  NumberQuestions(EmissionContext& context, VectorValues& values, BlockChecks& checks)
      : c_(context), values_(values), checks_(checks), b(context.b) {}

  /// Asked with the next ones, at the latest by flush().
  Result<void> emit_mark(llvm::CallInst& mark);
  /// Before the lanes change, and where a block ends.
  Result<void> flush();

 private:
  bool is_uniform(const NumberMark& mark);
  llvm::SmallVector<llvm::Value*, 4> values_of(const NumberMark& mark, unsigned chunk);
  llvm::Value* coarse_bits();
  void tell(const NumberMark& mark);

  EmissionContext& c_;
  VectorValues& values_;
  BlockChecks& checks_;
  llvm::IRBuilder<>& b;
  llvm::SmallVector<llvm::CallInst*, cost_model::most_marks_together> waiting_;
  llvm::AllocaInst* room_ = nullptr;   ///< for the values of a mark
  llvm::AllocaInst* masks_ = nullptr;  ///< for the lanes of each chunk
};

}  // namespace cucore::cpu::compiler
