// Branches in the vector form: see branches.hpp.
#include "cpu/compiler/vector/emission/branches.hpp"

#include <llvm/IR/Instructions.h>

#include "cpu/compiler/vector/analysis/versions.hpp"

namespace cucore::cpu::compiler {

using llvm::BasicBlock;
using llvm::Value;

bool is_compared_late(const llvm::Instruction& instruction, const EmissionContext& context) {
  const auto* branch = llvm::dyn_cast<llvm::BranchInst>(instruction.getParent()->getTerminator());
  return context.version == Full && context.divergence == nullptr && branch != nullptr &&
         comparison_of_ends(*branch, context.full) == &instruction && instruction.hasOneUse();
}

Result<void> Branches::emit(BasicBlock* block, const llvm::BranchInst& branch) {
  if (c_.version == Full) return emit_full(block, branch);
  emit_masked(block, branch);
  return {};
}

Result<void> Branches::branch_by_ends(const llvm::BranchInst& branch, llvm::ArrayRef<BasicBlock*> ways) {
  llvm::ICmpInst* comparison = comparison_of_ends(branch, c_.full);
  if (comparison == nullptr) return {};
  Value* first[2];
  Value* last[2];
  Value* in_order = nullptr;
  for (const unsigned n : {0U, 1U}) {
    const std::int64_t step = c_.full.of(comparison->getOperand(n)).step;
    first[n] = values_.first_lane(comparison->getOperand(n), 0);
    last[n] = values_.stepped(first[n], step, c_.width.group() - 1);
    if (step == 0) continue;
    const auto order = comparison->isSigned() ? llvm::CmpInst::ICMP_SLE : llvm::CmpInst::ICMP_ULE;
    in_order = step > 0 ? b.CreateICmp(order, first[n], last[n]) : b.CreateICmp(order, last[n], first[n]);
  }
  Value* first_goes = b.CreateICmp(comparison->getPredicate(), first[0], first[1]);
  Value* last_goes = b.CreateICmp(comparison->getPredicate(), last[0], last[1]);
  auto* not_both = c_.new_block("not.both.ends");
  auto* differ = c_.new_block("ends.differ");
  b.CreateCondBr(b.CreateAnd(in_order, b.CreateAnd(first_goes, last_goes)), ways[0], not_both);
  b.SetInsertPoint(not_both);
  b.CreateCondBr(b.CreateAnd(in_order, b.CreateNot(b.CreateOr(first_goes, last_goes))), ways[1], differ);
  b.SetInsertPoint(differ);
  return is_compared_late(*comparison, c_) ? arithmetic_.emit_vectors(*comparison) : Result<void>();
}

Result<void> Branches::emit_full(BasicBlock* block, const llvm::BranchInst& branch) {
  if (branch.isUnconditional() || branch.getSuccessor(0) == branch.getSuccessor(1)) {
    transitions_.write_phis(block, branch.getSuccessor(0), Full, c_.active.bits());
    if (c_.chains[Full].next(block) == nullptr) b.CreateBr(blocks_.body(branch.getSuccessor(0), Full));
    return {};
  }
  BasicBlock* targets[] = {branch.getSuccessor(0), branch.getSuccessor(1)};
  BasicBlock* ways[] = {c_.new_block("all"), c_.new_block("none")};
  Value* condition = branch.getCondition();
  if (c_.full.of(condition).is_same_in_group()) {
    b.CreateCondBr(values_.first_lane(condition, 0), ways[0], ways[1]);
  } else {
    const Known before_ends = c_.known;
    if (Result<void> done = branch_by_ends(branch, ways); !done) return done;
    Parts yes, no;
    for (unsigned k = 0; k < c_.width.chunks; ++k) {
      yes.push_back(values_.bits_where(condition, k));
      no.push_back(b.CreateNot(yes.back()));
    }
    auto* not_all = c_.new_block("not.all");
    auto* diverged = c_.new_block("diverged");
    b.CreateCondBr(b.CreateNot(is_any_set(b, no)), ways[0], not_all);
    b.SetInsertPoint(not_all);
    b.CreateCondBr(is_any_set(b, yes), diverged, ways[1]);
    b.SetInsertPoint(diverged);
    const Divergence divergence{block, {targets[0], targets[1]}, {yes, no}};
    if (BasicBlock* side = predicated_side(branch, c_.flow, c_.full)) {
      if (Result<void> done = predication_.emit(divergence, side); !done) return done;
    } else {
      transitions_.leave_full_version(divergence);
    }
    c_.known = before_ends;
  }
  for (const Known before = c_.known; unsigned way : {0U, 1U}) {
    c_.known = before;
    b.SetInsertPoint(ways[way]);
    transitions_.write_phis(block, targets[way], Full, c_.active.bits());
    b.CreateBr(blocks_.body(targets[way], Full));
  }
  return {};
}

BasicBlock* Branches::next_dispatch(BasicBlock* block, llvm::ArrayRef<BasicBlock*> targets) const {
  if (BasicBlock* last = c_.overtaking.last_not_passed(block)) return blocks_.next_dispatch(last, {});
  return blocks_.next_dispatch(block, targets);
}

void Branches::emit_masked(BasicBlock* block, const llvm::BranchInst& branch) {
  auto go = [&](BasicBlock* to, llvm::ArrayRef<Value*> mask) {
    transitions_.write_phis(block, to, Masked, mask);
    blocks_.add_waiting(to, mask);
  };
  BasicBlock* first = branch.getSuccessor(0);
  if (c_.chains[Masked].next(block) != nullptr) {
    transitions_.write_phis(block, first, Masked, c_.active.bits());
    return;
  }
  if (branch.isUnconditional() || first == branch.getSuccessor(1)) {
    go(first, c_.active.bits());
    b.CreateBr(next_dispatch(block, {first}));
    return;
  }
  BasicBlock* second = branch.getSuccessor(1);
  Value* condition = branch.getCondition();
  const VectorValue taken = values_.get(condition);
  if (taken.stride.is_uniform()) {
    BasicBlock* ways[] = {c_.new_block("all"), c_.new_block("none")};
    b.CreateCondBr(taken.parts[0], ways[0], ways[1]);
    for (const Known before = c_.known; unsigned way : {0U, 1U}) {
      c_.known = before;
      b.SetInsertPoint(ways[way]);
      go(branch.getSuccessor(way), c_.active.bits());
      b.CreateBr(next_dispatch(block, {branch.getSuccessor(way)}));
    }
    return;
  }
  Parts yes, no;
  for (unsigned k = 0; k < c_.width.chunks; ++k) {
    yes.push_back(values_.bits_where(condition, k));
    no.push_back(b.CreateAnd(c_.active.bits(k), b.CreateNot(yes.back())));
  }
  // At the end of an iteration one way writes the values that the next iteration's lanes share, while the other may
  // still need this iteration's.
  for (BasicBlock* const target : {first, second})
    for (const llvm::PHINode& phi : target->phis()) values_.get(phi.getIncomingValueForBlock(block));
  go(first, yes);
  go(second, no);
  b.CreateBr(next_dispatch(block, {first, second}));
}

}  // namespace cucore::cpu::compiler
