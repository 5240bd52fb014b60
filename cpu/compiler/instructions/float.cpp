// f32 and f64 arithmetic with IEEE results: add sub mul fma mad div rcp sqrt in every rounding, abs neg min max
// copysign testp. A separate mul and add never fuse: the PTX compiler already chose.
#include <llvm/IR/IntrinsicsX86.h>

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

/// fma with the rounding in the instruction, where the host has that: compilers round this way inside expf.
Value* directed_fma(FunctionEmitter& f, const std::vector<Value*>& a, Rounding rounding) {
  constexpr std::uint32_t no_exceptions = 8, down = 1, up = 2, zero = 3;
  const std::uint32_t mode = rounding == Rounding::Down ? down : rounding == Rounding::Up ? up : zero;
  const auto id =
      a[0]->getType()->isFloatTy() ? llvm::Intrinsic::x86_avx512_vfmadd_f32 : llvm::Intrinsic::x86_avx512_vfmadd_f64;
  return f.intrinsic(id, {}, {a[0], a[1], a[2], f.b.getInt32(mode | no_exceptions)});
}

/// The same of floats on other hosts. In doubles the product is exact, and so are its sum with c, which is two of them,
/// and what the nearest float lies away from that: it goes one step if that is to the wrong side.
Value* directed_fma_in_doubles(FunctionEmitter& f, const std::vector<Value*>& a, Rounding rounding) {
  llvm::Type* const wide = f.b.getDoubleTy();
  Value* const none = llvm::ConstantFP::get(wide, 0.0);
  Value* product = f.b.CreateFMul(f.b.CreateFPExt(a[0], wide), f.b.CreateFPExt(a[1], wide));
  Value* addend = f.b.CreateFPExt(a[2], wide);
  Value* sum = f.b.CreateFAdd(product, addend);
  Value* added = f.b.CreateFSub(sum, product);
  Value* lost = f.b.CreateFAdd(f.b.CreateFSub(product, f.b.CreateFSub(sum, added)), f.b.CreateFSub(addend, added));
  Value* nearest_float = nearest(f, Opcode::Fma, a);
  Value* nearest_wide = f.b.CreateFPExt(nearest_float, wide);
  Value* above = f.b.CreateFAdd(f.b.CreateFSub(sum, nearest_wide), lost);
  llvm::Type* const word = f.b.getInt32Ty();
  auto bits_of = [&](Value* value) { return f.b.CreateBitCast(value, word); };
  Value* bits = bits_of(nearest_float);
  if (rounding == Rounding::Zero) {
    Value* is_too_large = f.b.CreateFCmpOLT(f.b.CreateFMul(above, nearest_wide), none);
    bits = f.b.CreateAdd(bits, f.b.CreateSExt(is_too_large, word));
  } else {
    const bool up = rounding == Rounding::Up;
    Value* is_wrong = up ? f.b.CreateFCmpOGT(above, none) : f.b.CreateFCmpOLT(above, none);
    Value* upwards = f.b.CreateOr(f.b.CreateAShr(bits, 31), 1);
    Value* step = f.b.CreateSelect(is_wrong, upwards, f.b.getInt32(0));
    bits = up ? f.b.CreateAdd(bits, step) : f.b.CreateSub(bits, step);
  }
  if (rounding == Rounding::Down) {  // the one rounding in which numbers that cancel make a negative zero
    Value* sign = f.b.CreateOr(f.b.CreateXor(bits_of(a[0]), bits_of(a[1])), bits_of(a[2]));
    Value* zero = f.b.CreateAnd(sign, f.b.getInt32(0x80000000));
    bits = f.b.CreateSelect(f.b.CreateFCmpOEQ(sum, none), zero, bits);
  }
  return f.b.CreateBitCast(bits, f.b.getFloatTy());
}

/// Other roundings are rare: a built-in switches the processor's mode around the one operation.
Value* by_built_in(FunctionEmitter& f, Opcode opcode, std::vector<Value*> a, Rounding rounding, bool flushes) {
  llvm::Type* type = a[0]->getType();
  std::string name(ptx::spelling(opcode == Opcode::Mad ? Opcode::Fma : opcode));
  if (opcode == Opcode::Rcp) {
    a.insert(a.begin(), llvm::ConstantFP::get(type, 1.0));
    name = "div";
  }
  a.push_back(f.b.getInt32(static_cast<std::uint32_t>(rounding) | (flushes ? flush_mode : 0)));
  return f.call("cucpu_" + name + (type->isFloatTy() ? "_f32" : "_f64"), type, a);
}

/// The result with .ftz. Hardware decides on flushing before the result is squeezed into the subnormal format, which
/// may round a product up to the smallest normal number (sums there are exact, and quotients never reach it): only then
/// does a built-in look closer.
Value* flushed(FunctionEmitter& f, Opcode opcode, const std::vector<Value*>& a, Value* result) {
  Value* plain = flush_subnormal(f.b, result);
  if (opcode != Opcode::Mul && opcode != Opcode::Fma && opcode != Opcode::Mad) return plain;
  Value* magnitude = f.intrinsic(llvm::Intrinsic::fabs, {result->getType()}, {result});
  Value* doubtful = f.b.CreateFCmpOEQ(magnitude, llvm::ConstantFP::get(result->getType(), 0x1p-126));
  auto* before = f.b.GetInsertBlock();
  auto* closer = f.new_block("closer");
  auto* decided = f.new_block("decided");
  f.b.CreateCondBr(doubtful, closer, decided);
  f.b.SetInsertPoint(closer);
  Value* exact = by_built_in(f, opcode, a, Rounding::Nearest, true);
  f.b.CreateBr(decided);
  f.b.SetInsertPoint(decided);
  auto* either = f.b.CreatePHI(result->getType(), 2);
  either->addIncoming(plain, before);
  either->addIncoming(exact, closer);
  return either;
}

}  // namespace

void emit_float_arithmetic(FunctionEmitter& f, const Instruction& i) {
  std::vector<Value*> operands;
  for (std::size_t n = 1; n < i.operands.size(); ++n) operands.push_back(float_source(f, i, n));
  const Rounding rounding = rounding_of(i);
  Value* result = nullptr;
  if (rounding == Rounding::Nearest) {
    result = nearest(f, i.opcode, operands);
    if (i.has(M::Ftz)) result = flushed(f, i.opcode, operands, result);
  } else if (operands.size() == 3 && f.module.host.avx512f && !i.has(M::Ftz)) {
    result = directed_fma(f, operands, rounding);
  } else if (operands.size() == 3 && i.type() == Type::F32 && !i.has(M::Ftz)) {
    result = directed_fma_in_doubles(f, operands, rounding);
  } else {
    result = by_built_in(f, i.opcode, operands, rounding, i.has(M::Ftz));
  }
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
