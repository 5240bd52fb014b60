// One instruction of the scalar form after the other: see block_body.hpp.
#include "cpu/compiler/vector/operations/block_body.hpp"

#include <llvm/IR/Instructions.h>

#include <cstddef>

#include "cpu/compiler/vector/analysis/state_fields.hpp"

namespace cucore::cpu::compiler {

using llvm::Instruction;

Result<void> BlockBody::emit(llvm::BasicBlock* block) {
  checks_.index.begin_block();
  prefetching_.begin_block();
  for (Instruction& instruction : *block) {
    if (instruction.isTerminator()) break;
    if (Result<void> done = emit(instruction); !done) return done;
  }
  // What joins a side under a mask with the rest counts as its last instruction.
  if (c_.divergence == nullptr) b.SetCurrentDebugLocation(block->getTerminator()->getDebugLoc());
  if (Result<void> done = numbers_.flush(); !done) return done;
  return checks_.flush();
}

Result<void> BlockBody::emit(Instruction& instruction) {
  if (llvm::isa<llvm::PHINode>(instruction) || llvm::isa<llvm::AllocaInst>(instruction)) return {};
  b.SetCurrentDebugLocation(instruction.getDebugLoc());
  switch (instruction.getOpcode()) {
    case Instruction::Load:
      return memory_.emit_load(llvm::cast<llvm::LoadInst>(instruction));
    case Instruction::Store:
      return memory_.emit_store(llvm::cast<llvm::StoreInst>(instruction));
    case Instruction::Call:
      return calls_.emit(llvm::cast<llvm::CallInst>(instruction));
    case Instruction::AtomicRMW:
    case Instruction::AtomicCmpXchg:
      return atomics_.emit(instruction);
    case Instruction::Fence:
      return emit_fence(instruction);
    case Instruction::ExtractValue:
      return emit_extract(llvm::cast<llvm::ExtractValueInst>(instruction));
    case Instruction::GetElementPtr:
      // What is loaded from the thread's state is known.
      return thread_field(&instruction, c_.scalar) ? Result<void>() : arithmetic_.emit(instruction);
    case Instruction::ICmp:
      return is_compared_late(instruction, c_) ? Result<void>() : arithmetic_.emit(instruction);
    default:
      return arithmetic_.emit(instruction);
  }
}

Result<void> BlockBody::emit_fence(Instruction& fence) {
  if (Result<void> done = checks_.before_effect(); !done) return done;
  b.Insert(copy_of(fence));
  return {};
}

/// Pairs and fragments are kept as their elements, one after the other.
Result<void> BlockBody::emit_extract(llvm::ExtractValueInst& extract) {
  const VectorValue whole = values_.get(extract.getAggregateOperand());
  const std::size_t elements = extract.getAggregateOperand()->getType()->getStructNumElements();
  if (!whole.stride.is_varying() || whole.parts.size() != elements * c_.width.chunks) return arithmetic_.emit(extract);
  const auto* first = whole.parts.begin() + extract.getIndices()[0] * c_.width.chunks;
  values_.put(&extract, {Stride::varying(), Parts(first, first + c_.width.chunks)});
  return {};
}

}  // namespace cucore::cpu::compiler
