// f32 and f64 arithmetic with IEEE results: add sub mul fma mad div rcp sqrt in every rounding, abs neg min max
// copysign testp. A separate mul and add never fuse: the PTX compiler already chose.
#include "cpu/compiler/emitters/directed_rounding.hpp"
#include "cpu/compiler/emitters/float_values.hpp"
#include "cpu/compiler/instructions/generators.hpp"

namespace cucore::cpu::compiler {

using llvm::Value;
using ptx::Instruction;
using ptx::Opcode;
using ptx::Type;
using M = ptx::Modifier;

namespace {

Value* nearest(FunctionEmitter& f, Opcode opcode, const std::vector<Value*>& a) {
  switch (opcode) {
    case Opcode::Add:
      return f.b.CreateFAdd(a[0], a[1]);
    case Opcode::Sub:
      return f.b.CreateFSub(a[0], a[1]);
    case Opcode::Mul:
      return f.b.CreateFMul(a[0], a[1]);
    case Opcode::Div:
      return f.b.CreateFDiv(a[0], a[1]);
    case Opcode::Rcp:
      return f.b.CreateFDiv(llvm::ConstantFP::get(a[0]->getType(), 1.0), a[0]);
    case Opcode::Sqrt:
      return f.intrinsic(llvm::Intrinsic::sqrt, {a[0]->getType()}, {a[0]});
    default:
      return f.intrinsic(llvm::Intrinsic::fma, {a[0]->getType()}, {a[0], a[1], a[2]});
  }
}

Value* rounded(FunctionEmitter& f, Opcode opcode, const std::vector<Value*>& a, Rounding rounding) {
  return rounding == Rounding::Nearest ? nearest(f, opcode, a) : directed_arithmetic(f, opcode, a, rounding);
}

/// The result with .ftz, of floats that are flushed themselves. Hardware decides on flushing before the result is
/// squeezed into the subnormal format, which may round it up to the smallest normal number. Sums there are exact, roots
/// never get there, nor do quotients that are rounded to the nearest. Of others the same operation tells with all 2^64
/// times as large. Where that overflows, the result is zero or not that small: neither operand of a product is less
/// than 2^-126, and sums that cancel are no finer than their terms.
Value* flushed(FunctionEmitter& f, Opcode opcode, std::vector<Value*> a, Rounding rounding, Value* result) {
  const bool is_quotient = opcode == Opcode::Div || opcode == Opcode::Rcp;
  if (opcode == Opcode::Add || opcode == Opcode::Sub || opcode == Opcode::Sqrt ||
      (is_quotient && rounding == Rounding::Nearest))
    return flush_subnormal(f.b, result);
  llvm::Type* const type = result->getType();
  auto constant = [&](double number) { return llvm::ConstantFP::get(type, number); };
  if (opcode == Opcode::Rcp) {
    a.insert(a.begin(), constant(0x1p64));
    opcode = Opcode::Div;
  } else {
    Value*& larger = !is_quotient && llvm::isa<llvm::Constant>(a[1]) ? a[1] : a[0];
    larger = f.b.CreateFMul(larger, constant(0x1p64));
  }
  if (a.size() == 3) a[2] = f.b.CreateFMul(a[2], constant(0x1p64));
  Value* magnitude = f.intrinsic(llvm::Intrinsic::fabs, {type}, {rounded(f, opcode, a, rounding)});
  Value* vanishes = f.b.CreateFCmpOLT(magnitude, constant(0x1p-62));
  Value* zero = f.intrinsic(llvm::Intrinsic::copysign, {type}, {constant(0), result});
  return f.b.CreateSelect(vanishes, zero, result);
}

}  // namespace

void emit_float_arithmetic(FunctionEmitter& f, const Instruction& i) {
  std::vector<Value*> operands;
  for (std::size_t n = 1; n < i.operands.size(); ++n) operands.push_back(float_source(f, i, n));
  const Rounding rounding = rounding_of(i);
  Value* result = rounded(f, i.opcode, operands, rounding);
  if (i.has(M::Ftz) && !f.flushed_values.is_never_subnormal(i))
    result = flushed(f, i.opcode, operands, rounding, result);
  if (i.has(M::Sat)) result = saturate(f, result);
  f.define(i.operands[0], result, i.type());
}

void emit_float_abs(FunctionEmitter& f, const Instruction& i) {
  Value* a = float_source(f, i, 1);
  f.define(i.operands[0], f.intrinsic(llvm::Intrinsic::fabs, {a->getType()}, {a}), i.type());
}

void emit_float_neg(FunctionEmitter& f, const Instruction& i) {
  f.define(i.operands[0], f.b.CreateFNeg(float_source(f, i, 1)), i.type());
}

/// min and max of two or three; .xorsign.abs compares magnitudes and gives the result the product's sign.
void emit_float_min_max(FunctionEmitter& f, const Instruction& i) {
  const bool is_min = i.opcode == Opcode::Min;
  const bool magnitudes = i.has(M::Abs);
  Value* sign = nullptr;
  Value* result = nullptr;
  for (std::size_t n = 1; n < i.operands.size(); ++n) {
    Value* operand = float_source(f, i, n);
    if (magnitudes) {
      Value* bits = f.b.CreateBitCast(operand, f.bits_of(i.type()));
      sign = sign == nullptr ? bits : f.b.CreateXor(sign, bits);
      operand = f.intrinsic(llvm::Intrinsic::fabs, {operand->getType()}, {operand});
    }
    result = result == nullptr ? operand : float_min_max(f, is_min, result, operand, i.has(M::NaN));
  }
  if (magnitudes) {
    Value* signed_result = f.intrinsic(llvm::Intrinsic::copysign, {result->getType()},
                                       {result, f.b.CreateBitCast(sign, result->getType())});
    result = f.b.CreateSelect(f.b.CreateFCmpUNO(result, result), result, signed_result);
  }
  f.define(i.operands[0], result, i.type());
}

/// copysign d, a, b: b with the sign of a
void emit_copysign(FunctionEmitter& f, const Instruction& i) {
  Value* sign = f.source(i.operands[1], i.type());
  Value* magnitude = f.source(i.operands[2], i.type());
  f.define(i.operands[0], f.intrinsic(llvm::Intrinsic::copysign, {sign->getType()}, {magnitude, sign}), i.type());
}

void emit_testp(FunctionEmitter& f, const Instruction& i) {
  llvm::FPClassTest test = llvm::fcNone;
  if (i.has(M::Finite)) test = llvm::fcFinite;
  if (i.has(M::Infinite)) test = llvm::fcInf;
  if (i.has(M::Number)) test = static_cast<llvm::FPClassTest>(llvm::fcFinite | llvm::fcInf);
  if (i.has(M::Notanumber)) test = llvm::fcNan;
  if (i.has(M::Normal)) test = static_cast<llvm::FPClassTest>(llvm::fcNormal | llvm::fcZero);  // hardware counts zero
  if (i.has(M::Subnormal)) test = llvm::fcSubnormal;
  f.define(i.operands[0], f.b.createIsFPClass(f.source(i.operands[1], i.type()), test), Type::Pred);
}

}  // namespace cucore::cpu::compiler
