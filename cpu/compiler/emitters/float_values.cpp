// Flushing, saturation, rounding and the 16-bit formats as IR: see float_values.hpp.
#include "cpu/compiler/emitters/float_values.hpp"

#include <llvm/IR/IntrinsicsAArch64.h>
#include <llvm/IR/IntrinsicsX86.h>

#include "cpu/compiler/emitters/directed_rounding.hpp"

namespace cucore::cpu::compiler {

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

Type element_of(Type type) { return type == Type::F16 || type == Type::F16x2 ? Type::F16 : Type::Bf16; }

Value* half_element(FunctionEmitter& f, Value* packed, unsigned lane) {
  return f.b.CreateTrunc(f.b.CreateLShr(packed, 16 * lane), f.b.getInt16Ty());
}

Value* flush_subnormal(llvm::IRBuilder<>& b, Value* value) {
  llvm::Type* type = value->getType();
  Value* bits = b.CreateBitCast(value, b.getIntNTy(type->getScalarSizeInBits()));
  const std::uint64_t exponent = type->isFloatTy() ? 0x7f800000 : 0x7ff0000000000000;
  Value* has_exponent = b.CreateIsNotNull(b.CreateAnd(bits, exponent));
  Value* zero = b.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, llvm::ConstantFP::get(type, 0.0), value);
  return b.CreateSelect(has_exponent, value, zero);
}

Value* flush_half(FunctionEmitter& f, Value* half) {
  Value* has_exponent = f.b.CreateICmpNE(f.b.CreateAnd(half, 0x7c00), f.b.getInt16(0));
  return f.b.CreateSelect(has_exponent, half, f.b.CreateAnd(half, 0x8000));
}

Value* flush_rounded(FunctionEmitter& f, Value* rounded, Value* exact, Type type) {
  // Half a unit below the smallest normal number, a tie rounds up.
  const double least = type == Type::F32 ? 0x1p-126 - 0x1p-151 : 0x1p-14 - 0x1p-26;
  Value* magnitude = f.intrinsic(llvm::Intrinsic::fabs, {exact->getType()}, {exact});
  Value* vanishes = f.b.CreateFCmpOLT(magnitude, llvm::ConstantFP::get(exact->getType(), least));
  if (type == Type::F16) return f.b.CreateSelect(vanishes, f.b.CreateAnd(rounded, 0x8000), rounded);
  Value* zero = f.intrinsic(llvm::Intrinsic::copysign, {rounded->getType()},
                            {llvm::ConstantFP::get(rounded->getType(), 0.0), rounded});
  return f.b.CreateSelect(vanishes, zero, rounded);
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
  if (!f.module.host.f16c && !f.module.host.neon) return f.call("cucpu_f16_to_f32", f.b.getFloatTy(), {half});
  return f.b.CreateFPExt(f.b.CreateBitCast(half, f.b.getHalfTy()), f.b.getFloatTy());
}

namespace {

/// The host's instruction for f32 → f16, rather than LLVM's fptrunc: LLVM would go on to do the arithmetic itself in
/// its half type, which most hosts only have as calls.
Value* narrow_by_instruction(FunctionEmitter& f, Value* value, Rounding rounding) {
  Value* vector = llvm::Constant::getNullValue(llvm::FixedVectorType::get(f.b.getFloatTy(), 4));
  vector = f.b.CreateInsertElement(vector, value, std::uint64_t{0});
  if (f.module.host.neon) {
    Value* halves = f.intrinsic(llvm::Intrinsic::aarch64_neon_vcvtfp2hf, {}, {vector});
    return f.b.CreateExtractElement(halves, std::uint64_t{0});
  }
  // The instruction's own numbers for the rounding modes.
  constexpr std::uint32_t nearest = 0, down = 1, up = 2, zero = 3;
  const std::uint32_t mode = rounding == Rounding::Nearest ? nearest
                             : rounding == Rounding::Zero  ? zero
                             : rounding == Rounding::Down  ? down
                                                           : up;
  Value* halves = f.intrinsic(llvm::Intrinsic::x86_vcvtps2ph_128, {}, {vector, f.b.getInt32(mode)});
  return f.b.CreateExtractElement(halves, std::uint64_t{0});
}

/// A double to the float next to it whose last bit is odd, if there is none equal to it: what that is rounded to in a
/// format of at least two bits less is what the double is, too.
Value* to_odd_float(FunctionEmitter& f, Value* value) {
  Value* single = f.b.CreateFPTrunc(value, f.b.getFloatTy());
  Value* back = f.b.CreateFPExt(single, value->getType());
  auto magnitude = [&](Value* number) { return f.intrinsic(llvm::Intrinsic::fabs, {number->getType()}, {number}); };
  Value* bits = f.b.CreateBitCast(single, f.b.getInt32Ty());
  Value* is_beyond = f.b.CreateFCmpOGT(magnitude(value), magnitude(back));
  Value* odd = f.b.CreateAdd(bits, f.b.CreateSelect(is_beyond, f.b.getInt32(1), f.b.getInt32(-1U)));
  Value* is_even = f.b.CreateIsNull(f.b.CreateAnd(bits, 1));
  Value* moves = f.b.CreateAnd(is_even, f.b.CreateFCmpONE(back, value));
  return f.b.CreateBitCast(f.b.CreateSelect(moves, odd, bits), f.b.getFloatTy());
}

/// The upper half of a float, rounded to the nearest or towards zero.
Value* upper_half(FunctionEmitter& f, Value* single, Rounding rounding) {
  Value* bits = f.b.CreateBitCast(single, f.b.getInt32Ty());
  if (rounding == Rounding::Nearest) {
    Value* is_odd = f.b.CreateAnd(f.b.CreateLShr(bits, 16), 1);
    bits = f.b.CreateAdd(bits, f.b.CreateAdd(is_odd, f.b.getInt32(0x7fff)));
  }
  return f.b.CreateTrunc(f.b.CreateLShr(bits, 16), f.b.getInt16Ty());
}

/// A double to a float in a direction.
Value* to_float(FunctionEmitter& f, Value* value, Rounding rounding) {
  Value* nearest = f.b.CreateFPTrunc(value, f.b.getFloatTy());
  if (rounding == Rounding::Nearest) return nearest;
  Value* back = f.b.CreateFPExt(nearest, value->getType());
  return step_from_nearest(f, nearest, f.b.CreateFCmpOGT(value, back), f.b.CreateFCmpOLT(value, back), rounding);
}

}  // namespace

Value* narrow(FunctionEmitter& f, Value* value, Type to, Rounding rounding) {
  const bool from_single = value->getType()->isFloatTy();
  if (to == Type::F32) return to_float(f, value, rounding);
  Value* canonical = f.b.getInt16(0x7fff);
  Value* is_number = f.b.CreateFCmpORD(value, value);
  auto single = [&] { return from_single ? value : to_odd_float(f, value); };
  const bool has_instruction = f.module.host.f16c || (f.module.host.neon && rounding == Rounding::Nearest);
  if (to == Type::F16 && has_instruction) {
    Value* half = narrow_by_instruction(f, single(), rounding);
    return from_single ? half : f.b.CreateSelect(is_number, half, canonical);
  }
  if (to == Type::Bf16 && (rounding == Rounding::Nearest || rounding == Rounding::Zero))
    return f.b.CreateSelect(is_number, upper_half(f, single(), rounding), canonical);
  if (from_single) value = f.b.CreateFPExt(value, f.b.getDoubleTy());
  const char* name = to == Type::F16 ? "cucpu_f64_to_f16" : "cucpu_f64_to_bf16";
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
  if (is_half(type)) return widen_half(f, value, type);
  const bool flushes = instruction.has(M::Ftz) && !f.flushed_values.is_flushed(instruction.operands[operand]);
  return flushes ? flush_subnormal(f.b, value) : value;
}

}  // namespace cucore::cpu::compiler
