// Masks that instruction selection must not look through: see opaque_masks.hpp.
#include "cpu/compiler/passes/opaque_masks.hpp"

#include <llvm/ADT/DenseMap.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InlineAsm.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>

#include "cpu/compiler/cost/cost_model.hpp"

namespace cucore::cpu::compiler {

using llvm::Instruction;
using llvm::Value;

namespace {

/// The number of lanes of a mask that fits an integer of the host; 0 if it is none.
unsigned mask_lanes_of(const llvm::Type* type) {
  const auto* lanes = llvm::dyn_cast<llvm::FixedVectorType>(type);
  if (lanes == nullptr || !lanes->getElementType()->isIntegerTy(1)) return 0;
  const unsigned count = lanes->getNumElements();
  return count == 8 || count == 16 || count == 32 || count == 64 ? count : 0;
}

bool is_combined(const Value* bits, unsigned conversions = 0) {
  const auto* instruction = llvm::dyn_cast<Instruction>(bits);
  if (instruction == nullptr || conversions == cost_model::most_conversions_of_mask) return false;
  if (instruction->isBitwiseLogicOp()) return true;
  const bool is_conversion =
      llvm::isa<llvm::TruncInst, llvm::ZExtInst, llvm::FreezeInst>(instruction) || instruction->isShift();
  return is_conversion && is_combined(instruction->getOperand(0), conversions + 1);
}

/// The same number, of which nothing is known: it comes out of an empty piece of assembly.
Value* hidden(llvm::IRBuilder<>& b, Value* number) {
  auto* type = llvm::FunctionType::get(number->getType(), {number->getType()}, false);
  auto* copy = b.CreateCall(type, llvm::InlineAsm::get(type, "", "=r,0", /*hasSideEffects=*/false), {number});
  copy->setDoesNotAccessMemory();
  copy->setDoesNotThrow();
  return copy;
}

bool hide_combined_bits(llvm::Function& function) {
  llvm::SmallVector<llvm::BitCastInst*, 32> casts;
  for (Instruction& each : llvm::instructions(function)) {
    auto* cast = llvm::dyn_cast<llvm::BitCastInst>(&each);
    if (cast != nullptr && mask_lanes_of(cast->getType()) != 0 && is_combined(cast->getOperand(0)))
      casts.push_back(cast);
  }
  for (llvm::BitCastInst* cast : casts) {
    llvm::IRBuilder<> b(cast);
    cast->setOperand(0, hidden(b, cast->getOperand(0)));
  }
  return !casts.empty();
}

/// The integer that a mask is made of at once; null if it is none.
Value* bits_of_mask(Value* mask) {
  auto* cast = llvm::dyn_cast<llvm::BitCastInst>(mask);
  if (cast == nullptr || mask_lanes_of(cast->getType()) == 0) return nullptr;
  return cast->getOperand(0)->getType()->isIntegerTy() ? cast->getOperand(0) : nullptr;
}

/// Masks that are integers both are combined as integers: instruction selection would do that, and undo it wherever one
/// of the two is used as a mask, too.
bool combine_in_integers(llvm::Function& function) {
  bool changed = false;
  for (Instruction& each : llvm::make_early_inc_range(llvm::instructions(function))) {
    if (!each.isBitwiseLogicOp() || mask_lanes_of(each.getType()) == 0) continue;
    Value* const left = bits_of_mask(each.getOperand(0));
    Value* const right = bits_of_mask(each.getOperand(1));
    if (left == nullptr || right == nullptr) continue;
    llvm::IRBuilder<> b(&each);
    Value* const bits = b.CreateBinOp(llvm::cast<llvm::BinaryOperator>(each).getOpcode(), left, right);
    each.replaceAllUsesWith(b.CreateBitCast(hidden(b, bits), each.getType()));
    each.eraseFromParent();
    changed = true;
  }
  return changed;
}

bool cut_ways(llvm::BasicBlock& block) {
  llvm::DenseMap<const Value*, unsigned> ways;
  bool changed = false;
  for (Instruction& each : llvm::make_early_inc_range(block)) {
    const unsigned lanes = mask_lanes_of(each.getType());
    if (lanes == 0) continue;
    if (!each.isBitwiseLogicOp() && !llvm::isa<llvm::SelectInst, llvm::FreezeInst>(each)) continue;
    unsigned total = 0;
    for (const Value* operand : each.operands()) {
      const auto found = ways.find(operand);
      total += found != ways.end() ? found->second : 1;
    }
    ways[&each] = total;
    if (total <= cost_model::most_ways_of_mask) continue;
    llvm::IRBuilder<> b(each.getNextNode());
    Value* const bits = b.CreateBitCast(&each, b.getIntNTy(lanes));
    Value* const again = b.CreateBitCast(hidden(b, bits), each.getType());
    each.replaceUsesWithIf(again, [&](const llvm::Use& use) { return use.getUser() != bits; });
    changed = true;
  }
  return changed;
}

}  // namespace

llvm::PreservedAnalyses OpaqueMasksPass::run(llvm::Function& function, llvm::FunctionAnalysisManager&) const {
  bool changed = false;
  if (has_mask_registers_) {
    changed = combine_in_integers(function);
    changed |= hide_combined_bits(function);
  } else {
    for (llvm::BasicBlock& block : function) changed |= cut_ways(block);
  }
  return changed ? llvm::PreservedAnalyses::none() : llvm::PreservedAnalyses::all();
}

}  // namespace cucore::cpu::compiler
