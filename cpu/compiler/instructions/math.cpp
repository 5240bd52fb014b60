// Functions with a stated error: .approx and .full forms. IEEE operations where there is one, else polynomials, which
// the vector form runs on whole vectors. All are within what PTX documents, and the bits differ from a GPU's.
#include "cpu/compiler/emitters/approximations.hpp"
#include "cpu/compiler/emitters/float_values.hpp"
#include "cpu/compiler/instructions/generators.hpp"

namespace cucore::cpu::compiler {

using llvm::Value;
using ptx::Instruction;
using ptx::Opcode;
using M = ptx::Modifier;

namespace {

Value* square_root(FunctionEmitter& f, Value* a) { return f.intrinsic(llvm::Intrinsic::sqrt, {a->getType()}, {a}); }

Value* reciprocal(FunctionEmitter& f, Value* a) { return f.b.CreateFDiv(llvm::ConstantFP::get(a->getType(), 1.0), a); }

/// Of floats within 2^-23.4: each of the two is rounded, and 2^-22.9 is documented.
Value* reciprocal_root(FunctionEmitter& f, Value* a) { return reciprocal(f, square_root(f, a)); }

/// div.approx is a * (1 / b), and for |b| > 2^126 its reciprocal is documented to be 0.
Value* approximate_quotient(FunctionEmitter& f, Value* a, Value* b) {
  llvm::Type* type = b->getType();
  Value* magnitude = f.intrinsic(llvm::Intrinsic::fabs, {type}, {b});
  Value* zero = f.intrinsic(llvm::Intrinsic::copysign, {type}, {llvm::ConstantFP::get(type, 0.0), b});
  Value* vanishes = f.b.CreateFCmpOGT(magnitude, llvm::ConstantFP::get(type, 0x1p126));
  return f.b.CreateSelect(vanishes, f.b.CreateFMul(a, zero), f.b.CreateFDiv(a, b));
}

Value* computed(FunctionEmitter& f, const Instruction& i, const std::vector<Value*>& a) {
  switch (i.opcode) {
    case Opcode::Div:
      return i.has(M::Full) ? f.b.CreateFDiv(a[0], a[1]) : approximate_quotient(f, a[0], a[1]);
    case Opcode::Rcp:
      return reciprocal(f, a[0]);
    case Opcode::Sqrt:
      return square_root(f, a[0]);
    case Opcode::Rsqrt:
      return reciprocal_root(f, a[0]);
    case Opcode::Ex2:
      return power_of_two(f, a[0]);
    case Opcode::Lg2:
      return base_two_logarithm(f, a[0]);
    case Opcode::Sin:
      return sine(f, a[0]);
    case Opcode::Cos:
      return cosine(f, a[0]);
    default:
      return hyperbolic_tangent(f, a[0]);
  }
}

}  // namespace

void emit_approximate(FunctionEmitter& f, const Instruction& i) {
  std::vector<Value*> operands;
  for (std::size_t n = 1; n < i.operands.size(); ++n) operands.push_back(float_source(f, i, n));
  Value* result = computed(f, i, operands);
  if (i.has(M::Ftz)) result = flush_subnormal(f.b, result);
  f.define(i.operands[0], result, i.type());
}

/// ex2 and tanh of halves: computed in f32.
void emit_approximate_half(FunctionEmitter& f, const Instruction& i) {
  const ptx::Type element = element_of(i.type());
  Value* operand = f.source(i.operands[1], i.type());
  Value* result = for_each_half(f, i.type(), [&](unsigned lane) {
    Value* wide = widen_half(f, half_element(f, operand, lane), element);
    if (i.has(M::Ftz)) wide = flush_subnormal(f.b, wide);
    Value* computed_wide = computed(f, i, {wide});
    if (i.has(M::Ftz)) computed_wide = flush_subnormal(f.b, computed_wide);
    return narrow(f, computed_wide, element, Rounding::Nearest);
  });
  f.define(i.operands[0], result, i.type());
}

}  // namespace cucore::cpu::compiler
