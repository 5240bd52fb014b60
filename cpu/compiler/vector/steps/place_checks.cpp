// Checks moved to where they cost least: see place_checks.hpp.
#include "cpu/compiler/vector/steps/place_checks.hpp"

#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/Instructions.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>

#include <algorithm>
#include <vector>

#include "cpu/compiler/checks/mark_calls.hpp"

namespace cucore::cpu::compiler {

using llvm::Instruction;

namespace {

bool has_effect(const Instruction& instruction) {
  if (const auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction)) return !load->isSimple();
  return instruction.mayHaveSideEffects();
}

using Visited = llvm::SmallPtrSet<const Instruction*, 16>;

bool operands_can_come_before(const Instruction& instruction, const Instruction& other, Visited& visited);

/// Whether an instruction, and what it needs, can stand before another one of its block. Those visited before can.
bool can_come_before(const Instruction& instruction, const Instruction& other, Visited& visited) {
  if (instruction.getParent() != other.getParent() || instruction.comesBefore(&other)) return true;
  if (!visited.insert(&instruction).second) return true;
  if (llvm::isa<llvm::PHINode>(instruction)) return false;
  const bool never_changes = instruction.hasMetadata(llvm::LLVMContext::MD_invariant_load);
  if (!never_changes && (instruction.mayReadFromMemory() || !llvm::isSafeToSpeculativelyExecute(&instruction)))
    return false;
  return operands_can_come_before(instruction, other, visited);
}

bool operands_can_come_before(const Instruction& instruction, const Instruction& other, Visited& visited) {
  return std::all_of(instruction.value_op_begin(), instruction.value_op_end(), [&](const llvm::Value* operand) {
    const auto* needed = llvm::dyn_cast<Instruction>(operand);
    return needed == nullptr || can_come_before(*needed, other, visited);
  });
}

void move_before(Instruction& instruction, Instruction& other) {
  if (instruction.getParent() != other.getParent() || instruction.comesBefore(&other)) return;
  for (llvm::Value* operand : instruction.operand_values())
    if (auto* needed = llvm::dyn_cast<Instruction>(operand)) move_before(*needed, other);
  instruction.moveBefore(&other);
}

}  // namespace

/// The full version asks once for all checks before the first access of a block, so all come there that can. Addresses
/// without a stride stay: each of their lanes would take room until the access.
void gather_checks(llvm::Function& scalar, const StrideAnalysis& strides) {
  for (llvm::BasicBlock& block : scalar) {
    Instruction* first = nullptr;  // a check, or what has an effect
    for (Instruction& instruction : llvm::make_early_inc_range(block)) {
      if (first == nullptr) {
        if (has_effect(instruction)) first = &instruction;
        continue;
      }
      if (!is_mark(instruction, lanes_mark)) continue;
      const llvm::Value* address = llvm::cast<llvm::CallInst>(instruction).getArgOperand(1);
      Visited visited;
      if (!strides.of(address).is_varying() && operands_can_come_before(instruction, *first, visited))
        move_before(instruction, *first);
    }
  }
}

/// A check that fails restarts its block, so none may come after an effect: see operations/index_checks.hpp. Where
/// accesses are looked at, which may be reported, it comes before the first of them if it can.
bool split_before_checks(llvm::Function& scalar, const StrideAnalysis& strides) {
  std::vector<Instruction*> late;
  for (llvm::BasicBlock& block : scalar) {
    Instruction* effect = nullptr;
    for (Instruction& instruction : llvm::make_early_inc_range(block)) {
      if (effect != nullptr && strides.checks(&instruction)) {
        if (Visited visited; is_mark(*effect, lanes_mark) && can_come_before(instruction, *effect, visited)) {
          move_before(instruction, *effect);
          continue;
        }
        late.push_back(&instruction);
        effect = nullptr;
      }
      if (effect == nullptr && has_effect(instruction)) effect = &instruction;
    }
  }
  for (Instruction* instruction : late) llvm::SplitBlock(instruction->getParent(), instruction);
  return !late.empty();
}

}  // namespace cucore::cpu::compiler
