// Sides of branches into the blocks that they leave: see flatten_branches.hpp.
#include "cpu/compiler/vector/steps/flatten_branches.hpp"

#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>

#include <algorithm>

#include "cpu/compiler/cost/cost_model.hpp"
#include "cpu/compiler/ir/convergent_calls.hpp"
#include "cpu/compiler/vector/analysis/control_flow.hpp"
#include "cpu/compiler/vector/analysis/stride_analysis.hpp"

namespace cucore::cpu::compiler {

using llvm::BasicBlock;
using llvm::Instruction;

namespace {

bool is_cheap(const Instruction& instruction) {
  switch (instruction.getOpcode()) {
    case Instruction::PHI:
    case Instruction::UDiv:
    case Instruction::SDiv:
    case Instruction::URem:
    case Instruction::SRem:
    case Instruction::FDiv:
    case Instruction::FRem:
    case Instruction::Call:
    case Instruction::Alloca:
      return false;
    default:
      return !instruction.mayReadOrWriteMemory() && !instruction.getType()->isVectorTy() &&
             !instruction.getType()->isStructTy() && llvm::isSafeToSpeculativelyExecute(&instruction);
  }
}

/// A block that all lanes may run: between `from` and the one that it goes on to.
bool is_side(BasicBlock* block, const BasicBlock* from) {
  return block->getSinglePredecessor() == from && block->getSingleSuccessor() != nullptr &&
         block->getSingleSuccessor() != block && block->size() <= cost_model::longest_flat_side + 1 &&
         std::all_of(block->begin(), std::prev(block->end()), is_cheap);
}

bool may_select(BasicBlock* join) {
  const auto phis = join->phis();
  return std::none_of(phis.begin(), phis.end(), [](const llvm::PHINode& phi) {
    return phi.getType()->isVectorTy() || phi.getType()->isStructTy();
  });
}

/// Where the ways of the branch that ends `block` join again, if what is between is worth running for all lanes.
BasicBlock* join_of(BasicBlock* block, const llvm::BranchInst& branch) {
  BasicBlock* const ways[] = {branch.getSuccessor(0), branch.getSuccessor(1)};
  if (ways[0] == ways[1]) return nullptr;
  for (const unsigned n : {0U, 1U})
    if (is_side(ways[n], block) && ways[n]->getSingleSuccessor() == ways[1 - n]) return ways[1 - n];
  if (!is_side(ways[0], block) || !is_side(ways[1], block)) return nullptr;
  return ways[0]->getSingleSuccessor() == ways[1]->getSingleSuccessor() ? ways[0]->getSingleSuccessor() : nullptr;
}

void flatten(BasicBlock* block, llvm::BranchInst* branch, BasicBlock* join) {
  llvm::Value* condition = branch->getCondition();
  BasicBlock* from[2];  // whence the ways come to the join
  BasicBlock* sides[2] = {nullptr, nullptr};
  for (const unsigned n : {0U, 1U}) {
    BasicBlock* const way = branch->getSuccessor(n);
    from[n] = way == join ? block : way;
    if (way != join) sides[n] = way;
  }
  for (BasicBlock* const side : sides) {
    if (side != nullptr) block->splice(branch->getIterator(), side, side->begin(), std::prev(side->end()));
  }
  llvm::IRBuilder<> b(branch);
  for (llvm::PHINode& phi : join->phis()) {
    llvm::Value* const values[] = {phi.getIncomingValueForBlock(from[0]), phi.getIncomingValueForBlock(from[1])};
    llvm::Value* chosen = values[0] == values[1] ? values[0] : b.CreateSelect(condition, values[0], values[1]);
    for (BasicBlock* const side : sides)
      if (side != nullptr) phi.removeIncomingValue(side, /*DeletePHIIfEmpty=*/false);
    if (phi.getBasicBlockIndex(block) >= 0)
      phi.setIncomingValueForBlock(block, chosen);
    else
      phi.addIncoming(chosen, block);
  }
  b.CreateBr(join);
  branch->eraseFromParent();
  for (BasicBlock* const side : sides)
    if (side != nullptr) side->eraseFromParent();
}

bool holds_operation_of_lanes(const BasicBlock& block) {
  return std::any_of(block.begin(), block.end(), [](const Instruction& each) { return is_convergent(each); });
}

}  // namespace

bool flatten_branches(const ControlFlow& flow, const StrideAnalysis& strides) {
  const llvm::SmallPtrSet<BasicBlock*, 32> divergent(strides.divergent_branches().begin(),
                                                     strides.divergent_branches().end());
  bool changed = false;
  llvm::SmallPtrSet<BasicBlock*, 32> gone;
  // From the last block on: what is within a side is flat before the side is looked at.
  for (auto at = flow.order.rbegin(); at != flow.order.rend(); ++at) {
    BasicBlock* const block = *at;
    if (gone.contains(block) || !divergent.contains(block)) continue;
    auto* branch = llvm::dyn_cast<llvm::BranchInst>(block->getTerminator());
    if (branch == nullptr || branch->isUnconditional()) continue;
    BasicBlock* const join = join_of(block, *branch);
    if (join == nullptr || !may_select(join)) continue;
    for (BasicBlock* const way : llvm::successors(block))
      if (way != join) gone.insert(way);
    flatten(block, branch, join);
    changed = true;
    if (join->getSinglePredecessor() == block && !holds_operation_of_lanes(*join) &&
        !holds_operation_of_lanes(*block) && join->getSingleSuccessor() != join) {
      llvm::FoldSingleEntryPHINodes(join);
      if (llvm::MergeBlockIntoPredecessor(join)) gone.insert(join);
    }
  }
  return changed;
}

}  // namespace cucore::cpu::compiler
