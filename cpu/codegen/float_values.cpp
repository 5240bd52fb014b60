#include "cpu/codegen/float_values.hpp"

namespace cucore::cpu::codegen {

using llvm::Value;
using ptx::Instruction;
using ptx::Type;
using M = ptx::Modifier;

Rounding rounding_of(const Instruction& instruction) {
  if (instruction.has(M::Rz)) return Rounding::Zero;
  if (instruction.has(M::Rm)) return Rounding::Down;
  if (instruction.has(M::Rp)) return Rounding::Up;
  return Rounding::Nearest;
}

Value* flush_subnormal(FunctionEmitter& f, Value* value) {
  if (!value->getType()->isFloatTy()) return value;
  Value* bits = f.b.CreateBitCast(value, f.b.getInt32Ty());
  Value* has_exponent = f.b.CreateICmpNE(f.b.CreateAnd(bits, 0x7f800000), f.b.getInt32(0));
  Value* zero = f.b.CreateBitCast(f.b.CreateAnd(bits, 0x80000000), f.b.getFloatTy());
  return f.b.CreateSelect(has_exponent, value, zero);
}

Value* saturate(FunctionEmitter& f, Value* value) {
  Value* zero = llvm::ConstantFP::get(value->getType(), 0.0);
  Value* one = llvm::ConstantFP::get(value->getType(), 1.0);
  Value* at_most_one = f.b.CreateSelect(f.b.CreateFCmpOLT(value, one), value, one);
  return f.b.CreateSelect(f.b.CreateFCmpOGT(value, zero), at_most_one, zero);
}

Value* widen_half(FunctionEmitter& f, Value* half, Type type) {
  if (type == Type::Bf16) {
    Value* bits = f.b.CreateShl(f.b.CreateZExt(half, f.b.getInt32Ty()), 16);
    return f.b.CreateBitCast(bits, f.b.getFloatTy());
  }
  if (!f.module.converts_halves) return f.call("cucpu_f16_to_f32", f.b.getFloatTy(), {half});
  return f.b.CreateFPExt(f.b.CreateBitCast(half, f.b.getHalfTy()), f.b.getFloatTy());
}

Value* narrow(FunctionEmitter& f, Value* value, Type to, Rounding rounding) {
  const bool from_single = value->getType()->isFloatTy();
  if (rounding == Rounding::Nearest && to == Type::F32) return f.b.CreateFPTrunc(value, f.b.getFloatTy());
  if (rounding == Rounding::Nearest && to == Type::F16 && from_single && f.module.converts_halves) {
    return f.b.CreateBitCast(f.b.CreateFPTrunc(value, f.b.getHalfTy()), f.b.getInt16Ty());
  }
  const char* name = to == Type::F32 ? "cucpu_f64_to_f32" : to == Type::F16 ? "cucpu_f64_to_f16" : "cucpu_f64_to_bf16";
  if (from_single) value = f.b.CreateFPExt(value, f.b.getDoubleTy());
  return f.call(name, f.type_of(to), {value, f.b.getInt32(static_cast<std::uint32_t>(rounding))});
}

Value* float_min_max(FunctionEmitter& f, bool is_min, Value* a, Value* b, bool propagate_nan) {
  llvm::Type* type = a->getType();
  const auto id = is_min ? llvm::Intrinsic::minimum : llvm::Intrinsic::maximum;
  Value* ordered = f.intrinsic(id, {type}, {a, b});
  if (propagate_nan) {
    return f.b.CreateSelect(f.b.CreateFCmpUNO(a, b), llvm::ConstantFP::getNaN(type), ordered);
  }
  Value* a_or_ordered = f.b.CreateSelect(f.b.CreateFCmpUNO(b, b), a, ordered);
  return f.b.CreateSelect(f.b.CreateFCmpUNO(a, a), b, a_or_ordered);
}

Value* float_source(FunctionEmitter& f, const Instruction& instruction, std::size_t operand) {
  const Type type = instruction.type();
  Value* value = f.source(instruction.operands[operand], type);
  if (type == Type::F16 || type == Type::Bf16) return widen_half(f, value, type);
  return instruction.has(M::Ftz) ? flush_subnormal(f, value) : value;
}

}  // namespace cucore::cpu::codegen
