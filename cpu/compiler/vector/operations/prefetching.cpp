// What is fetched ahead, and from how far: see prefetching.hpp.
#include "cpu/compiler/vector/operations/prefetching.hpp"

#include <llvm/IR/Instructions.h>

#include <algorithm>

#include "cpu/compiler/checks/mark_calls.hpp"
#include "cpu/compiler/checks/marks.hpp"
#include "cpu/compiler/cost/cost_model.hpp"

namespace cucore::cpu::compiler {

using llvm::Instruction;
using llvm::Value;

namespace {

/// An address before it went through its check, if it did.
Value* unchecked(Value* address) {
  const auto* check = llvm::dyn_cast<llvm::CallInst>(address);
  return check != nullptr && is_mark(*check, lanes_mark) ? LaneMark(*check).address : address;
}

/// Of two operands the one that changes in the loop, if the other does not.
Value* changing_operand(const Instruction& operation, const llvm::Loop& loop) {
  const bool first = loop.isLoopInvariant(operation.getOperand(0));
  const bool second = loop.isLoopInvariant(operation.getOperand(1));
  return first == second ? nullptr : operation.getOperand(first ? 1 : 0);
}

/// What a value at the head of a loop grows by in each iteration; null if that changes.
Value* growth(const llvm::PHINode& phi, const llvm::Loop& loop) {
  if (phi.getParent() != loop.getHeader() || loop.getLoopLatch() == nullptr) return nullptr;
  auto* next = llvm::dyn_cast<Instruction>(phi.getIncomingValueForBlock(loop.getLoopLatch()));
  if (next == nullptr) return nullptr;
  if (const auto* address = llvm::dyn_cast<llvm::GetElementPtrInst>(next);
      address != nullptr && (address->getNumIndices() != 1 || !address->getSourceElementType()->isIntegerTy(8)))
    return nullptr;
  if (next->getOpcode() != Instruction::Add && next->getOpcode() != Instruction::GetElementPtr) return nullptr;
  if (changing_operand(*next, loop) != &phi) return nullptr;
  return next->getOperand(next->getOperand(0) == &phi ? 1 : 0);
}

/// From how many iterations away a row is fetched: a short loop ends many of them before memory answers.
std::uint64_t iterations_ahead(const llvm::Loop& loop) {
  std::uint64_t instructions = 0;
  for (const llvm::BasicBlock* block : loop.blocks()) instructions += block->size();
  return std::clamp<std::uint64_t>(cost_model::instructions_meanwhile / instructions, 1,
                                   cost_model::most_iterations_ahead);
}

}  // namespace

Value* Prefetching::step_of_iteration(Value* address) {
  const llvm::Loop* loop = c_.flow.loop_of(c_.block);
  std::uint64_t scale = 1;
  for (Value* at = address; loop != nullptr && at != nullptr;) {
    at = unchecked(at);
    if (auto* phi = llvm::dyn_cast<llvm::PHINode>(at)) {
      Value* step = growth(*phi, *loop);
      if (step == nullptr || llvm::isa<llvm::Constant>(step) || !c_.strides().of(step).is_uniform()) return nullptr;
      return b.CreateMul(b.CreateSExtOrTrunc(values_.first_lane(step, 0), b.getInt64Ty()), b.getInt64(scale));
    }
    auto* operation = llvm::dyn_cast<Instruction>(at);
    if (operation == nullptr || !loop->contains(operation)) return nullptr;
    const auto* number =
        operation->getNumOperands() == 2 ? llvm::dyn_cast<llvm::ConstantInt>(operation->getOperand(1)) : nullptr;
    switch (operation->getOpcode()) {
      case Instruction::SExt:
      case Instruction::ZExt:
      case Instruction::IntToPtr:
      case Instruction::PtrToInt:
        at = operation->getOperand(0);
        break;
      case Instruction::Shl:
      case Instruction::Mul:
        if (number == nullptr || number->getBitWidth() > 64) return nullptr;
        scale = operation->getOpcode() == Instruction::Shl ? scale << (number->getZExtValue() & 63)
                                                           : scale * number->getZExtValue();
        at = operation->getOperand(0);
        break;
      case Instruction::Add:
      case Instruction::Or:
        at = changing_operand(*operation, *loop);
        break;
      case Instruction::GetElementPtr: {
        if (operation->getNumOperands() != 2) return nullptr;
        at = changing_operand(*operation, *loop);
        llvm::Type* element = llvm::cast<llvm::GetElementPtrInst>(operation)->getSourceElementType();
        if (at == operation->getOperand(1))
          scale *= c_.scalar.getDataLayout().getTypeAllocSize(element).getFixedValue();
        break;
      }
      default:
        return nullptr;
    }
  }
  return nullptr;
}

void Prefetching::ahead_of(Instruction& access) {
  if (c_.version == Masked) return;
  Value* pointer = llvm::getLoadStorePointerOperand(&access);
  llvm::Type* type = llvm::getLoadStoreType(&access);
  const Stride address = c_.strides().of(pointer);
  const std::uint64_t size = c_.scalar.getDataLayout().getTypeStoreSize(type).getFixedValue();
  if (!address.is_strided() || address.step != static_cast<std::int64_t>(size)) return;
  constexpr unsigned to_second_cache = 2, to_all_caches = 3, data = 1;
  Value* distance = nullptr;
  unsigned locality = to_all_caches;
  if (c_.flow.loop_depth(c_.block) != 0) {
    distance = step_of_iteration(pointer);
    if (distance != nullptr) distance = b.CreateMul(distance, b.getInt64(iterations_ahead(*c_.flow.loop_of(c_.block))));
    locality = to_second_cache;
  } else if (c_.width.has_rows() && !c_.flow.has_convergent_operations()) {
    distance = b.getInt64(size * c_.width.block[0]);
  }
  if (distance == nullptr) return;
  llvm::APInt offset(64, 0);
  auto base_of = [&](Value* at) {
    return at->stripAndAccumulateConstantOffsets(c_.scalar.getDataLayout(), offset, true);
  };
  if (!bases_.insert(base_of(unchecked(base_of(pointer)))).second) return;
  constexpr std::uint64_t cache_line = 64;
  const unsigned writes = llvm::isa<llvm::StoreInst>(access) ? 1 : 0;
  const unsigned rows = c_.parts_of(address);
  for (unsigned k = 0; k < rows; ++k) {
    Value* ahead = b.CreateGEP(b.getInt8Ty(), values_.first_lane(pointer, k), distance);
    for (std::uint64_t line = 0; line < size * c_.width.group() / rows; line += cache_line) {
      b.CreateIntrinsic(llvm::Intrinsic::prefetch, {b.getPtrTy()},
                        {b.CreateConstGEP1_64(b.getInt8Ty(), ahead, line), b.getInt32(writes), b.getInt32(locality),
                         b.getInt32(data)});
    }
  }
}

}  // namespace cucore::cpu::compiler
