// Atomic operations lane by lane: see atomics.hpp.
#include "cpu/compiler/vector/operations/atomics.hpp"

#include <llvm/IR/Instructions.h>
#include <llvm/Transforms/Utils/LowerAtomic.h>

#include "cpu/compiler/cost/cost_model.hpp"

namespace cucore::cpu::compiler {

using llvm::Instruction;
using llvm::Value;

namespace {

/// Threads of one block share one host thread: between them no atomic instruction is needed.
bool is_between_threads_of_block(const Instruction& instruction) {
  if (const auto* update = llvm::dyn_cast<llvm::AtomicRMWInst>(&instruction))
    return update->getSyncScopeID() == llvm::SyncScope::SingleThread;
  const auto* swap = llvm::dyn_cast<llvm::AtomicCmpXchgInst>(&instruction);
  return swap != nullptr && swap->getSyncScopeID() == llvm::SyncScope::SingleThread;
}

}  // namespace

Result<void> Atomics::emit(Instruction& instruction) {
  if (Result<void> done = checks_.before_effect(); !done) return done;
  return checks_.lanes.emit_access(instruction, [&]() -> Result<VectorValue> { return updated(instruction); });
}

VectorValue Atomics::updated(Instruction& instruction) {
  llvm::SmallVector<Value*, 4> inputs(instruction.operands());
  llvm::SmallVector<llvm::Type*, 2> results{instruction.getType()};
  if (instruction.getType()->isStructTy()) results = {inputs[1]->getType(), b.getInt1Ty()};
  if (instruction.use_empty()) results.clear();
  const bool is_plain = is_between_threads_of_block(instruction);
  auto body = [&](Value*, llvm::ArrayRef<Value*> lane) -> Parts {
    if (auto* update = llvm::dyn_cast<llvm::AtomicRMWInst>(&instruction); is_plain && update != nullptr) {
      Value* old = b.CreateAlignedLoad(update->getType(), lane[0], update->getAlign());
      b.CreateAlignedStore(llvm::buildAtomicRMWValue(update->getOperation(), b, old, lane[1]), lane[0],
                           update->getAlign());
      return results.empty() ? Parts{} : Parts{old};
    }
    if (auto* swap = llvm::dyn_cast<llvm::AtomicCmpXchgInst>(&instruction); is_plain && swap != nullptr) {
      Value* old = b.CreateAlignedLoad(lane[1]->getType(), lane[0], swap->getAlign());
      Value* equal = b.CreateICmpEQ(old, lane[1]);
      b.CreateAlignedStore(b.CreateSelect(equal, lane[2], old), lane[0], swap->getAlign());
      return results.empty() ? Parts{} : Parts{old, equal};
    }
    Instruction* copy = instruction.clone();
    for (unsigned n = 0; n < lane.size(); ++n) copy->setOperand(n, lane[n]);
    Value* made = b.Insert(copy);
    if (results.empty()) return {};
    if (results.size() == 1) return {made};
    return {b.CreateExtractValue(made, 0), b.CreateExtractValue(made, 1)};
  };
  std::vector<VectorValue> wides =
      lanes_.for_each(inputs, results, body, is_plain ? cost_model::lanes_in_iteration : 1);
  if (wides.empty()) return {};
  VectorValue whole = wides[0];
  if (wides.size() == 2) whole.parts.append(wides[1].parts.begin(), wides[1].parts.end());
  return whole;
}

}  // namespace cucore::cpu::compiler
