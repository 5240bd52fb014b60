// Branches in the vector form. In the full version all lanes go on together if the first lane and the last say so, or
// each of them; else they part: under a mask for a short side (predication.cpp), or into the masked version.
#include <llvm/IR/Instructions.h>

#include "cpu/compiler/vector/vector_emitter.hpp"

namespace cucore::cpu::codegen {

using llvm::BasicBlock;
using llvm::Value;

/// The comparison that a branch depends on, if it is between something that spans the group, growing or falling from
/// lane to lane, and something that is the same for all: the first lane and the last then tell where all go.
llvm::ICmpInst* VectorEmitter::compares_ends(const llvm::BranchInst& branch) const {
  auto* comparison = branch.isConditional() ? llvm::dyn_cast<llvm::ICmpInst>(branch.getCondition()) : nullptr;
  if (comparison == nullptr || comparison->isEquality() || !full_shapes_.of(comparison).is_varying()) return nullptr;
  if (comparison->getParent() != branch.getParent()) return nullptr;  // what it compares may be gone by now
  const llvm::Type* type = comparison->getOperand(0)->getType();
  if (!type->isIntegerTy(32) && !type->isIntegerTy(64)) return nullptr;
  constexpr std::int64_t widest_step = 1 << 20;  // so that the ends are less than half of all values apart
  unsigned steps = 0;
  for (const Value* operand : comparison->operands()) {
    const Shape shape = full_shapes_.of(operand);
    if (!shape.spans_group() || shape.stride > widest_step || shape.stride < -widest_step) return nullptr;
    if (shape.stride != 0) ++steps;
  }
  return steps == 1 ? comparison : nullptr;
}

/// Whether all lanes are compared only where the ends of the group differ, behind the branch by them.
bool VectorEmitter::is_compared_late(const llvm::Instruction& instruction) const {
  const auto* branch = llvm::dyn_cast<llvm::BranchInst>(instruction.getParent()->getTerminator());
  return version_ == Full && division_ == nullptr && branch != nullptr && compares_ends(*branch) == &instruction &&
         instruction.hasOneUse();
}

/// Goes where all lanes go if the first and the last go there and nothing wraps around between them.
void VectorEmitter::branch_by_ends(const llvm::BranchInst& branch, llvm::ArrayRef<BasicBlock*> ways) {
  llvm::ICmpInst* comparison = compares_ends(branch);
  if (comparison == nullptr) return;
  Value* first[2];
  Value* last[2];
  Value* in_order = nullptr;
  for (const unsigned n : {0U, 1U}) {
    const std::int64_t stride = full_shapes_.of(comparison->getOperand(n)).stride;
    first[n] = first_lane(comparison->getOperand(n), 0);
    last[n] = stepped(first[n], stride, width_.group() - 1);
    if (stride == 0) continue;
    const auto order = comparison->isSigned() ? llvm::CmpInst::ICMP_SLE : llvm::CmpInst::ICMP_ULE;
    in_order = stride > 0 ? b.CreateICmp(order, first[n], last[n]) : b.CreateICmp(order, last[n], first[n]);
  }
  Value* first_goes = b.CreateICmp(comparison->getPredicate(), first[0], first[1]);
  Value* last_goes = b.CreateICmp(comparison->getPredicate(), last[0], last[1]);
  auto* not_both = new_block("not.both.ends");
  auto* differ = new_block("ends.differ");
  b.CreateCondBr(b.CreateAnd(in_order, b.CreateAnd(first_goes, last_goes)), ways[0], not_both);
  b.SetInsertPoint(not_both);
  b.CreateCondBr(b.CreateAnd(in_order, b.CreateNot(b.CreateOr(first_goes, last_goes))), ways[1], differ);
  b.SetInsertPoint(differ);
  if (is_compared_late(*comparison)) emit_vectors(*comparison);
}

void VectorEmitter::emit_full_branch(BasicBlock* block, const llvm::BranchInst& branch) {
  if (branch.isUnconditional() || branch.getSuccessor(0) == branch.getSuccessor(1)) {
    write_phis(block, branch.getSuccessor(0), Full, mask_);
    b.CreateBr(bodies_[Full][branch.getSuccessor(0)]);
    return;
  }
  BasicBlock* targets[] = {branch.getSuccessor(0), branch.getSuccessor(1)};
  BasicBlock* ways[] = {new_block("all"), new_block("none")};
  Value* condition = branch.getCondition();
  if (full_shapes_.of(condition).is_same_in_group()) {
    b.CreateCondBr(first_lane(condition, 0), ways[0], ways[1]);
  } else {
    const Known before_ends = known_;
    branch_by_ends(branch, ways);
    Parts yes, no;
    for (unsigned k = 0; k < width_.chunks; ++k) {
      yes.push_back(bits_where(condition, k));
      no.push_back(b.CreateNot(yes.back()));
    }
    auto* not_all = new_block("not.all");
    auto* divided = new_block("divided");
    b.CreateCondBr(b.CreateNot(any_of(no)), ways[0], not_all);
    b.SetInsertPoint(not_all);
    b.CreateCondBr(any_of(yes), divided, ways[1]);
    b.SetInsertPoint(divided);
    const Division division{block, {targets[0], targets[1]}, {yes, no}};
    if (BasicBlock* side = predicated_side(branch)) {
      emit_predicated(division, side);
    } else {
      leave_full_version(division);
    }
    known_ = before_ends;
  }
  for (const Known before = known_; unsigned way : {0U, 1U}) {
    known_ = before;
    b.SetInsertPoint(ways[way]);
    write_phis(block, targets[way], Full, mask_);
    b.CreateBr(bodies_[Full][targets[way]]);
  }
}

void VectorEmitter::emit_masked_branch(BasicBlock* block, const llvm::BranchInst& branch) {
  auto go = [&](BasicBlock* to, llvm::ArrayRef<Value*> mask) {
    write_phis(block, to, Masked, mask);
    for (unsigned k = 0; k < width_.chunks; ++k) {
      llvm::AllocaInst* waiting = waiting_[to][k];
      b.CreateStore(b.CreateOr(b.CreateLoad(mask_type(), waiting), mask[k]), waiting);
    }
  };
  BasicBlock* first = branch.getSuccessor(0);
  if (branch.isUnconditional() || first == branch.getSuccessor(1)) {
    go(first, mask_);
    b.CreateBr(check_after(block, {first}));
    return;
  }
  BasicBlock* second = branch.getSuccessor(1);
  Value* condition = branch.getCondition();
  const Wide taken = get(condition);
  if (taken.shape.is_uniform()) {
    BasicBlock* ways[] = {new_block("all"), new_block("none")};
    b.CreateCondBr(taken.parts[0], ways[0], ways[1]);
    for (const Known before = known_; unsigned way : {0U, 1U}) {
      known_ = before;
      b.SetInsertPoint(ways[way]);
      go(branch.getSuccessor(way), mask_);
      b.CreateBr(check_after(block, {branch.getSuccessor(way)}));
    }
    return;
  }
  Parts yes, no;
  for (unsigned k = 0; k < width_.chunks; ++k) {
    yes.push_back(bits_where(condition, k));
    no.push_back(b.CreateAnd(mask_[k], b.CreateNot(yes.back())));
  }
  // At the end of a loop's turn the one way writes what all lanes of the next turn have in common, and the other one
  // may still need what those of this turn have.
  for (BasicBlock* const target : {first, second})
    for (const llvm::PHINode& phi : target->phis()) get(phi.getIncomingValueForBlock(block));
  go(first, yes);
  go(second, no);
  b.CreateBr(check_after(block, {first, second}));
}

}  // namespace cucore::cpu::codegen
