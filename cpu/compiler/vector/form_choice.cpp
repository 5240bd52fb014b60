// What the automatic choice of the form weighs: see form_choice.hpp.
#include "cpu/compiler/vector/form_choice.hpp"

#include <llvm/IR/Instructions.h>

#include <algorithm>

#include "cpu/compiler/vector/checks.hpp"
#include "cpu/compiler/vector/cost_model.hpp"

namespace cucore::cpu::codegen {

std::string prefer_scalar_form(const VectorFlow& flow, const Shapes& shapes) {
  if (flow.has_meetings()) return {};  // lanes that meet cost the scalar form a fiber each
  double scalar = 0;
  double vector = 0;
  for (const llvm::BasicBlock* block : flow.order) {
    double weight = 1;
    for (unsigned depth = std::min(flow.loop_depth(block), cost_model::deepest_loop); depth > 0; --depth)
      weight *= cost_model::rounds_of_a_loop;
    for (const llvm::Instruction& instruction : *block) {
      if (is_for_checks(instruction)) continue;  // the same choice with checks and without
      const llvm::Value* const address = llvm::getLoadStorePointerOperand(&instruction);
      const bool is_scattered = (address != nullptr && shapes.of(address).is_varying()) || instruction.isAtomic();
      scalar += weight;
      vector += weight * (is_scattered ? cost_model::cost_of_scattered_access : cost_model::cost_of_vector_operation);
    }
  }
  return vector > scalar ? "its scattered accesses" : "";
}

}  // namespace cucore::cpu::codegen
