// What the full version can run without leaving it: see versions.hpp.
#include "cpu/compiler/vector/analysis/versions.hpp"

#include <llvm/IR/Instructions.h>

#include <algorithm>

#include "cpu/compiler/checks/mark_calls.hpp"
#include "cpu/compiler/checks/number_marks.hpp"
#include "cpu/compiler/cost/cost_model.hpp"
#include "cpu/compiler/vector/analysis/checked_accesses.hpp"

namespace cucore::cpu::compiler {

using llvm::BasicBlock;
using llvm::Instruction;

namespace {

bool may_be_predicated(const Instruction& instruction) {
  if (const auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction)) {
    if (call->getCalledFunction() == nullptr) return false;
    return call->getCalledFunction()->isIntrinsic() || is_mark(instruction, lanes_mark) || is_number_mark(instruction);
  }
  return true;
}

}  // namespace

BasicBlock* predicated_side(const llvm::BranchInst& branch, const ControlFlow& flow, const StrideAnalysis& strides) {
  for (const unsigned n : {0U, 1U}) {
    BasicBlock* side = branch.getSuccessor(n);
    BasicBlock* join = branch.getSuccessor(1 - n);
    const bool has_form = side != join && side->getSinglePredecessor() != nullptr &&
                          side->getSingleSuccessor() == join && flow.index(join) > flow.index(side) &&
                          size_without_checks(*side) <= cost_model::longest_side;
    if (!has_form || !std::all_of(side->begin(), side->end(), may_be_predicated)) continue;
    const auto phis = join->phis();
    if (std::all_of(phis.begin(), phis.end(), [&](const llvm::PHINode& phi) {
          return strides.of(&phi).is_varying() && !phi.getType()->isVectorTy();
        }))
      return side;
  }
  return nullptr;
}

bool may_leave_full_version(const ControlFlow& flow, const StrideAnalysis& strides, const VectorWidth& width) {
  if (width.threads() % width.group() != 0) return true;
  const Blocks& divergent = strides.divergent_branches();
  if (std::any_of(divergent.begin(), divergent.end(), [&](const BasicBlock* block) {
        return predicated_side(*llvm::cast<llvm::BranchInst>(block->getTerminator()), flow, strides) == nullptr;
      }))
    return true;
  return std::any_of(flow.order.begin(), flow.order.end(), [&](const BasicBlock* block) {
    return std::any_of(block->begin(), block->end(), [&](const Instruction& each) { return strides.checks(&each); });
  });
}

llvm::ICmpInst* comparison_of_ends(const llvm::BranchInst& branch, const StrideAnalysis& strides) {
  auto* comparison = branch.isConditional() ? llvm::dyn_cast<llvm::ICmpInst>(branch.getCondition()) : nullptr;
  if (comparison == nullptr || comparison->isEquality() || !strides.of(comparison).is_varying()) return nullptr;
  if (comparison->getParent() != branch.getParent()) return nullptr;  // what it compares may be gone by now
  const llvm::Type* type = comparison->getOperand(0)->getType();
  if (!type->isIntegerTy(32) && !type->isIntegerTy(64)) return nullptr;
  constexpr std::int64_t widest_step = 1 << 20;  // so that the ends are less than half of all values apart
  unsigned steps = 0;
  for (const llvm::Value* operand : comparison->operands()) {
    const Stride stride = strides.of(operand);
    if (!stride.spans_group() || stride.step > widest_step || stride.step < -widest_step) return nullptr;
    if (stride.step != 0) ++steps;
  }
  return steps == 1 ? comparison : nullptr;
}

}  // namespace cucore::cpu::compiler
