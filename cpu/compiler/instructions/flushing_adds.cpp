// See flushing_adds.hpp. No host adds floats atomically, so each is a loop around a compare-and-swap anyway; LLVM would
// make the same without the flushing.
#include "cpu/compiler/instructions/flushing_adds.hpp"

#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Intrinsics.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>

#include "cpu/compiler/emitters/float_values.hpp"

namespace cucore::cpu::compiler {

using llvm::Value;

namespace {

/// Whether the bits are those of a finite number that is neither zero nor subnormal.
Value* is_normal(llvm::IRBuilder<>& b, Value* bits) {
  Value* above_subnormal = b.CreateSub(b.CreateShl(bits, 1), b.getInt32(0x01000000));
  return b.CreateICmpULT(above_subnormal, b.getInt32(0xfe000000));
}

/// The sum's bits where an operand or the sum is not a normal number.
Value* flushed_sum(llvm::IRBuilder<>& b, Value* old, Value* operand) {
  constexpr std::uint32_t nan = 0x7fffffff;  // as an H200 stores it, whatever the operands
  Value* sum = b.CreateFAdd(flush_subnormal(b, old), operand);
  Value* number = b.CreateBitCast(flush_subnormal(b, sum), b.getInt32Ty());
  return b.CreateSelect(b.CreateFCmpUNO(sum, sum), b.getInt32(nan), number);
}

/// Where all are normal numbers, which is what a processor predicts, the sum is on its way after one addition.
void expand(llvm::AtomicRMWInst& add) {
  llvm::BasicBlock* before = add.getParent();
  llvm::Function* function = before->getParent();
  llvm::BasicBlock* done = llvm::SplitBlock(before, &add);
  auto new_block = [&](const char* name) { return llvm::BasicBlock::Create(add.getContext(), name, function, done); };
  llvm::BasicBlock* attempt = new_block("attempt");
  llvm::BasicBlock* careful = new_block("careful");
  llvm::BasicBlock* swap = new_block("swap");
  before->getTerminator()->setSuccessor(0, attempt);

  llvm::IRBuilder<> b(before->getTerminator());
  b.SetCurrentDebugLocation(add.getDebugLoc());
  llvm::Type* word = b.getInt32Ty();
  Value* operand = flush_subnormal(b, add.getValOperand());
  auto* first = b.CreateAlignedLoad(word, add.getPointerOperand(), add.getAlign());
  first->setAtomic(llvm::AtomicOrdering::Monotonic);

  b.SetInsertPoint(attempt);
  auto* old_bits = b.CreatePHI(word, 2);
  old_bits->addIncoming(first, before);
  Value* old = b.CreateBitCast(old_bits, b.getFloatTy());
  Value* sum = b.CreateBitCast(b.CreateFAdd(old, operand), word);
  b.CreateCondBr(b.CreateAnd(is_normal(b, old_bits), is_normal(b, sum)), swap, careful,
                 llvm::MDBuilder(add.getContext()).createLikelyBranchWeights());
  b.SetInsertPoint(careful);
  Value* special = flushed_sum(b, old, operand);
  b.CreateBr(swap);

  b.SetInsertPoint(swap);
  auto* result = b.CreatePHI(word, 2);
  result->addIncoming(sum, attempt);
  result->addIncoming(special, careful);
  const auto failure = llvm::AtomicCmpXchgInst::getStrongestFailureOrdering(add.getOrdering());
  Value* pair =
      b.CreateAtomicCmpXchg(add.getPointerOperand(), old_bits, result, add.getAlign(), add.getOrdering(), failure);
  old_bits->addIncoming(b.CreateExtractValue(pair, 0), swap);
  b.CreateCondBr(b.CreateExtractValue(pair, 1), done, attempt);

  add.replaceAllUsesWith(old);
  add.eraseFromParent();
}

}  // namespace

Value* flushing_add(llvm::IRBuilder<>& b, Value* address, Value* operand, llvm::AtomicOrdering ordering) {
  auto* add = b.CreateAtomicRMW(llvm::AtomicRMWInst::FAdd, address, operand, llvm::Align(sizeof(float)), ordering);
  add->setVolatile(true);
  return add;
}

void expand_flushing_adds(llvm::Module& ir) {
  std::vector<llvm::AtomicRMWInst*> adds;
  for (llvm::Function& function : ir) {
    for (llvm::Instruction& instruction : llvm::instructions(function)) {
      auto* update = llvm::dyn_cast<llvm::AtomicRMWInst>(&instruction);
      if (update != nullptr && update->isVolatile()) adds.push_back(update);
    }
  }
  for (llvm::AtomicRMWInst* add : adds) expand(*add);
}

}  // namespace cucore::cpu::compiler
