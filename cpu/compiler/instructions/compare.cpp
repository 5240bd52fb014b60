// setp, set, selp and slct.
#include <optional>

#include "cpu/compiler/emitters/float_values.hpp"
#include "cpu/compiler/instructions/generators.hpp"

namespace cucore::cpu::compiler {

using llvm::CmpInst;
using llvm::Value;
using ptx::Instruction;
using ptx::Operand;
using ptx::Type;
using ptx::TypeKind;
using M = ptx::Modifier;

namespace {

struct Comparison {
  M modifier;
  CmpInst::Predicate of_floats;
  CmpInst::Predicate of_signed;
  CmpInst::Predicate of_unsigned;
};

// .lo .ls .hi .hs are the unsigned orders by another name; unordered forms are of floats only.
constexpr Comparison comparisons[] = {
    {M::Eq, CmpInst::FCMP_OEQ, CmpInst::ICMP_EQ, CmpInst::ICMP_EQ},
    {M::Ne, CmpInst::FCMP_ONE, CmpInst::ICMP_NE, CmpInst::ICMP_NE},
    {M::Lt, CmpInst::FCMP_OLT, CmpInst::ICMP_SLT, CmpInst::ICMP_ULT},
    {M::Le, CmpInst::FCMP_OLE, CmpInst::ICMP_SLE, CmpInst::ICMP_ULE},
    {M::Gt, CmpInst::FCMP_OGT, CmpInst::ICMP_SGT, CmpInst::ICMP_UGT},
    {M::Ge, CmpInst::FCMP_OGE, CmpInst::ICMP_SGE, CmpInst::ICMP_UGE},
    {M::Lo, CmpInst::BAD_FCMP_PREDICATE, CmpInst::ICMP_ULT, CmpInst::ICMP_ULT},
    {M::Ls, CmpInst::BAD_FCMP_PREDICATE, CmpInst::ICMP_ULE, CmpInst::ICMP_ULE},
    {M::Hi, CmpInst::BAD_FCMP_PREDICATE, CmpInst::ICMP_UGT, CmpInst::ICMP_UGT},
    {M::Hs, CmpInst::BAD_FCMP_PREDICATE, CmpInst::ICMP_UGE, CmpInst::ICMP_UGE},
    {M::Equ, CmpInst::FCMP_UEQ, CmpInst::BAD_ICMP_PREDICATE, CmpInst::BAD_ICMP_PREDICATE},
    {M::Neu, CmpInst::FCMP_UNE, CmpInst::BAD_ICMP_PREDICATE, CmpInst::BAD_ICMP_PREDICATE},
    {M::Ltu, CmpInst::FCMP_ULT, CmpInst::BAD_ICMP_PREDICATE, CmpInst::BAD_ICMP_PREDICATE},
    {M::Leu, CmpInst::FCMP_ULE, CmpInst::BAD_ICMP_PREDICATE, CmpInst::BAD_ICMP_PREDICATE},
    {M::Gtu, CmpInst::FCMP_UGT, CmpInst::BAD_ICMP_PREDICATE, CmpInst::BAD_ICMP_PREDICATE},
    {M::Geu, CmpInst::FCMP_UGE, CmpInst::BAD_ICMP_PREDICATE, CmpInst::BAD_ICMP_PREDICATE},
    {M::Num, CmpInst::FCMP_ORD, CmpInst::BAD_ICMP_PREDICATE, CmpInst::BAD_ICMP_PREDICATE},
    {M::Nan, CmpInst::FCMP_UNO, CmpInst::BAD_ICMP_PREDICATE, CmpInst::BAD_ICMP_PREDICATE},
};

CmpInst::Predicate predicate_of(const Instruction& i) {
  for (const Comparison& comparison : comparisons) {
    if (!i.has(comparison.modifier)) continue;
    switch (kind_of(i.type())) {
      case TypeKind::Float:
        return comparison.of_floats;
      case TypeKind::Signed:
        return comparison.of_signed;
      default:
        return comparison.of_unsigned;
    }
  }
  return CmpInst::BAD_ICMP_PREDICATE;
}

/// a CmpOp b of one element of operands 1 and 2, which are halves.
Value* compare_halves(FunctionEmitter& f, const Instruction& i, unsigned lane) {
  const Type element = element_of(i.type());
  auto wide = [&](std::size_t n) {
    Value* half = half_element(f, f.source(i.operands[n], i.type()), lane);
    if (i.has(M::Ftz) && element == Type::F16) half = flush_half(f, half);
    return widen_half(f, half, element);
  };
  return f.b.CreateFCmp(predicate_of(i), wide(1), wide(2));
}

/// a CmpOp b of operands 1 and 2.
Value* compare(FunctionEmitter& f, const Instruction& i) {
  const CmpInst::Predicate predicate = predicate_of(i);
  if (predicate == CmpInst::BAD_FCMP_PREDICATE || predicate == CmpInst::BAD_ICMP_PREDICATE) {
    f.module.fail("a comparison that its type does not have", i);
    return f.b.getFalse();
  }
  if (is_half(i.type())) return compare_halves(f, i, 0);
  if (is_float(i.type())) {
    return f.b.CreateFCmp(predicate, float_source(f, i, 1), float_source(f, i, 2));
  }
  return f.b.CreateICmp(predicate, f.source(i.operands[1], i.type()), f.source(i.operands[2], i.type()));
}

/// The Boolean operation with the third source operand, if there is one.
Value* combine(FunctionEmitter& f, const Instruction& i, Value* compared) {
  if (i.operands.size() < 4) return compared;
  Value* c = f.predicate(i.operands[3]);
  if (i.has(M::And)) return f.b.CreateAnd(compared, c);
  return i.has(M::Or) ? f.b.CreateOr(compared, c) : f.b.CreateXor(compared, c);
}

}  // namespace

/// setp p|q: p is the comparison and q its opposite, each combined with c.
void emit_setp(FunctionEmitter& f, const Instruction& i) {
  Value* compared = compare(f, i);
  const Operand& to = i.operands[0];
  if (to.kind != Operand::Kind::RegisterPair) {
    f.define(to, combine(f, i, compared), Type::Pred);
    return;
  }
  Value* p = combine(f, i, compared);
  Value* q = combine(f, i, f.b.CreateNot(compared));
  f.define(to.elements[0], p, Type::Pred);
  f.define(to.elements[1], q, Type::Pred);
}

void emit_set(FunctionEmitter& f, const Instruction& i) {
  Value* truth = combine(f, i, compare(f, i));
  const Type type = i.types[0];
  Value* result =
      type == Type::F32 ? f.b.CreateUIToFP(truth, f.b.getFloatTy()) : f.b.CreateSExt(truth, f.b.getInt32Ty());
  f.define(i.operands[0], result, type);
}

/// setp p|q of packed halves: p compares the low elements and q the high ones.
void emit_setp_packed(FunctionEmitter& f, const Instruction& i) {
  const Operand& to = i.operands[0];
  const bool pair = to.kind == Operand::Kind::RegisterPair;
  Value* low = combine(f, i, compare_halves(f, i, 0));
  Value* high = combine(f, i, compare_halves(f, i, 1));
  f.define(pair ? to.elements[0] : to, low, Type::Pred);
  if (pair) f.define(to.elements[1], high, Type::Pred);
}

/// set on halves: 1.0 or 0.0 in a half, all ones or 0 in an integer
void emit_set_half(FunctionEmitter& f, const Instruction& i) {
  const Type type = i.types[0];
  if (!is_float(type)) {
    f.define(i.operands[0], f.b.CreateSExt(combine(f, i, compare_halves(f, i, 0)), f.bits_of(type)), type);
    return;
  }
  Value* one = f.b.getInt16(element_of(type) == Type::F16 ? 0x3c00 : 0x3f80);
  Value* result = for_each_half(f, type, [&](unsigned lane) {
    return f.b.CreateSelect(combine(f, i, compare_halves(f, i, lane)), one, f.b.getInt16(0));
  });
  f.define(i.operands[0], result, type);
}

void emit_selp(FunctionEmitter& f, const Instruction& i) {
  Value* a = f.source(i.operands[1], i.type());
  Value* b = f.source(i.operands[2], i.type());
  f.define(i.operands[0], f.b.CreateSelect(f.predicate(i.operands[3]), a, b), i.type());
}

/// slct d, a, b, c: a if c >= 0, else b (a NaN is not >= 0)
void emit_slct(FunctionEmitter& f, const Instruction& i) {
  const Type type = i.types[0];
  Value* a = f.source(i.operands[1], type);
  Value* b = f.source(i.operands[2], type);
  Value* c = f.source(i.operands[3], i.types[1]);
  Value* selects_a = nullptr;
  if (i.types[1] == Type::F32) {
    if (i.has(M::Ftz)) c = flush_subnormal(f.b, c);
    selects_a = f.b.CreateFCmpOGE(c, llvm::ConstantFP::get(c->getType(), 0.0));
  } else {
    selects_a = f.b.CreateICmpSGE(c, f.b.getInt32(0));
  }
  f.define(i.operands[0], f.b.CreateSelect(selects_a, a, b), type);
}

}  // namespace cucore::cpu::compiler
