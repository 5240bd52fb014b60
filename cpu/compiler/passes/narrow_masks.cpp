// Accesses of shorter vectors: see narrow_masks.hpp.
#include "cpu/compiler/passes/narrow_masks.hpp"

#include <llvm/ADT/bit.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>

#include <numeric>

namespace cucore::cpu::compiler {

using llvm::Value;

namespace {

/// How many lanes, the first ones, a mask has, if it is known and they are a power of two but not all; else 0.
unsigned first_lanes(const Value* mask) {
  const auto* known = llvm::dyn_cast<llvm::Constant>(mask);
  if (known == nullptr) return 0;
  const unsigned lanes = llvm::cast<llvm::FixedVectorType>(mask->getType())->getNumElements();
  unsigned count = 0;
  for (unsigned lane = 0; lane < lanes; ++lane) {
    const llvm::Constant* element = known->getAggregateElement(lane);
    if (element == nullptr || !llvm::isa<llvm::ConstantInt>(element)) return 0;
    if (element->isZeroValue()) continue;
    if (lane != count) return 0;
    ++count;
  }
  return count < lanes && llvm::has_single_bit(count) ? count : 0;
}

llvm::Align alignment_of(const llvm::IntrinsicInst& access, unsigned operand) {
  return llvm::cast<llvm::ConstantInt>(access.getArgOperand(operand))->getAlignValue();
}

/// Numbers from 0 to `count` - 1.
llvm::SmallVector<int, 64> first_numbers(unsigned count) {
  llvm::SmallVector<int, 64> result(count);
  std::iota(result.begin(), result.end(), 0);
  return result;
}

void narrow_load(llvm::IntrinsicInst& load, unsigned count) {
  llvm::IRBuilder<> b(&load);
  auto* type = llvm::cast<llvm::FixedVectorType>(load.getType());
  Value* others = load.getArgOperand(3);
  Value* made = nullptr;
  if (count == 1) {
    made = b.CreateAlignedLoad(type->getElementType(), load.getArgOperand(0), alignment_of(load, 1));
    made = b.CreateInsertElement(others, made, std::uint64_t{0});
  } else {
    auto* shorter = llvm::FixedVectorType::get(type->getElementType(), count);
    made = b.CreateAlignedLoad(shorter, load.getArgOperand(0), alignment_of(load, 1));
    llvm::SmallVector<int, 64> picks = first_numbers(count);
    picks.resize(type->getNumElements(), llvm::PoisonMaskElem);
    made = b.CreateSelect(load.getArgOperand(2), b.CreateShuffleVector(made, picks), others);
  }
  load.replaceAllUsesWith(made);
  load.eraseFromParent();
}

void narrow_store(llvm::IntrinsicInst& store, unsigned count) {
  llvm::IRBuilder<> b(&store);
  Value* value = store.getArgOperand(0);
  value =
      count == 1 ? b.CreateExtractElement(value, std::uint64_t{0}) : b.CreateShuffleVector(value, first_numbers(count));
  b.CreateAlignedStore(value, store.getArgOperand(1), alignment_of(store, 2));
  store.eraseFromParent();
}

}  // namespace

llvm::PreservedAnalyses NarrowMasksPass::run(llvm::Function& function, llvm::FunctionAnalysisManager&) {
  bool changed = false;
  for (llvm::Instruction& each : llvm::make_early_inc_range(llvm::instructions(function))) {
    auto* access = llvm::dyn_cast<llvm::IntrinsicInst>(&each);
    if (access == nullptr) continue;
    const bool is_load = access->getIntrinsicID() == llvm::Intrinsic::masked_load;
    if (!is_load && access->getIntrinsicID() != llvm::Intrinsic::masked_store) continue;
    const unsigned count = first_lanes(access->getArgOperand(is_load ? 2 : 3));
    if (count == 0) continue;
    if (is_load)
      narrow_load(*access, count);
    else
      narrow_store(*access, count);
    changed = true;
  }
  if (!changed) return llvm::PreservedAnalyses::all();
  llvm::PreservedAnalyses preserved;
  preserved.preserveSet<llvm::CFGAnalyses>();
  return preserved;
}

}  // namespace cucore::cpu::compiler
