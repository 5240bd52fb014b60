// Integer arithmetic: add sub mul mad div rem abs neg min max, packed 16-bit forms, sad, mul24, dp4a, dp2a.
#include "cpu/compiler/emitters/function_emitter.hpp"
#include "cpu/compiler/instructions/generators.hpp"

namespace cucore::cpu::compiler {

using llvm::Value;
using ptx::Instruction;
using ptx::Opcode;
using ptx::Type;
using M = ptx::Modifier;

namespace {

Value* operand(FunctionEmitter& f, const Instruction& i, std::size_t n) { return f.source(i.operands[n], i.type()); }

/// Packed operands as vectors, so that one operation works on both halves.
Value* lanes(FunctionEmitter& f, const Instruction& i, std::size_t n) {
  Value* value = operand(f, i, n);
  return is_packed_integer(i.type()) ? f.b.CreateBitCast(value, llvm::FixedVectorType::get(f.b.getInt16Ty(), 2))
                                     : value;
}

void define_lanes(FunctionEmitter& f, const Instruction& i, Value* value) {
  f.define(i.operands[0], f.b.CreateBitCast(value, f.bits_of(i.type())), i.type());
}

Value* widened(FunctionEmitter& f, Value* value, Type type, unsigned width) {
  llvm::Type* wide = f.b.getIntNTy(width);
  return is_signed(type) ? f.b.CreateSExt(value, wide) : f.b.CreateZExt(value, wide);
}

/// The product of operands 1 and 2 in the half the instruction asks for; .wide gives all of it.
Value* product(FunctionEmitter& f, const Instruction& i) {
  const unsigned width = f.bits_of(i.type())->getBitWidth();
  Value* a = operand(f, i, 1);
  Value* b = operand(f, i, 2);
  if (i.has(M::Lo)) return f.b.CreateMul(a, b);
  Value* whole = f.b.CreateMul(widened(f, a, i.type(), 2 * width), widened(f, b, i.type(), 2 * width));
  return i.has(M::Wide) ? whole : f.b.CreateTrunc(f.b.CreateLShr(whole, width), f.bits_of(i.type()));
}

/// Divisors that the host's instruction must not see: zero, and -1, under which the most negative dividend overflows.
/// Both become 1 whatever the dividend is, so that a divisor that all lanes share remains one.
struct Division {
  Value* dividend;
  Value* divisor;  ///< safe
  Value* by_zero;
  Value* by_minus_one = nullptr;  ///< of signed integers

  Division(FunctionEmitter& f, const Instruction& i) : dividend(operand(f, i, 1)), divisor(operand(f, i, 2)) {
    const unsigned width = dividend->getType()->getIntegerBitWidth();
    by_zero = f.b.CreateICmpEQ(divisor, f.b.getIntN(width, 0));
    Value* unsafe = by_zero;
    if (is_signed(i.type())) {
      by_minus_one = f.b.CreateICmpEQ(divisor, f.b.getInt(llvm::APInt::getAllOnes(width)));
      unsafe = f.b.CreateOr(unsafe, by_minus_one);
    }
    divisor = f.b.CreateSelect(unsafe, f.b.getIntN(width, 1), divisor);
  }
};

}  // namespace

void emit_integer_add(FunctionEmitter& f, const Instruction& i) {
  Value* a = lanes(f, i, 1);
  Value* b = lanes(f, i, 2);
  define_lanes(f, i,
               i.has(M::Sat) ? f.intrinsic(llvm::Intrinsic::sadd_sat, {a->getType()}, {a, b}) : f.b.CreateAdd(a, b));
}

void emit_integer_sub(FunctionEmitter& f, const Instruction& i) {
  Value* a = operand(f, i, 1);
  Value* b = operand(f, i, 2);
  Value* difference =
      i.has(M::Sat) ? f.intrinsic(llvm::Intrinsic::ssub_sat, {a->getType()}, {a, b}) : f.b.CreateSub(a, b);
  f.define(i.operands[0], difference, i.type());
}

void emit_integer_mul(FunctionEmitter& f, const Instruction& i) {
  f.define(i.operands[0], product(f, i), i.has(M::Wide) ? doubled(i.type()) : i.type());
}

void emit_integer_mad(FunctionEmitter& f, const Instruction& i) {
  const Type type = i.has(M::Wide) ? doubled(i.type()) : i.type();
  Value* ab = product(f, i);
  Value* c = f.source(i.operands[3], type);
  Value* sum = i.has(M::Sat) ? f.intrinsic(llvm::Intrinsic::sadd_sat, {c->getType()}, {ab, c}) : f.b.CreateAdd(ab, c);
  f.define(i.operands[0], sum, type);
}

/// mul24 and mad24: 24-bit operands; .lo is the low word of the 48-bit product, .hi its bits 47..16.
void emit_mul24(FunctionEmitter& f, const Instruction& i) {
  auto narrow_operand = [&](std::size_t n) {
    Value* low = f.b.CreateTrunc(operand(f, i, n), f.b.getIntNTy(24));
    return widened(f, low, i.type(), 64);
  };
  Value* whole = f.b.CreateMul(narrow_operand(1), narrow_operand(2));
  Value* result = f.b.CreateTrunc(i.has(M::Hi) ? f.b.CreateLShr(whole, 16) : whole, f.b.getInt32Ty());
  if (i.opcode == Opcode::Mad24) {
    Value* c = operand(f, i, 3);
    result =
        i.has(M::Sat) ? f.intrinsic(llvm::Intrinsic::sadd_sat, {c->getType()}, {result, c}) : f.b.CreateAdd(result, c);
  }
  f.define(i.operands[0], result, i.type());
}

/// x / 0 is all ones, as hardware gives; the lowest value divided by -1 is itself.
void emit_integer_div(FunctionEmitter& f, const Instruction& i) {
  const Division d(f, i);
  Value* quotient = is_signed(i.type()) ? f.b.CreateSDiv(d.dividend, d.divisor) : f.b.CreateUDiv(d.dividend, d.divisor);
  if (d.by_minus_one != nullptr) quotient = f.b.CreateSelect(d.by_minus_one, f.b.CreateNeg(d.dividend), quotient);
  Value* ones = llvm::Constant::getAllOnesValue(quotient->getType());
  f.define(i.operands[0], f.b.CreateSelect(d.by_zero, ones, quotient), i.type());
}

/// x % 0 is all ones too, as hardware gives; the lowest value % -1 is 0.
void emit_integer_rem(FunctionEmitter& f, const Instruction& i) {
  const Division d(f, i);
  Value* remainder =
      is_signed(i.type()) ? f.b.CreateSRem(d.dividend, d.divisor) : f.b.CreateURem(d.dividend, d.divisor);
  Value* ones = llvm::Constant::getAllOnesValue(remainder->getType());
  f.define(i.operands[0], f.b.CreateSelect(d.by_zero, ones, remainder), i.type());
}

void emit_integer_abs(FunctionEmitter& f, const Instruction& i) {
  Value* a = operand(f, i, 1);
  f.define(i.operands[0], f.intrinsic(llvm::Intrinsic::abs, {a->getType()}, {a, f.b.getFalse()}), i.type());
}

void emit_integer_neg(FunctionEmitter& f, const Instruction& i) {
  f.define(i.operands[0], f.b.CreateNeg(operand(f, i, 1)), i.type());
}

void emit_integer_min_max(FunctionEmitter& f, const Instruction& i) {
  using namespace llvm::Intrinsic;
  const bool is_min = i.opcode == Opcode::Min;
  Value* a = lanes(f, i, 1);
  const ID id = is_signed(i.type()) ? (is_min ? smin : smax) : (is_min ? umin : umax);
  Value* result = f.intrinsic(id, {a->getType()}, {a, lanes(f, i, 2)});
  if (i.has(M::Relu)) {
    result = f.intrinsic(smax, {a->getType()}, {result, llvm::Constant::getNullValue(a->getType())});
  }
  define_lanes(f, i, result);
}

/// sad d, a, b, c: c + |a - b|
void emit_sad(FunctionEmitter& f, const Instruction& i) {
  Value* a = operand(f, i, 1);
  Value* b = operand(f, i, 2);
  Value* less = is_signed(i.type()) ? f.b.CreateICmpSLT(a, b) : f.b.CreateICmpULT(a, b);
  Value* distance = f.b.CreateSelect(less, f.b.CreateSub(b, a), f.b.CreateSub(a, b));
  f.define(i.operands[0], f.b.CreateAdd(operand(f, i, 3), distance), i.type());
}

/// dp4a: four bytes by four bytes; dp2a: two 16-bit halves of a by two bytes of b, its low or high ones.
void emit_dot_product(FunctionEmitter& f, const Instruction& i) {
  const bool four = i.opcode == Opcode::Dp4a;
  Value* a = f.source(i.operands[1], i.types[0]);
  Value* b = f.source(i.operands[2], i.types[1]);
  auto part = [&](Value* packed, Type type, unsigned width, unsigned index) {
    Value* element = f.b.CreateTrunc(f.b.CreateLShr(packed, width * index), f.b.getIntNTy(width));
    return widened(f, element, type, 32);
  };
  Value* sum = f.source(i.operands[3], i.types[1]);
  for (unsigned n = 0; n < (four ? 4U : 2U); ++n) {
    const unsigned byte = !four && i.has(M::Hi) ? n + 2 : n;
    sum = f.b.CreateAdd(sum, f.b.CreateMul(part(a, i.types[0], four ? 8 : 16, n), part(b, i.types[1], 8, byte)));
  }
  f.define(i.operands[0], sum, Type::U32);
}

}  // namespace cucore::cpu::compiler
