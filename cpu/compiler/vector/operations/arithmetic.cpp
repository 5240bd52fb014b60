// Operations for all lanes: see arithmetic.hpp.
#include "cpu/compiler/vector/operations/arithmetic.hpp"

#include <llvm/IR/Instructions.h>

#include <string>
#include <utility>

#include "cpu/compiler/vector/analysis/refusal.hpp"

namespace cucore::cpu::compiler {

using llvm::Instruction;
using llvm::Value;

bool is_division(const Instruction& instruction) {
  switch (instruction.getOpcode()) {
    case Instruction::UDiv:
    case Instruction::SDiv:
    case Instruction::URem:
    case Instruction::SRem:
      return true;
    default:
      return false;
  }
}

Instruction* copy_of(const Instruction& instruction) {
  Instruction* copy = instruction.clone();
  copy->dropPoisonGeneratingFlags();
  copy->dropUnknownNonDebugMetadata({llvm::LLVMContext::MD_invariant_load});
  return copy;
}

Result<void> Arithmetic::emit(Instruction& instruction) {
  const Stride stride = c_.strides().of(&instruction);
  if (stride.is_varying()) return emit_vectors(instruction);
  if (c_.strides().checks(&instruction)) {
    if (c_.active.is_partial()) {
      checks_.extend_under_mask(instruction);
      return {};
    }
    checks_.add(instruction);
  }
  values_.put(&instruction, once(instruction, c_.parts_of(stride)));
  return {};
}

VectorValue Arithmetic::once(Instruction& instruction, unsigned parts) {
  VectorValue result{c_.strides().of(&instruction), {}};
  for (unsigned k = 0; k < parts; ++k) {
    if (instruction.getOpcode() == Instruction::Or && result.stride.step != 0) {  // no common bits: a sum
      result.parts.push_back(b.CreateAdd(values_.first_lane(instruction.getOperand(0), k),
                                         values_.first_lane(instruction.getOperand(1), k)));
      continue;
    }
    Instruction* copy = copy_of(instruction);
    for (unsigned n = 0; n < copy->getNumOperands(); ++n) {
      if (llvm::isa<llvm::Function>(copy->getOperand(n))) continue;
      Value* operand = values_.first_lane(instruction.getOperand(n), k);
      // A chunk without lanes here may hold any divisor.
      if (c_.active.is_partial() && n == 1 && is_division(instruction) && parts > 1) {
        operand = b.CreateSelect(c_.active.is_chunk_active(k), operand, llvm::ConstantInt::get(operand->getType(), 1));
      }
      copy->setOperand(n, operand);
    }
    result.parts.push_back(b.Insert(copy));
  }
  return result;
}

Result<void> Arithmetic::emit_vectors(Instruction& instruction) {
  VectorValue result{Stride::varying(), {}};
  for (unsigned k = 0; k < c_.width.chunks; ++k) {
    Value* part = vector_of_chunk(instruction, k);
    if (part == nullptr)
      return refusal(std::string("an operation without a vector form: ") + instruction.getOpcodeName());
    result.parts.push_back(part);
  }
  values_.put(&instruction, std::move(result));
  return {};
}

Value* Arithmetic::vector_of_chunk(Instruction& instruction, unsigned chunk) {
  auto operand = [&](unsigned n) { return values_.vector(instruction.getOperand(n), chunk); };
  if (auto* operation = llvm::dyn_cast<llvm::BinaryOperator>(&instruction)) {
    if (is_division(instruction)) return divided(*operation, chunk);
    return b.CreateBinOp(operation->getOpcode(), operand(0), operand(1));
  }
  if (auto* cast = llvm::dyn_cast<llvm::CastInst>(&instruction)) {
    return b.CreateCast(cast->getOpcode(), operand(0), c_.widened(cast->getType()));
  }
  if (auto* comparison = llvm::dyn_cast<llvm::CmpInst>(&instruction)) {
    return b.CreateCmp(comparison->getPredicate(), operand(0), operand(1));
  }
  switch (instruction.getOpcode()) {
    case Instruction::FNeg:
      return b.CreateFNeg(operand(0));
    case Instruction::Freeze:
      return b.CreateFreeze(operand(0));
    case Instruction::Select: {
      Value* condition = instruction.getOperand(0);
      if (instruction.getType()->isVectorTy() && !condition->getType()->isVectorTy()) return nullptr;
      // A condition that is the same in a chunk chooses whole vectors.
      if (values_.get(condition).stride.is_same_in_chunk() && !condition->getType()->isVectorTy()) {
        Value* chosen = values_.first_lane(condition, chunk);
        return b.CreateSelect(c_.active.is_partial() ? b.CreateFreeze(chosen) : chosen, operand(1), operand(2));
      }
      return b.CreateSelect(operand(0), operand(1), operand(2));
    }
    case Instruction::GetElementPtr: {
      auto& address = llvm::cast<llvm::GetElementPtrInst>(instruction);
      llvm::SmallVector<Value*, 4> indices;
      for (Value* index : address.indices()) {
        indices.push_back(llvm::isa<llvm::Constant>(index) ? index : values_.vector(index, chunk));
      }
      const bool uniform_base = values_.get(address.getPointerOperand()).stride.is_uniform();
      Value* base = uniform_base ? values_.first_lane(address.getPointerOperand(), chunk)
                                 : values_.vector(address.getPointerOperand(), chunk);
      Value* made = b.CreateGEP(address.getSourceElementType(), base, indices);
      return made->getType()->isVectorTy() ? made : values_.splat(made);
    }
    case Instruction::ExtractElement:
    case Instruction::InsertElement:
      return element(instruction, chunk);
    default:
      return nullptr;
  }
}

/// Processors divide integers one at a time, but doubles in vectors: 32 bits and less are divided as these.
Value* Arithmetic::divided(llvm::BinaryOperator& division, unsigned chunk) {
  Value* const dividend = values_.vector(division.getOperand(0), chunk);
  Value* const by = division.getOperand(1);
  const bool as_doubles = !llvm::isa<llvm::Constant>(by) && by->getType()->getScalarSizeInBits() <= 32;
  const bool is_same = as_doubles && !by->getType()->isVectorTy() && values_.get(by).stride.is_same_in_chunk();
  Value* divisor = is_same ? values_.first_lane(by, chunk) : values_.vector(by, chunk);
  if (c_.active.is_partial()) {
    // Other lanes may hold any divisor. Not zero in them either: for LLVM a constant with a zero makes all lanes
    // poison.
    Value* const one = llvm::ConstantInt::get(divisor->getType(), 1);
    divisor = b.CreateBinaryIntrinsic(llvm::Intrinsic::umax, divisor, one);
    if (!is_same) divisor = b.CreateSelect(c_.active.vector(chunk), divisor, one);
  }
  if (!as_doubles) return b.CreateBinOp(division.getOpcode(), dividend, divisor);
  const bool is_signed = division.getOpcode() == Instruction::SDiv || division.getOpcode() == Instruction::SRem;
  Value* const cut = b.CreateCast(
      is_signed ? Instruction::FPToSI : Instruction::FPToUI,
      is_same ? quotient_by_one(dividend, divisor, is_signed) : quotient_of_lanes(dividend, divisor, is_signed),
      dividend->getType());
  if (division.getOpcode() == Instruction::SDiv || division.getOpcode() == Instruction::UDiv) return cut;
  return b.CreateSub(dividend, b.CreateMul(cut, is_same ? values_.splat(divisor) : divisor));
}

/// Cut, it is the quotient of the integers: it is rounded by less than 2^-53 of itself, so by less than the 1/divisor
/// that it is at least away from the next integer.
Value* Arithmetic::quotient_of_lanes(Value* dividend, Value* divisor, bool is_signed) {
  const auto to_doubles = is_signed ? Instruction::SIToFP : Instruction::UIToFP;
  llvm::Type* const doubles = c_.widened(b.getDoubleTy());
  return b.CreateFDiv(b.CreateCast(to_doubles, dividend, doubles), b.CreateCast(to_doubles, divisor, doubles));
}

/// By a divisor that all lanes share, with one division for all: products by its reciprocal, the first double that is
/// not nearer to zero. So they are not nearer to zero than the quotients, which whole ones must not fall below, and
/// less than 2^-51 of themselves away: for dividends of 32 bits less than the 1/divisor to the next integer.
Value* Arithmetic::quotient_by_one(Value* dividend, Value* divisor, bool is_signed) {
  const auto to_doubles = is_signed ? Instruction::SIToFP : Instruction::UIToFP;
  Value* const nearest =
      b.CreateFDiv(llvm::ConstantFP::get(b.getDoubleTy(), 1.0), b.CreateCast(to_doubles, divisor, b.getDoubleTy()));
  Value* const next = b.CreateAdd(b.CreateBitCast(nearest, b.getInt64Ty()), b.getInt64(1));
  Value* const reciprocal = values_.splat(b.CreateBitCast(next, b.getDoubleTy()));
  return b.CreateFMul(b.CreateCast(to_doubles, dividend, c_.widened(b.getDoubleTy())), reciprocal);
}

/// Elements of small vectors, which packed halves are: the vectors of all lanes stand one after the other.
Value* Arithmetic::element(Instruction& instruction, unsigned chunk) {
  const bool extracts = llvm::isa<llvm::ExtractElementInst>(instruction);
  const auto* index = llvm::dyn_cast<llvm::ConstantInt>(instruction.getOperand(extracts ? 1 : 2));
  if (index == nullptr) return nullptr;
  const auto at = static_cast<int>(index->getZExtValue());
  const auto count =
      static_cast<int>(llvm::cast<llvm::FixedVectorType>(instruction.getOperand(0)->getType())->getNumElements());
  const int lanes = static_cast<int>(c_.width.lanes);
  llvm::SmallVector<int, 64> picks;
  if (extracts) {
    for (int lane = 0; lane < lanes; ++lane) picks.push_back(lane * count + at);
    return b.CreateShuffleVector(values_.vector(instruction.getOperand(0), chunk), picks);
  }
  llvm::SmallVector<int, 64> spread;
  for (int n = 0; n < lanes * count; ++n) spread.push_back(n % count == at ? n / count : -1);
  for (int n = 0; n < lanes * count; ++n) picks.push_back(n % count == at ? lanes * count + n : n);
  Value* elements = b.CreateShuffleVector(values_.vector(instruction.getOperand(1), chunk), spread);
  return b.CreateShuffleVector(values_.vector(instruction.getOperand(0), chunk), elements, picks);
}

}  // namespace cucore::cpu::compiler
