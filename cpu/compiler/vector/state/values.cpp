// Values of all strides, and the slots in which other blocks find them: see values.hpp.
#include "cpu/compiler/vector/state/values.hpp"

#include <llvm/IR/CFG.h>
#include <llvm/IR/Instructions.h>

#include <utility>

#include "cpu/compiler/checks/mark_calls.hpp"

namespace cucore::cpu::compiler {

using llvm::Instruction;
using llvm::Value;

namespace {

/// Emits a conversion of a value next to the instruction that made the value, so that a load can be folded into it.
template <typename Emit>
Value* as_part_of(const Value* value, llvm::IRBuilder<>& b, const Emit& emit) {
  const llvm::DebugLoc here = b.getCurrentDebugLocation();
  if (const auto* instruction = llvm::dyn_cast<Instruction>(value))
    b.SetCurrentDebugLocation(instruction->getDebugLoc());
  Value* made = emit();
  b.SetCurrentDebugLocation(here);
  return made;
}

}  // namespace

Slots& VectorValues::slots_of(Instruction* instruction, Version version) {
  Slots& slots = slots_[version][instruction];
  if (slots.empty()) {
    const Stride stride = (version == Full ? c_.full : c_.masked).of(instruction);
    llvm::Type* type = stride.is_varying() ? c_.widened(instruction->getType()) : instruction->getType();
    for (unsigned k = 0; k < c_.parts_of(stride); ++k) slots.push_back(c_.slot(type, version == Full ? "f" : "m"));
  }
  return slots;
}

void VectorValues::keep_masked_version_in_memory() {
  for (auto& [value, slots] : slots_[Masked])
    for (llvm::AllocaInst* slot : slots) EmissionContext::keep_in_memory(slot);
}

void VectorValues::store(Instruction* instruction, const Parts& parts, Version version) {
  const Slots& slots = slots_of(instruction, version);
  for (unsigned k = 0; k < parts.size(); ++k) b.CreateStore(parts[k], slots[k]);
}

void VectorValues::store_under_mask(Instruction* instruction, const VectorValue& value, llvm::ArrayRef<Value*> mask) {
  const Slots& slots = slots_of(instruction, Masked);
  for (unsigned k = 0; k < value.parts.size(); ++k) {
    Value* part = value.parts[k];
    if (value.stride.is_varying() && mask[k] != c_.all_lanes()) {
      llvm::Type* type = slots[k]->getAllocatedType();
      // Packed halves are one number to a lane.
      const auto bits = static_cast<unsigned>(instruction->getType()->getPrimitiveSizeInBits());
      llvm::Type* whole = instruction->getType()->isVectorTy() ? c_.widened(b.getIntNTy(bits)) : type;
      Value* old = b.CreateLoad(whole, slots[k]);
      Value* lanes = b.CreateBitCast(mask[k], llvm::FixedVectorType::get(b.getInt1Ty(), c_.width.lanes));
      part = b.CreateBitCast(b.CreateSelect(lanes, b.CreateBitCast(part, whole), old), type);
    }
    if (value.stride.is_strided() && mask[k] != c_.all_lanes()) {
      // A chunk comes as a whole, but maybe not all of them.
      Value* old = b.CreateLoad(slots[k]->getAllocatedType(), slots[k]);
      part = b.CreateSelect(b.CreateIsNotNull(mask[k]), part, old);
    }
    b.CreateStore(part, slots[k]);
  }
}

VectorValue VectorValues::get(Value* value) {
  if (llvm::isa<llvm::Constant>(value)) return VectorValue::uniform(value);
  if (auto found = c_.known.values.find(value); found != c_.known.values.end()) return found->second;
  auto* instruction = llvm::cast<Instruction>(value);
  VectorValue result{c_.strides().of(value), {}};
  if (auto local = locals_.find(instruction); local != locals_.end()) {
    for (unsigned k = 0; k < c_.parts_of(result.stride); ++k)
      result.parts.push_back(stepped(local->second, result.stride.step, k * c_.width.lanes));
  } else {
    for (llvm::AllocaInst* from : slots_of(instruction, c_.version))
      result.parts.push_back(b.CreateLoad(from->getAllocatedType(), from));
  }
  c_.known.values[value] = result;
  return result;
}

void VectorValues::put(Instruction* instruction, VectorValue result) {
  const bool is_needed = c_.version == Full || c_.masked_blocks.needs(instruction);
  if ((is_needed && c_.chains[c_.version].is_used_outside(*instruction)) || kept_for_end_.contains(instruction)) {
    if (c_.version == Masked && c_.overtaking.passed_twice().contains(c_.block))
      store_under_mask(instruction, result, c_.active.bits());
    else
      store(instruction, result.parts, c_.version);
  }
  c_.known.values[instruction] = std::move(result);
}

void VectorValues::keep_for_end(llvm::BasicBlock& block) {
  kept_for_end_.clear();
  if (llvm::none_of(block, [](const Instruction& each) { return is_mark(each, lanes_mark); })) return;
  auto* const branch = llvm::dyn_cast<llvm::BranchInst>(block.getTerminator());
  if (branch == nullptr) return;
  if (branch->isConditional()) {
    kept_for_end_.insert(branch->getCondition());
    if (auto* const comparison = llvm::dyn_cast<llvm::ICmpInst>(branch->getCondition()))
      kept_for_end_.insert(comparison->op_begin(), comparison->op_end());
  }
  for (llvm::BasicBlock* const next : llvm::successors(&block))
    for (llvm::PHINode& phi : next->phis()) kept_for_end_.insert(phi.getIncomingValueForBlock(&block));
}

Value* VectorValues::stepped(Value* first, std::int64_t step, unsigned lanes) {
  const std::uint64_t distance = static_cast<std::uint64_t>(step) * lanes;
  if (distance == 0) return first;
  llvm::Type* type = first->getType();
  if (type->isPointerTy()) return b.CreateConstGEP1_64(b.getInt8Ty(), first, distance);
  return b.CreateAdd(first,
                     llvm::ConstantInt::get(type, llvm::APInt(64, distance).zextOrTrunc(type->getIntegerBitWidth())));
}

Value* VectorValues::first_lane_of(const VectorValue& value, unsigned chunk) {
  if (!value.stride.spans_group()) return value.parts[chunk];
  return stepped(value.parts[0], value.stride.step, chunk * c_.width.lanes);
}

Value* VectorValues::splat(Value* scalar_value) {
  if (auto* type = llvm::dyn_cast<llvm::FixedVectorType>(scalar_value->getType())) {
    llvm::Type* whole = b.getIntNTy(static_cast<unsigned>(type->getPrimitiveSizeInBits().getFixedValue()));
    return b.CreateBitCast(b.CreateVectorSplat(c_.width.lanes, b.CreateBitCast(scalar_value, whole)), c_.widened(type));
  }
  return b.CreateVectorSplat(c_.width.lanes, scalar_value);
}

Value* VectorValues::lane_numbers(llvm::Type* integer, std::int64_t step) const {
  llvm::SmallVector<llvm::Constant*, 16> numbers;
  for (unsigned lane = 0; lane < c_.width.lanes; ++lane) {
    const auto number = static_cast<std::uint64_t>(step) * lane;
    numbers.push_back(
        llvm::ConstantInt::get(integer, llvm::APInt(64, number).zextOrTrunc(integer->getIntegerBitWidth())));
  }
  return llvm::ConstantVector::get(numbers);
}

Value* VectorValues::vector_of(const VectorValue& value, unsigned chunk, llvm::Type* scalar_type) {
  if (value.stride.is_varying()) return value.parts[chunk];
  Value* first = first_lane_of(value, chunk);
  if (value.stride.step == 0) return splat(first);
  if (scalar_type->isPointerTy())
    return b.CreateGEP(b.getInt8Ty(), splat(first), lane_numbers(b.getInt64Ty(), value.stride.step));
  return b.CreateAdd(splat(first), lane_numbers(scalar_type, value.stride.step));
}

Value* VectorValues::vector(Value* value, unsigned chunk) {
  const std::pair<Value*, unsigned> key{value, chunk};
  if (auto found = c_.known.vectors.find(key); found != c_.known.vectors.end()) return found->second;
  Value* made = as_part_of(value, b, [&] { return vector_of(get(value), chunk, value->getType()); });
  if (!llvm::isa<llvm::Constant>(value)) c_.known.vectors[key] = made;
  return made;
}

VectorValue VectorValues::converted(Value* value, const Stride& to) {
  const VectorValue from = get(value);
  if (to.kind == from.stride.kind && c_.parts_of(to) == from.parts.size()) return {to, from.parts};
  VectorValue result{to, {}};
  if (to.is_varying()) {
    for (unsigned k = 0; k < c_.width.chunks; ++k)
      result.parts.push_back(as_part_of(value, b, [&] { return vector_of(from, k, value->getType()); }));
  } else {
    for (unsigned k = 0; k < c_.parts_of(to); ++k) result.parts.push_back(first_lane_of(from, k));
  }
  return result;
}

Value* VectorValues::bits_where(Value* predicate, unsigned chunk) {
  const VectorValue value = get(predicate);
  if (!value.stride.is_varying()) {
    Value* first = first_lane_of(value, chunk);
    if (c_.active.is_partial()) first = b.CreateFreeze(first);
    return b.CreateSelect(first, c_.active.bits(chunk), llvm::ConstantInt::get(c_.mask_type(), 0));
  }
  Value* lanes = value.parts[chunk];
  if (c_.active.is_partial())
    lanes = b.CreateSelect(c_.active.vector(chunk), lanes, llvm::Constant::getNullValue(lanes->getType()));
  return b.CreateBitCast(lanes, c_.mask_type());
}

}  // namespace cucore::cpu::compiler
