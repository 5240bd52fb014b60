// Bitwise logic, shifts, bit counts, bit fields and byte permutes.
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

unsigned bits_of(const Value* value) { return value->getType()->getIntegerBitWidth(); }

Value* constant_like(FunctionEmitter& f, const Value* value, std::uint64_t number) {
  return f.b.getInt(llvm::APInt(64, number).zextOrTrunc(bits_of(value)));
}

Value* resized(FunctionEmitter& f, Value* value, const Value* like) {
  return f.b.CreateZExtOrTrunc(value, like->getType());
}

/// value shifted, where an amount of the width or more shifts everything out.
Value* shifted_left(FunctionEmitter& f, Value* value, Value* amount) {
  Value* fits = f.b.CreateICmpULT(amount, constant_like(f, amount, bits_of(value)));
  Value* shifted = f.b.CreateShl(value, resized(f, amount, value));
  return f.b.CreateSelect(fits, shifted, constant_like(f, value, 0));
}

Value* shifted_right(FunctionEmitter& f, Value* value, Value* amount) {
  Value* fits = f.b.CreateICmpULT(amount, constant_like(f, amount, bits_of(value)));
  Value* shifted = f.b.CreateLShr(value, resized(f, amount, value));
  return f.b.CreateSelect(fits, shifted, constant_like(f, value, 0));
}

Value* shifted_right_signed(FunctionEmitter& f, Value* value, Value* amount) {
  Value* most = constant_like(f, amount, bits_of(value) - 1);
  Value* limited = f.intrinsic(llvm::Intrinsic::umin, {amount->getType()}, {amount, most});
  return f.b.CreateAShr(value, resized(f, limited, value));
}

/// The lowest `count` bits set; all of them from the width on.
Value* low_bits(FunctionEmitter& f, Value* count, const Value* like) {
  Value* one = constant_like(f, like, 1);
  return f.b.CreateSub(shifted_left(f, one, count), one);
}

/// A 32-bit position or amount: modulo 32 for .wrap, at most 32 for .clamp.
Value* wrapped_or_clamped(FunctionEmitter& f, const Instruction& i, Value* amount) {
  if (i.has(M::Wrap)) return f.b.CreateAnd(amount, 31);
  return f.intrinsic(llvm::Intrinsic::umin, {amount->getType()}, {amount, f.b.getInt32(32)});
}

}  // namespace

void emit_logic(FunctionEmitter& f, const Instruction& i) {
  Value* a = operand(f, i, 1);
  Value* b = operand(f, i, 2);
  Value* result = i.opcode == Opcode::And  ? f.b.CreateAnd(a, b)
                  : i.opcode == Opcode::Or ? f.b.CreateOr(a, b)
                                           : f.b.CreateXor(a, b);
  f.define(i.operands[0], result, i.type());
}

void emit_not(FunctionEmitter& f, const Instruction& i) {
  f.define(i.operands[0], f.b.CreateNot(operand(f, i, 1)), i.type());
}

/// cnot: 1 if the operand is 0, else 0
void emit_cnot(FunctionEmitter& f, const Instruction& i) {
  Value* a = operand(f, i, 1);
  f.define(i.operands[0], f.b.CreateZExt(f.b.CreateICmpEQ(a, constant_like(f, a, 0)), a->getType()), i.type());
}

/// lop3 d, a, b, c, table: bit 4a + 2b + c of the table for each bit position
void emit_lop3(FunctionEmitter& f, const Instruction& i) {
  Value* inputs[] = {operand(f, i, 1), operand(f, i, 2), operand(f, i, 3)};
  const std::uint64_t table = i.operands[4].integer;
  Value* result = constant_like(f, inputs[0], 0);
  for (unsigned row = 0; row < 8; ++row) {
    if ((table >> row & 1) == 0) continue;
    Value* minterm = llvm::Constant::getAllOnesValue(inputs[0]->getType());
    for (unsigned n = 0; n < 3; ++n) {
      const bool positive = (row >> (2 - n) & 1) != 0;
      minterm = f.b.CreateAnd(minterm, positive ? inputs[n] : f.b.CreateNot(inputs[n]));
    }
    result = f.b.CreateOr(result, minterm);
  }
  f.define(i.operands[0], result, i.type());
}

/// shl and shr: amounts are .u32 whatever the type, and clamp.
void emit_shift(FunctionEmitter& f, const Instruction& i) {
  Value* value = operand(f, i, 1);
  Value* amount = f.source(i.operands[2], Type::U32);
  Value* result = nullptr;
  if (i.opcode == Opcode::Shl) {
    result = shifted_left(f, value, amount);
  } else if (is_signed(i.type())) {
    result = shifted_right_signed(f, value, amount);
  } else {
    result = shifted_right(f, value, amount);
  }
  f.define(i.operands[0], result, i.type());
}

/// shf d, a, b, c: the 64-bit value b:a shifted; .l gives its high word, .r its low word.
void emit_funnel_shift(FunctionEmitter& f, const Instruction& i) {
  llvm::Type* wide = f.b.getInt64Ty();
  Value* both =
      f.b.CreateOr(f.b.CreateShl(f.b.CreateZExt(operand(f, i, 2), wide), 32), f.b.CreateZExt(operand(f, i, 1), wide));
  Value* amount = f.b.CreateZExt(wrapped_or_clamped(f, i, f.source(i.operands[3], Type::U32)), wide);
  Value* result = i.has(M::L) ? f.b.CreateLShr(f.b.CreateShl(both, amount), 32) : f.b.CreateLShr(both, amount);
  f.define(i.operands[0], f.b.CreateTrunc(result, f.b.getInt32Ty()), i.type());
}

/// popc and clz: the count is .u32 whatever the type.
void emit_count(FunctionEmitter& f, const Instruction& i) {
  Value* a = operand(f, i, 1);
  Value* count = i.opcode == Opcode::Popc ? f.intrinsic(llvm::Intrinsic::ctpop, {a->getType()}, {a})
                                          : f.intrinsic(llvm::Intrinsic::ctlz, {a->getType()}, {a, f.b.getFalse()});
  f.define(i.operands[0], f.b.CreateZExtOrTrunc(count, f.b.getInt32Ty()), Type::U32);
}

void emit_brev(FunctionEmitter& f, const Instruction& i) {
  Value* a = operand(f, i, 1);
  f.define(i.operands[0], f.intrinsic(llvm::Intrinsic::bitreverse, {a->getType()}, {a}), i.type());
}

/// bfind: the highest bit that is set, or differs from the sign; .shiftamt: how far it is from the top. -1: none
void emit_bfind(FunctionEmitter& f, const Instruction& i) {
  Value* a = operand(f, i, 1);
  if (is_signed(i.type())) {
    a = f.b.CreateXor(a, f.b.CreateAShr(a, bits_of(a) - 1));
  }
  Value* distance = f.intrinsic(llvm::Intrinsic::ctlz, {a->getType()}, {a, f.b.getFalse()});
  Value* found = i.has(M::Shiftamt) ? distance : f.b.CreateSub(constant_like(f, a, bits_of(a) - 1), distance);
  Value* none = f.b.CreateICmpEQ(a, constant_like(f, a, 0));
  Value* result = f.b.CreateSelect(none, f.b.getInt32(~0U), f.b.CreateZExtOrTrunc(found, f.b.getInt32Ty()));
  f.define(i.operands[0], result, Type::U32);
}

namespace {

/// Position or length of a bit field: the low byte of the operand in the 32-bit forms. The 64-bit forms take all of it,
/// as hardware does; beyond 64 nothing changes.
Value* field_bound(FunctionEmitter& f, const Instruction& i, std::size_t n) {
  Value* bound = f.source(i.operands[n], Type::U32);
  if (size_in_bytes(i.type()) == 4) return f.b.CreateAnd(bound, 0xff);
  return f.intrinsic(llvm::Intrinsic::umin, {bound->getType()}, {bound, f.b.getInt32(64)});
}

}  // namespace

/// bfe d, a, position, length: bits beyond the top of the field are zero, or for signed types its highest bit (that of
/// the operand if the field reaches past it).
void emit_bfe(FunctionEmitter& f, const Instruction& i) {
  Value* a = operand(f, i, 1);
  Value* position = field_bound(f, i, 2);
  Value* length = field_bound(f, i, 3);
  Value* mask = low_bits(f, length, a);
  Value* field = f.b.CreateAnd(shifted_right(f, a, position), mask);
  if (is_signed(i.type())) {
    Value* top = f.b.CreateSub(f.b.CreateAdd(position, length), f.b.getInt32(1));
    top = f.intrinsic(llvm::Intrinsic::umin, {top->getType()}, {top, f.b.getInt32(bits_of(a) - 1)});
    Value* sign = f.b.CreateTrunc(f.b.CreateLShr(a, resized(f, top, a)), f.b.getInt1Ty());
    // Of the field's bits, those that lie beyond the operand are copies of the sign as well.
    Value* inside = shifted_right(f, llvm::Constant::getAllOnesValue(a->getType()), position);
    Value* extended = f.b.CreateOr(field, f.b.CreateNot(f.b.CreateAnd(mask, inside)));
    Value* negative = f.b.CreateAnd(sign, f.b.CreateICmpNE(length, f.b.getInt32(0)));
    field = f.b.CreateSelect(negative, extended, field);
  }
  f.define(i.operands[0], field, i.type());
}

/// bfi f, a, b, position, length: b with a field replaced by the low bits of a
void emit_bfi(FunctionEmitter& f, const Instruction& i) {
  Value* a = operand(f, i, 1);
  Value* b = operand(f, i, 2);
  Value* position = field_bound(f, i, 3);
  Value* length = field_bound(f, i, 4);
  Value* mask = shifted_left(f, low_bits(f, length, a), position);
  Value* inserted = f.b.CreateAnd(shifted_left(f, a, position), mask);
  f.define(i.operands[0], f.b.CreateOr(f.b.CreateAnd(b, f.b.CreateNot(mask)), inserted), i.type());
}

/// bmsk d, position, length: that many ones from that position up
void emit_bmsk(FunctionEmitter& f, const Instruction& i) {
  Value* position = wrapped_or_clamped(f, i, operand(f, i, 1));
  Value* length = wrapped_or_clamped(f, i, operand(f, i, 2));
  f.define(i.operands[0], shifted_left(f, low_bits(f, length, position), position), i.type());
}

/// fns d, mask, base, n: the place of the nth bit set from bit `base` on, `base` being the first; downwards for a
/// negative n; for n 0, `base` if that bit is set. -1: there is none. For the least n of all GPUs give 0.
void emit_fns(FunctionEmitter& f, const Instruction& i) {
  llvm::IRBuilder<>& b = f.b;
  Value* mask = operand(f, i, 1);
  Value* base = operand(f, i, 2);
  Value* n = f.source(i.operands[3], Type::S32);
  Value* const zero = b.getInt32(0);
  Value* const none = b.getInt32(0xffffffff);
  const auto count = [&](Value* bits) { return f.intrinsic(llvm::Intrinsic::ctpop, {bits->getType()}, {bits}); };

  Value* downwards = b.CreateICmpSLT(n, zero);
  Value* turned = f.intrinsic(llvm::Intrinsic::bitreverse, {mask->getType()}, {mask});
  Value* from = b.CreateSelect(downwards, b.CreateSub(b.getInt32(31), base), base);
  Value* rest = shifted_right(f, b.CreateSelect(downwards, turned, mask), from);
  Value* left = b.CreateSelect(downwards, b.CreateNeg(n), n);
  left = b.CreateSelect(b.CreateICmpEQ(n, zero), b.getInt32(1), left);
  Value* exists = b.CreateICmpULE(left, count(rest));
  Value* steps = zero;  // from `from` to the bit: whole halves that hold too few bits are passed over
  for (const unsigned width : {16U, 8U, 4U, 2U, 1U}) {
    Value* within = count(b.CreateAnd(rest, b.getInt32((1U << width) - 1)));
    Value* beyond = b.CreateICmpULT(within, left);
    left = b.CreateSelect(beyond, b.CreateSub(left, within), left);
    rest = b.CreateSelect(beyond, b.CreateLShr(rest, width), rest);
    steps = b.CreateSelect(beyond, b.CreateAdd(steps, b.getInt32(width)), steps);
  }
  exists = b.CreateAnd(exists, b.CreateOr(b.CreateICmpNE(n, zero), b.CreateICmpEQ(steps, zero)));
  exists = b.CreateAnd(exists, b.CreateICmpULT(base, b.getInt32(32)));
  Value* place = b.CreateSelect(downwards, b.CreateSub(base, steps), b.CreateAdd(base, steps));
  Value* const is_least = b.CreateICmpEQ(n, b.getInt32(0x80000000));
  f.define(i.operands[0], b.CreateSelect(is_least, zero, b.CreateSelect(exists, place, none)), i.type());
}

/// szext d, a, n: the low n bits of a, extended
void emit_szext(FunctionEmitter& f, const Instruction& i) {
  Value* a = operand(f, i, 1);
  Value* kept = wrapped_or_clamped(f, i, f.source(i.operands[2], Type::U32));
  Value* dropped = f.b.CreateSub(f.b.getInt32(32), kept);
  Value* at_top = shifted_left(f, a, dropped);
  Value* result = is_signed(i.type()) ? shifted_right_signed(f, at_top, dropped) : shifted_right(f, at_top, dropped);
  f.define(i.operands[0], result, i.type());
}

namespace {

/// Which of the eight bytes of b:a goes to byte `to` of the result, in a mode whose selector is 0..3.
unsigned byte_of_mode(const Instruction& i, unsigned to, unsigned selector) {
  if (i.has(M::F4e)) return to + selector;
  if (i.has(M::B4e)) return (selector - to) & 7;
  if (i.has(M::Rc8)) return selector;
  if (i.has(M::Ecl)) return std::max(to, selector);
  if (i.has(M::Ecr)) return std::min(to, selector);
  return (to & 1) + 2 * (selector & 1);  // .rc16
}

Value* byte_at(FunctionEmitter& f, Value* bytes, Value* index) {
  Value* amount = f.b.CreateShl(f.b.CreateZExt(f.b.CreateAnd(index, 7), bytes->getType()), 3);
  return f.b.CreateTrunc(f.b.CreateLShr(bytes, amount), f.b.getInt8Ty());
}

}  // namespace

/// prmt d, a, b, c: each byte of d is one of the eight bytes of b:a. The default mode takes them from the nibbles of c,
/// whose top bit asks for the byte's sign instead of the byte.
void emit_prmt(FunctionEmitter& f, const Instruction& i) {
  llvm::Type* wide = f.b.getInt64Ty();
  Value* bytes =
      f.b.CreateOr(f.b.CreateShl(f.b.CreateZExt(operand(f, i, 2), wide), 32), f.b.CreateZExt(operand(f, i, 1), wide));
  Value* control = f.source(i.operands[3], Type::B32);
  Value* result = f.b.getInt32(0);
  for (unsigned to = 0; to < 4; ++to) {
    Value* byte = nullptr;
    if (i.modifiers.empty()) {
      Value* nibble = f.b.CreateLShr(control, 4 * to);
      byte = byte_at(f, bytes, nibble);
      Value* wants_sign = f.b.CreateICmpNE(f.b.CreateAnd(nibble, 8), f.b.getInt32(0));
      byte = f.b.CreateSelect(wants_sign, f.b.CreateAShr(byte, 7), byte);
    } else {
      Value* selector = f.b.CreateAnd(control, 3);
      Value* index = f.b.getInt32(byte_of_mode(i, to, 0));
      for (unsigned s = 1; s < 4; ++s) {
        Value* chosen = f.b.CreateICmpEQ(selector, f.b.getInt32(s));
        index = f.b.CreateSelect(chosen, f.b.getInt32(byte_of_mode(i, to, s)), index);
      }
      byte = byte_at(f, bytes, index);
    }
    result = f.b.CreateOr(result, f.b.CreateShl(f.b.CreateZExt(byte, f.b.getInt32Ty()), 8 * to));
  }
  f.define(i.operands[0], result, i.type());
}

}  // namespace cucore::cpu::compiler
