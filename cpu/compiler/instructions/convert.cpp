// cvt between integers, f32, f64, f16 and bf16, in every rounding.
#include "cpu/compiler/emitters/float_values.hpp"
#include "cpu/compiler/instructions/generators.hpp"

namespace cucore::cpu::compiler {

using llvm::APInt;
using llvm::Value;
using ptx::Instruction;
using ptx::Type;
using M = ptx::Modifier;

namespace {

unsigned width_of(Type type) { return static_cast<unsigned>(8 * size_in_bytes(type)); }

/// Truncates or extends by the sign of the source; .sat clamps to the range of the result instead.
Value* integer_to_integer(FunctionEmitter& f, const Instruction& i, Value* value) {
  const Type to = i.types[0];
  const Type from = i.types[1];
  if (i.has(M::Sat)) {
    // Both ranges fit in a signed integer one bit wider than the wider of the two.
    const unsigned width = std::max(width_of(to), width_of(from)) + 1;
    llvm::Type* wide = f.b.getIntNTy(width);
    value = is_signed(from) ? f.b.CreateSExt(value, wide) : f.b.CreateZExt(value, wide);
    const unsigned bits = width_of(to);
    const APInt low = is_signed(to) ? APInt::getSignedMinValue(bits).sext(width) : APInt(width, 0);
    const APInt high =
        is_signed(to) ? APInt::getSignedMaxValue(bits).sext(width) : APInt::getMaxValue(bits).zext(width);
    value = f.intrinsic(llvm::Intrinsic::smax, {wide}, {value, f.b.getInt(low)});
    value = f.intrinsic(llvm::Intrinsic::smin, {wide}, {value, f.b.getInt(high)});
    return f.b.CreateTrunc(value, f.bits_of(to));
  }
  return is_signed(from) ? f.b.CreateSExtOrTrunc(value, f.bits_of(to)) : f.b.CreateZExtOrTrunc(value, f.bits_of(to));
}

/// .rni .rzi .rmi .rpi
Value* to_nearby_integer(FunctionEmitter& f, const Instruction& i, Value* value) {
  auto id = llvm::Intrinsic::not_intrinsic;
  if (i.has(M::Rni)) id = llvm::Intrinsic::roundeven;
  if (i.has(M::Rzi)) id = llvm::Intrinsic::trunc;
  if (i.has(M::Rmi)) id = llvm::Intrinsic::floor;
  if (i.has(M::Rpi)) id = llvm::Intrinsic::ceil;
  return id == llvm::Intrinsic::not_intrinsic ? value : f.intrinsic(id, {value->getType()}, {value});
}

/// Saturates to the range of the result. NaN gives 0 if neither side has 64 bits, else the top bit.
Value* float_to_integer(FunctionEmitter& f, const Instruction& i, Value* value) {
  const Type to = i.types[0];
  Value* whole = to_nearby_integer(f, i, value);
  const auto id = is_signed(to) ? llvm::Intrinsic::fptosi_sat : llvm::Intrinsic::fptoui_sat;
  Value* result = f.intrinsic(id, {f.bits_of(to), whole->getType()}, {whole});
  if (width_of(to) < 64 && width_of(i.types[1]) < 64) return result;
  Value* top_bit = f.b.getInt(APInt::getSignedMinValue(width_of(to)));
  return f.b.CreateSelect(f.b.CreateFCmpUNO(value, value), top_bit, result);
}

Value* integer_to_float(FunctionEmitter& f, const Instruction& i, Value* value) {
  const Type to = i.types[0];
  const Type from = i.types[1];
  const Rounding rounding = rounding_of(i);
  if (rounding == Rounding::Nearest && !is_half(to)) {
    return is_signed(from) ? f.b.CreateSIToFP(value, f.type_of(to)) : f.b.CreateUIToFP(value, f.type_of(to));
  }
  Value* wide = is_signed(from) ? f.b.CreateSExt(value, f.b.getInt64Ty()) : f.b.CreateZExt(value, f.b.getInt64Ty());
  const std::string name = std::string(is_signed(from) ? "cucpu_s64_to_" : "cucpu_u64_to_") + std::string(spelling(to));
  return f.call(name, f.type_of(to), {wide, f.b.getInt32(static_cast<std::uint32_t>(rounding))});
}

/// What .ftz, .sat and .relu do to a floating-point result before it is rounded to a narrower type.
Value* limited(FunctionEmitter& f, const Instruction& i, Value* value) {
  if (i.has(M::Sat)) value = saturate(f, value);
  if (i.has(M::Relu)) value = float_min_max(f, false, value, llvm::ConstantFP::get(value->getType(), 0.0), true);
  return value;
}

/// The half of a value; with .satfinite the largest in the place of infinity, whose bits are one more.
Value* to_half(FunctionEmitter& f, const Instruction& i, Value* value, Type half) {
  Value* bits = narrow(f, limited(f, i, value), half, rounding_of(i));
  if (!i.has(M::Satfinite)) return bits;
  Value* infinity = f.b.getInt16(half == Type::F16 ? 0x7c00 : 0x7f80);
  Value* is_infinite = f.b.CreateICmpEQ(f.b.CreateAnd(bits, 0x7fff), infinity);
  return f.b.CreateSub(bits, f.b.CreateZExt(is_infinite, bits->getType()));
}

Value* float_to_float(FunctionEmitter& f, const Instruction& i, Value* value) {
  const Type to = i.types[0];
  value = to_nearby_integer(f, i, value);
  if (is_half(to)) return to_half(f, i, value, to);
  value = limited(f, i, value);
  if (f.type_of(to) == value->getType()) return i.has(M::Ftz) ? flush_subnormal(f.b, value) : value;
  if (to == Type::F64) return f.b.CreateFPExt(value, f.b.getDoubleTy());
  const Rounding rounding = rounding_of(i);
  Value* single = narrow(f, value, to, rounding);
  if (!i.has(M::Ftz)) return single;
  return rounding == Rounding::Nearest ? flush_rounded(f, single, value, to) : flush_subnormal(f.b, single);
}

/// cvt.f16x2.f32 d, a, b: a in the high half
Value* packed_halves(FunctionEmitter& f, const Instruction& i) {
  const Type half = i.types[0] == Type::F16x2 ? Type::F16 : Type::Bf16;
  Value* packed = f.b.getInt32(0);
  for (std::size_t n : {1U, 2U}) {
    Value* bits = f.b.CreateZExt(to_half(f, i, float_source(f, i, n), half), f.b.getInt32Ty());
    packed = f.b.CreateOr(packed, n == 1 ? f.b.CreateShl(bits, 16) : bits);
  }
  return packed;
}

}  // namespace

void emit_cvt(FunctionEmitter& f, const Instruction& i) {
  const Type to = i.types[0];
  const Type from = i.types[1];
  Value* result = nullptr;
  if (i.operands.size() == 3) {
    result = packed_halves(f, i);
  } else if (is_float(from)) {
    Value* value = float_source(f, i, 1);
    result = is_float(to) ? float_to_float(f, i, value) : float_to_integer(f, i, value);
  } else {
    Value* value = f.source(i.operands[1], from);
    result = is_float(to) ? integer_to_float(f, i, value) : integer_to_integer(f, i, value);
    if (is_float(to) && i.has(M::Sat)) {
      result =
          is_half(to) ? narrow(f, saturate(f, widen_half(f, result, to)), to, Rounding::Nearest) : saturate(f, result);
    }
  }
  f.define(i.operands[0], result, to);
}

/// cvt.tf32.f32: ten fraction bits, the dropped ones become zero. .rna rounds halves away from zero, .rn to even.
void emit_cvt_tf32(FunctionEmitter& f, const Instruction& i) {
  Value* bits = f.b.CreateBitCast(limited(f, i, f.source(i.operands[1], Type::F32)), f.b.getInt32Ty());
  Value* rounded = bits;
  if (i.has(M::Rna)) rounded = f.b.CreateAdd(bits, f.b.getInt32(0x1000));
  if (i.has(M::Rn))
    rounded = f.b.CreateAdd(bits, f.b.CreateAdd(f.b.getInt32(0xfff), f.b.CreateAnd(f.b.CreateLShr(bits, 13), 1)));
  rounded = f.b.CreateAnd(rounded, f.b.getInt32(~std::uint32_t{0x1fff}));
  Value* infinity = f.b.getInt32(0x7f800000);
  const auto size = [&](Value* of) { return f.b.CreateAnd(of, f.b.getInt32(0x7fffffff)); };
  rounded = f.b.CreateSelect(f.b.CreateICmpULT(size(bits), infinity), rounded, bits);
  if (i.has(M::Satfinite)) {
    Value* is_infinite = f.b.CreateICmpEQ(size(rounded), infinity);
    rounded = f.b.CreateSelect(is_infinite, f.b.CreateSub(rounded, f.b.getInt32(0x2000)), rounded);
  }
  f.define(i.operands[0], rounded, Type::B32);
}

namespace {

/// float → .e4m3 or .e5m2 as i8, saturating.
Value* to_eight_bits(FunctionEmitter& f, const Instruction& i, Value* value) {
  Value* wide = f.b.CreateFPExt(limited(f, i, value), f.b.getDoubleTy());
  return f.call(i.types[0] == Type::E4m3x2 ? "cucpu_f64_to_e4m3" : "cucpu_f64_to_e5m2", f.b.getInt8Ty(), {wide});
}

/// .e4m3 or .e5m2 as i8 → float. The latter is the upper byte of an .f16.
Value* from_eight_bits(FunctionEmitter& f, Value* bits, Type type) {
  if (type == Type::E4m3x2) return f.call("cucpu_e4m3_to_f32", f.b.getFloatTy(), {bits});
  return widen_half(f, f.b.CreateShl(f.b.CreateZExt(bits, f.b.getInt16Ty()), 8), Type::F16);
}

unsigned bits_of(Type type) {
  if (type == Type::U2 || type == Type::S2) return 2;
  return type == Type::U4 || type == Type::S4 ? 4 : 8 * static_cast<unsigned>(size_in_bytes(type));
}

/// A signed word as what the type can hold.
Value* within(FunctionEmitter& f, Value* word, Type type) {
  const bool has_sign = is_signed(type);
  const unsigned bits = bits_of(type);
  const std::int32_t most = (1 << (has_sign ? bits - 1 : bits)) - 1, least = has_sign ? -most - 1 : 0;
  Value* const high = llvm::ConstantInt::getSigned(word->getType(), most);
  Value* const low = llvm::ConstantInt::getSigned(word->getType(), least);
  word = f.b.CreateSelect(f.b.CreateICmpSGT(word, high), high, word);
  word = f.b.CreateSelect(f.b.CreateICmpSLT(word, low), low, word);
  return f.b.CreateAnd(word, f.b.getInt32((1U << bits) - 1));
}

}  // namespace

/// cvt.pack.sat.s8.s32.b32 d, a, b, c: c moved up, a and b below it, each saturated; without c where both fill a word
void emit_cvt_pack(FunctionEmitter& f, const Instruction& i) {
  const Type to = i.types[0];
  const unsigned bits = bits_of(to);
  Value* const first = within(f, f.source(i.operands[1], Type::S32), to);
  Value* packed = f.b.CreateOr(f.b.CreateShl(first, bits), within(f, f.source(i.operands[2], Type::S32), to));
  if (i.operands.size() == 4)
    packed = f.b.CreateOr(packed, f.b.CreateShl(f.source(i.operands[3], Type::B32), 2 * bits));
  f.define(i.operands[0], packed, Type::B32);
}

/// cvt between .e4m3x2 or .e5m2x2 and two .f32 (the first operand in the high byte) or .f16x2
void emit_cvt_fp8(FunctionEmitter& f, const Instruction& i) {
  if (i.types[0] == Type::F16x2) {
    Value* packed = f.source(i.operands[1], i.types[1]);
    Value* result = for_each_half(f, Type::F16x2, [&](unsigned lane) {
      Value* bits = f.b.CreateTrunc(f.b.CreateLShr(packed, 8 * lane), f.b.getInt8Ty());
      return narrow(f, limited(f, i, from_eight_bits(f, bits, i.types[1])), Type::F16, Rounding::Nearest);
    });
    f.define(i.operands[0], result, Type::F16x2);
    return;
  }
  Value* result = f.b.getInt16(0);
  for (unsigned lane = 0; lane < 2; ++lane) {
    Value* value = i.types[1] == Type::F32
                       ? f.source(i.operands[2 - lane], Type::F32)
                       : widen_half(f, half_element(f, f.source(i.operands[1], Type::F16x2), lane), Type::F16);
    Value* bits = f.b.CreateZExt(to_eight_bits(f, i, value), f.b.getInt16Ty());
    result = f.b.CreateOr(result, f.b.CreateShl(bits, 8 * lane));
  }
  f.define(i.operands[0], result, i.types[0]);
}

}  // namespace cucore::cpu::compiler
