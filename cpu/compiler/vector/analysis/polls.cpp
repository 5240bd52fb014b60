// Who polls, and what others do meanwhile: see polls.hpp.
#include "cpu/compiler/vector/analysis/polls.hpp"

#include <llvm/ADT/SetVector.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>

#include <algorithm>

namespace cucore::cpu::compiler {

using llvm::BasicBlock;
using llvm::Instruction;

bool may_change_memory(const Instruction& instruction) {
  if (const auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction))
    return !llvm::isa<llvm::AllocaInst>(llvm::getUnderlyingObject(store->getPointerOperand()));
  if (is_convergent(instruction) || llvm::isa<llvm::FenceInst, llvm::LoadInst>(instruction)) return false;
  return instruction.mayWriteToMemory() && !instruction.isLifetimeStartOrEnd();
}

namespace {

/// What follows a branch, up to barriers of the block.
llvm::SetVector<BasicBlock*> blocks_behind(BasicBlock* branch) {
  llvm::SetVector<BasicBlock*> behind(llvm::succ_begin(branch), llvm::succ_end(branch));
  for (std::size_t n = 0; n < behind.size(); ++n) {
    BasicBlock* const block = behind[n];
    if (!is_block_barrier(block->front())) behind.insert(llvm::succ_begin(block), llvm::succ_end(block));
  }
  return behind;
}

}  // namespace

bool has_polls(const llvm::Function& scalar) {
  const auto all = llvm::instructions(scalar);
  return std::any_of(all.begin(), all.end(), is_poll);
}

bool poll_together(const ControlFlow& flow, const StrideAnalysis& masked) {
  return flow.arrive_together(masked.divergent_in_warps(), [](const Instruction& each) { return is_convergent(each); });
}

bool others_change_nothing(BasicBlock* block, const ControlFlow& flow, const StrideAnalysis& masked) {
  const llvm::Loop* loop = flow.loop_of(block);
  if (loop == nullptr) return false;
  for (BasicBlock* branch : masked.divergent_in_warps()) {
    const llvm::SetVector<BasicBlock*> behind = blocks_behind(branch);
    if (!behind.contains(block)) continue;
    const bool some_write = std::any_of(behind.begin(), behind.end(), [&](const BasicBlock* other) {
      // What lanes do on their way to the loop they have all done before one polls.
      if (!loop->contains(other) && flow.dominates(other, loop->getHeader())) return false;
      return std::any_of(other->begin(), other->end(), may_change_memory);
    });
    if (some_write) return false;
  }
  return true;
}

}  // namespace cucore::cpu::compiler
