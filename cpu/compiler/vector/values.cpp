// Values of all shapes in the vector form, and the slots in which other blocks find them.
#include <llvm/IR/Instructions.h>

#include "cpu/compiler/emitters/module_emitter.hpp"
#include "cpu/compiler/vector/vector_emitter.hpp"

namespace cucore::cpu::codegen {

using llvm::Instruction;
using llvm::Value;

llvm::Type* VectorEmitter::widened(llvm::Type* scalar) const {
  if (auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(scalar)) {
    return llvm::FixedVectorType::get(vector->getElementType(), vector->getNumElements() * width_.lanes);
  }
  return llvm::FixedVectorType::get(scalar, width_.lanes);
}

llvm::Type* VectorEmitter::part_type(const Shape& shape, llvm::Type* scalar) const {
  return shape.is_varying() ? widened(scalar) : scalar;
}

llvm::AllocaInst* VectorEmitter::slot(llvm::Type* type, const llvm::Twine& name) {
  llvm::BasicBlock& entry = group_->getEntryBlock();
  llvm::IRBuilder<> at(&entry, entry.begin());
  return at.CreateAlloca(type, nullptr, name);
}

VectorEmitter::Slots& VectorEmitter::slots_of(Instruction* instruction, Version version) {
  Slots& slots = slots_[version][instruction];
  if (slots.empty()) {
    const Shape shape = (version == Full ? full_shapes_ : masked_shapes_).of(instruction);
    llvm::Type* type = part_type(shape, instruction->getType());
    for (unsigned k = 0; k < parts_of(shape); ++k) slots.push_back(slot(type, version == Full ? "f" : "m"));
  }
  return slots;
}

Wide VectorEmitter::get(Value* value) {
  if (llvm::isa<llvm::Constant>(value)) return uniform(value);
  if (auto found = known_.values.find(value); found != known_.values.end()) return found->second;
  auto* instruction = llvm::dyn_cast<Instruction>(value);
  if (instruction == nullptr) {
    refuse("a use of the thread's state that is no register");
    return uniform(llvm::PoisonValue::get(value->getType()));
  }
  Wide wide{shapes().of(value), {}};
  if (auto frame = frames_.find(instruction); frame != frames_.end()) {
    for (unsigned k = 0; k < parts_of(wide.shape); ++k)
      wide.parts.push_back(stepped(frame->second, wide.shape.stride, k * width_.lanes));
  } else {
    for (llvm::AllocaInst* from : slots_of(instruction, version_)) {
      wide.parts.push_back(b.CreateLoad(from->getAllocatedType(), from));
    }
  }
  known_.values[value] = wide;
  return wide;
}

/// Keeps the result of an instruction for its block, and for others if they use it.
void VectorEmitter::put(Instruction* instruction, Wide wide) {
  if (instruction->isUsedOutsideOfBlock(current_) || kept_.contains(instruction)) {
    if (instruction->getType()->isStructTy()) {
      refuse("a pair of values that another block takes apart");
      return;
    }
    Slots& slots = slots_of(instruction, version_);
    for (unsigned k = 0; k < wide.parts.size(); ++k) b.CreateStore(wide.parts[k], slots[k]);
  }
  known_.values[instruction] = std::move(wide);
}

/// What a strided value is so many lanes after the first.
Value* VectorEmitter::stepped(Value* first, std::int64_t stride, unsigned lanes) {
  const std::uint64_t distance = static_cast<std::uint64_t>(stride) * lanes;
  if (distance == 0) return first;
  llvm::Type* type = first->getType();
  if (type->isPointerTy()) return b.CreateConstGEP1_64(b.getInt8Ty(), first, distance);
  return b.CreateAdd(first,
                     llvm::ConstantInt::get(type, llvm::APInt(64, distance).zextOrTrunc(type->getIntegerBitWidth())));
}

Value* VectorEmitter::first_lane_of(const Wide& wide, unsigned chunk) {
  if (!wide.shape.spans_group()) return wide.parts[chunk];
  return stepped(wide.parts[0], wide.shape.stride, chunk * width_.lanes);
}

Value* VectorEmitter::splat(Value* scalar) {
  if (auto* type = llvm::dyn_cast<llvm::FixedVectorType>(scalar->getType())) {
    llvm::Type* whole = b.getIntNTy(static_cast<unsigned>(type->getPrimitiveSizeInBits().getFixedValue()));
    return b.CreateBitCast(b.CreateVectorSplat(width_.lanes, b.CreateBitCast(scalar, whole)), widened(type));
  }
  return b.CreateVectorSplat(width_.lanes, scalar);
}

Value* VectorEmitter::lane_numbers(llvm::Type* integer, std::int64_t stride) {
  llvm::SmallVector<llvm::Constant*, 16> numbers;
  for (unsigned lane = 0; lane < width_.lanes; ++lane) {
    const auto number = static_cast<std::uint64_t>(stride) * lane;
    numbers.push_back(
        llvm::ConstantInt::get(integer, llvm::APInt(64, number).zextOrTrunc(integer->getIntegerBitWidth())));
  }
  return llvm::ConstantVector::get(numbers);
}

Value* VectorEmitter::vector_of(const Wide& wide, unsigned chunk, llvm::Type* scalar) {
  if (wide.shape.is_varying()) return wide.parts[chunk];
  Value* first = first_lane_of(wide, chunk);
  if (wide.shape.stride == 0) return splat(first);
  if (scalar->isPointerTy())
    return b.CreateGEP(b.getInt8Ty(), splat(first), lane_numbers(b.getInt64Ty(), wide.shape.stride));
  return b.CreateAdd(splat(first), lane_numbers(scalar, wide.shape.stride));
}

Value* VectorEmitter::vector(Value* value, unsigned chunk) {
  const std::pair<Value*, unsigned> key{value, chunk};
  if (auto found = known_.vectors.find(key); found != known_.vectors.end()) return found->second;
  Value* made = as_part_of(value, [&] { return vector_of(get(value), chunk, value->getType()); });
  if (!llvm::isa<llvm::Constant>(value)) known_.vectors[key] = made;
  return made;
}

Wide VectorEmitter::converted(Value* value, const Shape& to) {
  const Wide wide = get(value);
  llvm::Type* scalar = value->getType();
  if (to.kind == wide.shape.kind && parts_of(to) == wide.parts.size()) return {to, wide.parts};
  Wide result{to, {}};
  if (to.is_varying()) {
    for (unsigned k = 0; k < width_.chunks; ++k)
      result.parts.push_back(as_part_of(value, [&] { return vector_of(wide, k, scalar); }));
  } else if (to.is_strided() && to.stride == wide.shape.stride && wide.shape.spans_group()) {
    for (unsigned k = 0; k < parts_of(to); ++k) result.parts.push_back(first_lane_of(wide, k));
  } else {
    refuse("a value whose shapes do not fit");
    result.parts.assign(parts_of(to), llvm::PoisonValue::get(scalar));
  }
  return result;
}

// ---- masks ---------------------------------------------------------------------------------------------------------

Value* VectorEmitter::mask_vector(unsigned chunk) {
  if (mask_vectors_[chunk] == nullptr) {
    mask_vectors_[chunk] =
        b.CreateBitCast(mask_[chunk], llvm::FixedVectorType::get(b.getInt1Ty(), width_.lanes), "lanes");
  }
  return mask_vectors_[chunk];
}

Value* VectorEmitter::is_chunk_active(unsigned chunk) { return b.CreateIsNotNull(mask_[chunk]); }

Value* VectorEmitter::bits_where(Value* predicate, unsigned chunk) {
  const Wide wide = get(predicate);
  if (!wide.shape.is_varying()) {
    Value* first = first_lane_of(wide, chunk);
    if (is_masked()) first = b.CreateFreeze(first);
    return b.CreateSelect(first, mask_[chunk], llvm::ConstantInt::get(mask_type(), 0));
  }
  Value* lanes = wide.parts[chunk];
  if (is_masked()) {
    lanes = b.CreateSelect(mask_vector(chunk), lanes, llvm::Constant::getNullValue(lanes->getType()));
  }
  return b.CreateBitCast(lanes, mask_type());
}

Value* VectorEmitter::any_of(llvm::ArrayRef<Value*> masks) {
  Value* any = masks[0];
  for (Value* mask : masks.drop_front()) any = b.CreateOr(any, mask);
  return b.CreateIsNotNull(any);
}

Value* VectorEmitter::all_of(llvm::ArrayRef<Value*> masks, llvm::ArrayRef<Value*> expected) {
  Value* differs = b.CreateXor(masks[0], expected[0]);
  for (std::size_t k = 1; k < masks.size(); ++k) {
    differs = b.CreateOr(differs, b.CreateXor(masks[k], expected[k]));
  }
  return b.CreateIsNull(differs);
}

}  // namespace cucore::cpu::codegen
