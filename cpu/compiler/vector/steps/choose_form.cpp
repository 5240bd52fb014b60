// What the automatic choice of the form weighs: see choose_form.hpp.
#include "cpu/compiler/vector/steps/choose_form.hpp"

#include <llvm/IR/Instructions.h>

#include <algorithm>

#include "cpu/compiler/cost/cost_model.hpp"
#include "cpu/compiler/vector/analysis/checked_accesses.hpp"

namespace cucore::cpu::compiler {

bool is_scalar_form_faster(const ControlFlow& flow, const StrideAnalysis& strides) {
  if (flow.has_convergent_operations()) return false;  // which cost the scalar form a fiber for each lane
  double scalar = 0;
  double vector = 0;
  for (const llvm::BasicBlock* block : flow.order) {
    if (flow.is_seldom_run(block)) continue;
    double weight = 1;
    for (unsigned depth = std::min(flow.loop_depth(block), cost_model::deepest_loop); depth > 0; --depth)
      weight *= cost_model::rounds_of_a_loop;
    for (const llvm::Instruction& instruction : *block) {
      if (is_for_checks(instruction)) continue;  // the same choice with checks and without
      const llvm::Value* const address = llvm::getLoadStorePointerOperand(&instruction);
      const bool is_scattered = (address != nullptr && strides.of(address).is_varying()) || instruction.isAtomic();
      scalar += weight;
      vector += weight * (is_scattered ? cost_model::cost_of_scattered_access : cost_model::cost_of_vector_operation);
    }
  }
  return vector > scalar;
}

}  // namespace cucore::cpu::compiler
