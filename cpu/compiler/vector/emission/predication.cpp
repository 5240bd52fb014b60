// A side of a branch under a mask: see predication.hpp.
#include "cpu/compiler/vector/emission/predication.hpp"

#include <llvm/IR/Instructions.h>

#include <utility>
#include <vector>

namespace cucore::cpu::compiler {

using llvm::BasicBlock;

Result<void> Predication::emit(const Divergence& divergence, BasicBlock* side) {
  c_.divergence = &divergence;
  c_.block = side;
  c_.active.set(divergence.masks[side == divergence.targets[0] ? 0 : 1]);
  if (Result<void> done = body_.emit(side); !done) return done;
  merge(divergence, side);
  c_.divergence = nullptr;
  c_.block = divergence.from;
  c_.active.set_all();
  return {};
}

void Predication::merge(const Divergence& divergence, BasicBlock* side) {
  BasicBlock* join = side->getSingleSuccessor();
  std::vector<std::pair<llvm::PHINode*, Parts>> merged;
  for (llvm::PHINode& phi : join->phis()) {
    const Stride stride = c_.full.of(&phi);
    const VectorValue here = values_.converted(phi.getIncomingValueForBlock(side), stride);
    const VectorValue there = values_.converted(phi.getIncomingValueForBlock(divergence.from), stride);
    Parts parts;
    for (unsigned k = 0; k < c_.width.chunks; ++k)
      parts.push_back(b.CreateSelect(c_.active.vector(k), here.parts[k], there.parts[k]));
    merged.emplace_back(&phi, parts);
  }
  for (auto& [phi, parts] : merged) values_.store(phi, parts, Full);
  b.CreateBr(blocks_.body(join, Full));
}

}  // namespace cucore::cpu::compiler
