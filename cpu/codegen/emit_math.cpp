// Functions with a stated error: .approx and .full forms. IEEE operations where there is one, else the C library's
// single-precision functions: both are within what PTX documents, and the bits differ from a GPU's.
#include "cpu/codegen/float_values.hpp"
#include "cpu/codegen/generators.hpp"

namespace cucore::cpu::codegen {

using llvm::Value;
using ptx::Instruction;
using ptx::Opcode;
using M = ptx::Modifier;

namespace {

Value* square_root(FunctionEmitter& f, Value* a) { return f.intrinsic(llvm::Intrinsic::sqrt, {a->getType()}, {a}); }

Value* reciprocal(FunctionEmitter& f, Value* a) { return f.b.CreateFDiv(llvm::ConstantFP::get(a->getType(), 1.0), a); }

Value* reciprocal_root(FunctionEmitter& f, Value* a) {
  if (a->getType()->isDoubleTy()) return reciprocal(f, square_root(f, a));
  Value* wide = f.b.CreateFPExt(a, f.b.getDoubleTy());
  return f.b.CreateFPTrunc(reciprocal(f, square_root(f, wide)), f.b.getFloatTy());
}

Value* computed(FunctionEmitter& f, const Instruction& i, const std::vector<Value*>& a) {
  switch (i.opcode) {
    case Opcode::Div:
      return f.b.CreateFDiv(a[0], a[1]);
    case Opcode::Rcp:
      return reciprocal(f, a[0]);
    case Opcode::Sqrt:
      return square_root(f, a[0]);
    case Opcode::Rsqrt:
      return reciprocal_root(f, a[0]);
    default:
      return f.call("cucpu_" + std::string(ptx::spelling(i.opcode)) + "_f32", a[0]->getType(), {a[0]});
  }
}

}  // namespace

void emit_approximate(FunctionEmitter& f, const Instruction& i) {
  std::vector<Value*> operands;
  for (std::size_t n = 1; n < i.operands.size(); ++n) operands.push_back(float_source(f, i, n));
  Value* result = computed(f, i, operands);
  if (i.has(M::Ftz)) result = flush_subnormal(f, result);
  f.define(i.operands[0], result, i.type());
}

}  // namespace cucore::cpu::codegen
