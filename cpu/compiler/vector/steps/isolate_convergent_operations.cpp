// Blocks split around convergent operations: see isolate_convergent_operations.hpp.
#include "cpu/compiler/vector/steps/isolate_convergent_operations.hpp"

#include <llvm/IR/Instructions.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>

#include <vector>

#include "cpu/compiler/ir/convergent_calls.hpp"

namespace cucore::cpu::compiler {

using llvm::Instruction;

void isolate_convergent_operations(llvm::Function& scalar) {
  std::vector<Instruction*> found;
  for (llvm::BasicBlock& block : scalar) {
    for (Instruction& instruction : block) {
      if (is_convergent(instruction)) found.push_back(&instruction);
    }
  }
  for (Instruction* operation : found) {
    llvm::SplitBlock(operation->getParent(), operation);
    llvm::SplitBlock(operation->getParent(), operation->getNextNode());
  }
}

}  // namespace cucore::cpu::compiler
