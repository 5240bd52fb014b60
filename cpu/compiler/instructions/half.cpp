// f16 and bf16 arithmetic, scalar and packed by two. Computed in f32 (fma in f64) and rounded again: for formats this
// narrow the second rounding provably changes nothing, if the first one of bf16's fma is to odd.
#include "cpu/compiler/emitters/float_values.hpp"
#include "cpu/compiler/instructions/generators.hpp"

namespace cucore::cpu::compiler {

using llvm::Value;
using ptx::Instruction;
using ptx::Opcode;
using ptx::Type;
using M = ptx::Modifier;

namespace {

/// Exact product + c in f64, rounded to odd: the exponents of bf16 reach further than f64 has bits, so a sum rounded to
/// nearest could become a tie of bf16 that it is not.
Value* sum_to_odd(FunctionEmitter& f, Value* product, Value* c) {
  Value* sum = f.b.CreateFAdd(product, c);
  Value* part_of_c = f.b.CreateFSub(sum, product);
  Value* error = f.b.CreateFAdd(f.b.CreateFSub(product, f.b.CreateFSub(sum, part_of_c)), f.b.CreateFSub(c, part_of_c));
  Value* bits = f.b.CreateBitCast(sum, f.b.getInt64Ty());
  Value* difference = f.b.CreateXor(bits, f.b.CreateBitCast(error, f.b.getInt64Ty()));
  Value* beyond =
      f.b.CreateICmpSGE(difference, f.b.getInt64(0));  // the exact sum is further from 0 than the rounded one
  Value* odd = f.b.CreateSelect(beyond, f.b.CreateAdd(bits, f.b.getInt64(1)), f.b.CreateSub(bits, f.b.getInt64(1)));
  Value* is_even = f.b.CreateICmpEQ(f.b.CreateAnd(bits, 1), f.b.getInt64(0));
  Value* is_inexact = f.b.CreateFCmpONE(error, llvm::ConstantFP::get(error->getType(), 0.0));
  return f.b.CreateBitCast(f.b.CreateSelect(f.b.CreateAnd(is_even, is_inexact), odd, bits), f.b.getDoubleTy());
}

Value* fused(FunctionEmitter& f, const std::vector<Value*>& a, Type type) {
  std::vector<Value*> wide;
  wide.reserve(a.size());
  for (Value* value : a) wide.push_back(f.b.CreateFPExt(value, f.b.getDoubleTy()));
  if (type == Type::Bf16) return sum_to_odd(f, f.b.CreateFMul(wide[0], wide[1]), wide[2]);
  return f.intrinsic(llvm::Intrinsic::fma, {f.b.getDoubleTy()}, wide);
}

/// The result before it is rounded to the half.
Value* computed(FunctionEmitter& f, const Instruction& i, const std::vector<Value*>& a, Type type) {
  switch (i.opcode) {
    case Opcode::Add:
      return f.b.CreateFAdd(a[0], a[1]);
    case Opcode::Sub:
      return f.b.CreateFSub(a[0], a[1]);
    case Opcode::Mul:
      return f.b.CreateFMul(a[0], a[1]);
    case Opcode::Fma:
      return fused(f, a, type);
    default:
      return float_min_max(f, i.opcode == Opcode::Min, a[0], a[1], i.has(M::NaN));
  }
}

/// One element: halves in, half out.
Value* element_result(FunctionEmitter& f, const Instruction& i, std::vector<Value*> halves, Type type) {
  const bool flushes = i.has(M::Ftz) && type == Type::F16;
  if (flushes) {
    for (Value*& half : halves) half = flush_half(f, half);
  }
  if (i.opcode == Opcode::Abs) return f.b.CreateAnd(halves[0], 0x7fff);
  if (i.opcode == Opcode::Neg) return f.b.CreateXor(halves[0], f.b.getInt16(0x8000));
  std::vector<Value*> wide;
  wide.reserve(halves.size());
  for (Value* half : halves) wide.push_back(widen_half(f, half, type));
  Value* exact = computed(f, i, wide, type);
  Value* result = narrow(f, exact, type, Rounding::Nearest);
  if (flushes) result = flush_rounded(f, result, exact, type);
  if (i.has(M::Sat)) result = narrow(f, saturate(f, widen_half(f, result, type)), type, Rounding::Nearest);
  if (i.has(M::Relu)) {
    Value* wide_result = widen_half(f, result, type);
    Value* zero = llvm::ConstantFP::get(wide_result->getType(), 0.0);
    result = narrow(f, float_min_max(f, false, wide_result, zero, true), type, Rounding::Nearest);
  }
  return result;
}

}  // namespace

void emit_half_arithmetic(FunctionEmitter& f, const Instruction& i) {
  std::vector<Value*> operands;
  for (std::size_t n = 1; n < i.operands.size(); ++n) operands.push_back(f.source(i.operands[n], i.type()));
  Value* result = for_each_half(f, i.type(), [&](unsigned lane) {
    std::vector<Value*> halves;
    halves.reserve(operands.size());
    for (Value* operand : operands) halves.push_back(half_element(f, operand, lane));
    return element_result(f, i, halves, element_of(i.type()));
  });
  f.define(i.operands[0], result, i.type());
}

}  // namespace cucore::cpu::compiler
