// Blocks split around convergent operations: see isolate_convergent_operations.hpp.
#include "cpu/compiler/vector/steps/isolate_convergent_operations.hpp"

#include <llvm/IR/Instructions.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>

#include <vector>

#include "cpu/compiler/ir/convergent_calls.hpp"

namespace cucore::cpu::compiler {

using llvm::Instruction;

namespace {

/// Takes the registers of a fragment out of the result right behind the operation: no other block sees it whole.
/// Returns the last instruction that belongs to it.
Instruction* take_apart(Instruction& operation) {
  if (!operation.getType()->isStructTy()) return &operation;
  const std::vector<llvm::User*> users(operation.user_begin(), operation.user_end());
  Instruction* last = &operation;
  for (llvm::User* user : users) {
    auto* extract = llvm::dyn_cast<llvm::ExtractValueInst>(user);
    if (extract == nullptr) continue;
    extract->moveAfter(last);
    last = extract;
  }
  return last;
}

}  // namespace

void isolate_convergent_operations(llvm::Function& scalar) {
  std::vector<Instruction*> found;
  for (llvm::BasicBlock& block : scalar) {
    for (Instruction& instruction : block) {
      if (is_convergent(instruction)) found.push_back(&instruction);
    }
  }
  for (Instruction* operation : found) {
    llvm::SplitBlock(operation->getParent(), operation);
    llvm::SplitBlock(operation->getParent(), take_apart(*operation)->getNextNode());
  }
}

}  // namespace cucore::cpu::compiler
