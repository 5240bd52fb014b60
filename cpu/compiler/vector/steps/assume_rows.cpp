// Strides known at the launch: see assume_rows.hpp.
//
// Libraries of arrays pass strides as parameters: `data + i * strides[0]`. The stride analysis knows nothing of such an
// address, so each lane would access memory by itself. Here each product of a lane's number and a parameter on the way
// to such an address is taken to count the bytes from one element to the next, and all of these parameters are compared
// with the sizes of what is accessed once, before the kernel's first instruction. In the copy for rows they are
// constants.
#include "cpu/compiler/vector/steps/assume_rows.hpp"

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/MapVector.h>
#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/PassManager.h>
#include <llvm/Transforms/InstCombine/InstCombine.h>
#include <llvm/Transforms/Scalar/EarlyCSE.h>
#include <llvm/Transforms/Utils/Cloning.h>

#include "cpu/compiler/cost/cost_model.hpp"
#include "cpu/compiler/ir/analyses.hpp"

namespace cucore::cpu::compiler {

using llvm::Instruction;
using llvm::Value;

namespace {

/// Parameters, by the load that reads one, and the values that are assumed.
using Assumptions = llvm::SmallMapVector<llvm::LoadInst*, std::int64_t, 8>;

class StrideFinder {
 public:
  explicit StrideFinder(const StrideAnalysis& strides) : strides_(strides) {}

  /// Follows the address of an access of `bytes` bytes to the products that it is made of.
  void look_at(Value* address, std::int64_t bytes) {
    bytes_ = bytes;
    seen_.clear();
    follow(address, 0);
  }
  const Assumptions& found() const { return found_; }

 private:
  void follow(Value* value, int shift);
  void take_if_stride(Value* factor, const Value* other);

  const StrideAnalysis& strides_;
  std::int64_t bytes_ = 0;
  llvm::SmallPtrSet<Value*, 16> seen_;
  Assumptions found_;
};

/// `value` counts 2^shift bytes in the address.
void StrideFinder::follow(Value* value, int shift) {
  auto* const made = llvm::dyn_cast<Instruction>(value);
  if (made == nullptr || !strides_.of(made).is_varying() || !seen_.insert(made).second) return;
  switch (made->getOpcode()) {
    case Instruction::Shl:
    case Instruction::AShr: {
      const auto* const by = llvm::dyn_cast<llvm::ConstantInt>(made->getOperand(1));
      if (by == nullptr || by->getValue().ugt(63)) return;
      const int bits = static_cast<int>(by->getZExtValue());
      return follow(made->getOperand(0), made->getOpcode() == Instruction::Shl ? shift + bits : shift - bits);
    }
    case Instruction::Mul:
      if (shift != 0) return;
      take_if_stride(made->getOperand(0), made->getOperand(1));
      return take_if_stride(made->getOperand(1), made->getOperand(0));
    case Instruction::GetElementPtr:
      for (Value* operand : made->operands())
        if (operand == made->getOperand(0) ||
            llvm::cast<llvm::GetElementPtrInst>(made)->getSourceElementType()->isIntegerTy(8))
          follow(operand, shift);
      return;
    case Instruction::IntToPtr:
    case Instruction::PtrToInt:
    case Instruction::Freeze:
    case Instruction::SExt:
    case Instruction::ZExt:
    case Instruction::Trunc:
    case Instruction::Add:
    case Instruction::Sub:
    case Instruction::PHI:
      for (Value* operand : made->operands()) follow(operand, shift);
      return;
    default:
      return;
  }
}

/// Only what counts bytes is one. What counts elements may as well be the length of a row, of which each lane has one:
/// `a[i * n + k]`.
void StrideFinder::take_if_stride(Value* factor, const Value* other) {
  while (llvm::isa<llvm::SExtInst, llvm::ZExtInst, llvm::TruncInst>(factor))
    factor = llvm::cast<Instruction>(factor)->getOperand(0);
  auto* const parameter = llvm::dyn_cast<llvm::LoadInst>(factor);
  if (parameter == nullptr || !parameter->hasMetadata(llvm::LLVMContext::MD_invariant_load)) return;
  if (!parameter->getType()->isIntegerTy(32) && !parameter->getType()->isIntegerTy(64)) return;
  const Stride lane = strides_.of(other);
  if (!strides_.of(parameter).is_uniform() || !lane.is_strided() || lane.step != 1 || bytes_ == 1) return;
  found_.insert({parameter, bytes_});  // of several accesses the first decides
}

/// A copy at `b` of what never changes during a launch, and of what it is made of; null if that is not all constant.
Value* made_again(Value* value, llvm::IRBuilder<>& b) {
  if (llvm::isa<llvm::Constant, llvm::Argument>(value)) return value;
  auto* const made = llvm::dyn_cast<Instruction>(value);
  if (made == nullptr || !llvm::isa<llvm::LoadInst, llvm::GetElementPtrInst, llvm::CastInst>(made)) return nullptr;
  const bool is_load = llvm::isa<llvm::LoadInst>(made);
  // A thread's own state says which block it belongs to, and for good.
  const bool is_state = is_load && llvm::isa<llvm::Argument>(made->getOperand(0)->stripInBoundsConstantOffsets());
  if (is_load && !is_state && !made->hasMetadata(llvm::LLVMContext::MD_invariant_load)) return nullptr;
  llvm::SmallVector<Value*, 4> operands;
  for (Value* operand : made->operands()) {
    operands.push_back(made_again(operand, b));
    if (operands.back() == nullptr) return nullptr;
  }
  Instruction* const copy = made->clone();
  for (unsigned n = 0; n < operands.size(); ++n) copy->setOperand(n, operands[n]);
  return b.Insert(copy);
}

/// The same bits of a number whose low 32 bits are zero, if it is a sum of shifted numbers, in 32 bits: a loop of a
/// library of arrays adds to an index that it keeps in the upper half.
class UpperHalf {
 public:
  explicit UpperHalf(llvm::LLVMContext& context) : narrow_(llvm::Type::getInt32Ty(context)) {}

  /// Whether `value` is such a sum. Those of a loop are taken to be while that is found out.
  bool is_sum(Value* value) {
    if (const auto* const number = llvm::dyn_cast<llvm::ConstantInt>(value))
      return number->getValue().countr_zero() >= 32;
    const auto* const made = llvm::dyn_cast<Instruction>(value);
    if (made == nullptr || seen_.contains(made)) return made != nullptr;
    const auto* const number =
        made->getNumOperands() == 2 ? llvm::dyn_cast<llvm::ConstantInt>(made->getOperand(1)) : nullptr;
    if (made->getOpcode() == Instruction::Shl)
      return number != nullptr && number->getValue().uge(32) && number->getValue().ult(64);
    if (made->getOpcode() != Instruction::Add && made->getOpcode() != Instruction::PHI) return false;
    seen_.insert(made);
    return llvm::all_of(made->operands(), [&](Value* operand) { return is_sum(operand); });
  }

  Value* of(Value* value) {
    if (const auto* const number = llvm::dyn_cast<llvm::ConstantInt>(value))
      return llvm::ConstantInt::get(narrow_, number->getZExtValue() >> 32);
    auto* const made = llvm::cast<Instruction>(value);
    if (Value* const known = narrowed_.lookup(made)) return known;
    llvm::IRBuilder<> b(made);
    if (auto* const phi = llvm::dyn_cast<llvm::PHINode>(made)) {
      auto* const half = b.CreatePHI(narrow_, phi->getNumIncomingValues());
      narrowed_[made] = half;
      for (unsigned n = 0; n < phi->getNumIncomingValues(); ++n)
        half->addIncoming(of(phi->getIncomingValue(n)), phi->getIncomingBlock(n));
      return half;
    }
    if (made->getOpcode() == Instruction::Add) {
      Value* const left = of(made->getOperand(0));
      return narrowed_[made] = b.CreateAdd(left, of(made->getOperand(1)));
    }
    const std::uint64_t shift = llvm::cast<llvm::ConstantInt>(made->getOperand(1))->getZExtValue() - 32;
    return narrowed_[made] = b.CreateShl(b.CreateTrunc(made->getOperand(0), narrow_), shift);
  }

 private:
  llvm::Type* narrow_;
  llvm::SmallPtrSet<const Instruction*, 16> seen_;
  llvm::DenseMap<const Instruction*, Value*> narrowed_;
};

void narrow_upper_halves(llvm::Function& function) {
  UpperHalf halves(function.getContext());
  for (Instruction& instruction : llvm::make_early_inc_range(llvm::instructions(function))) {
    if (instruction.getOpcode() != Instruction::AShr || !instruction.getType()->isIntegerTy(64)) continue;
    const auto* const by = llvm::dyn_cast<llvm::ConstantInt>(instruction.getOperand(1));
    if (by == nullptr || !by->equalsInt(32)) continue;
    if (!UpperHalf(function.getContext()).is_sum(instruction.getOperand(0))) continue;
    Value* const half = halves.of(instruction.getOperand(0));
    llvm::IRBuilder<> b(&instruction);
    instruction.replaceAllUsesWith(b.CreateSExt(half, instruction.getType()));
    instruction.eraseFromParent();
  }
}

void simplify(llvm::Function& function) {
  Analyses analyses;
  llvm::FunctionPassManager passes;
  passes.addPass(llvm::InstCombinePass());
  passes.addPass(llvm::EarlyCSEPass());
  passes.run(function, analyses.functions);
}

/// Whether all parameters are as assumed, said at `b`; null if one cannot be read there.
Value* all_hold(const Assumptions& assumptions, llvm::IRBuilder<>& b) {
  Value* all = nullptr;
  for (const auto& [parameter, number] : assumptions) {
    Value* const read = made_again(parameter, b);
    if (read == nullptr) return nullptr;
    Value* const holds =
        b.CreateICmpEQ(read, llvm::ConstantInt::get(read->getType(), static_cast<std::uint64_t>(number)));
    all = all == nullptr ? holds : b.CreateAnd(all, holds);
  }
  return all;
}

/// What the loads and stores of a kernel want its parameters to be.
Assumptions assumptions_of(llvm::Function& scalar, const StrideAnalysis& strides) {
  const llvm::DataLayout& layout = scalar.getDataLayout();
  StrideFinder finder(strides);
  for (Instruction& instruction : llvm::instructions(scalar)) {
    Value* const address = llvm::getLoadStorePointerOperand(&instruction);
    if (address == nullptr || !strides.of(address).is_varying()) continue;
    const auto bytes = layout.getTypeStoreSize(llvm::getLoadStoreType(&instruction)).getFixedValue();
    finder.look_at(address, static_cast<std::int64_t>(bytes));
  }
  return finder.found();
}

}  // namespace

bool assume_rows(llvm::Function& scalar, const StrideAnalysis& strides) {
  if (scalar.getInstructionCount() > cost_model::largest_kernel_with_rows) return false;
  const Assumptions assumptions = assumptions_of(scalar, strides);
  if (assumptions.empty()) return false;
  llvm::BasicBlock& entry = scalar.getEntryBlock();
  Instruction* const first = &*entry.getFirstNonPHIOrDbgOrAlloca();
  llvm::IRBuilder<> b(first);
  Value* const all = all_hold(assumptions, b);
  if (all == nullptr) return false;

  llvm::SmallVector<llvm::BasicBlock*, 16> others{entry.splitBasicBlock(first, "others")};
  for (llvm::BasicBlock& block : scalar)
    if (&block != &entry && &block != others.front()) others.push_back(&block);
  llvm::ValueToValueMapTy copies;
  llvm::SmallVector<llvm::BasicBlock*, 16> rows;
  for (llvm::BasicBlock* block : others) {
    rows.push_back(llvm::CloneBasicBlock(block, copies, ".rows", &scalar));
    copies[block] = rows.back();
  }
  llvm::remapInstructionsInBlocks(rows, copies);
  for (const auto& [parameter, number] : assumptions) {
    Value* const copy = copies[parameter];
    copy->replaceAllUsesWith(llvm::ConstantInt::get(copy->getType(), static_cast<std::uint64_t>(number)));
  }
  Instruction* const end = entry.getTerminator();
  b.SetInsertPoint(end);
  b.CreateCondBr(all, rows.front(), others.front())
      ->setMetadata(usual_way_mark, llvm::MDNode::get(scalar.getContext(), {}));
  end->eraseFromParent();
  simplify(scalar);
  narrow_upper_halves(scalar);
  simplify(scalar);
  return true;
}

}  // namespace cucore::cpu::compiler
