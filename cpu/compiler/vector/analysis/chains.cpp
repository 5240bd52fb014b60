// Which blocks make a chain: see chains.hpp.
#include "cpu/compiler/vector/analysis/chains.hpp"

#include <llvm/IR/Instructions.h>

#include <algorithm>

namespace cucore::cpu::compiler {

using llvm::BasicBlock;

Chains::Chains(const ControlFlow& flow, llvm::function_ref<bool(const BasicBlock&)> may_be_entered) {
  for (BasicBlock* block : flow.order) {
    const BasicBlock* const before = block->getSinglePredecessor();
    if (before == nullptr || before->getSingleSuccessor() == nullptr) continue;
    if (flow.index(block) != flow.index(before) + 1 || may_be_entered(*block)) continue;
    first_[block] = first_of(before);
    next_[before] = block;
  }
}

const BasicBlock* Chains::first_of(const BasicBlock* block) const {
  const auto found = first_.find(block);
  return found == first_.end() ? block : found->second;
}

bool Chains::is_used_outside(const llvm::Instruction& value) const {
  const BasicBlock* const first = first_of(value.getParent());
  return std::any_of(value.use_begin(), value.use_end(), [&](const llvm::Use& use) {
    const auto* user = llvm::cast<llvm::Instruction>(use.getUser());
    const auto* phi = llvm::dyn_cast<llvm::PHINode>(user);  // which is set where its lanes come from
    return first_of(phi != nullptr ? phi->getIncomingBlock(use) : user->getParent()) != first;
  });
}

}  // namespace cucore::cpu::compiler
