// Video instructions: vadd vsub vabsdiff vmin vmax vshl vshr vmad vset on parts of registers, and the SIMD forms on two
// halves or four bytes at once. Whatever the types, elements are worked on as integers wide enough for any result.
#include <cstdint>
#include <limits>

#include "cpu/analysis/instructions/video_form.hpp"
#include "cpu/compiler/instructions/generators.hpp"

namespace cucore::cpu::compiler {

using analysis::BitRange;
using analysis::read_video_form;
using analysis::VideoForm;
using llvm::Value;
using ptx::Instruction;
using ptx::Opcode;
using ptx::Type;
using M = ptx::Modifier;

namespace {

/// Types by operand: vset and its SIMD forms spell none of the result, which is then unsigned.
Type type_of(const Instruction& i, std::size_t operand) {
  const bool spells_result = i.types.size() == 3;
  if (operand == 0) return spells_result ? i.types[0] : Type::U32;
  return i.types[operand - (spells_result ? 0 : 1)];
}

class VideoEmitter {
 public:
  VideoEmitter(FunctionEmitter& f, const Instruction& i)
      : f_(f), i_(i), form_(*read_video_form(i)), wide_(f.b.getIntNTy(needs_more_than_64_bits() ? 128 : 64)) {}

  void emit() { f_.define(i_.operands[0], form_.lanes == 1 ? scalar() : simd(), Type::U32); }

 private:
  bool needs_more_than_64_bits() const { return i_.opcode == Opcode::Vmad || i_.opcode == Opcode::Vshl; }
  bool gives_signed() const { return is_signed(type_of(i_, 0)); }

  Value* number(std::int64_t value) const { return llvm::ConstantInt::getSigned(wide_, value); }

  Value* reg(std::size_t n) { return f_.b.CreateZExt(source(n), wide_); }
  Value* source(std::size_t n) {
    ptx::Operand plain = i_.operands[n];
    plain.negated = false;  // of vmad: what is negated is the product or the sum, see multiply_add()
    return f_.source(plain, Type::U32);
  }

  /// Those bits of `value`, extended.
  Value* element(Value* value, BitRange range, bool is_signed) {
    Value* part = f_.b.CreateTrunc(f_.b.CreateLShr(value, range.first), f_.b.getIntNTy(range.count));
    return is_signed ? f_.b.CreateSExt(part, wide_) : f_.b.CreateZExt(part, wide_);
  }

  Value* select_if(Value* condition, Value* then, Value* otherwise) {
    return f_.b.CreateSelect(condition, then, otherwise);
  }
  Value* smaller(Value* a, Value* b) { return f_.intrinsic(llvm::Intrinsic::smin, {wide_}, {a, b}); }
  Value* larger(Value* a, Value* b) { return f_.intrinsic(llvm::Intrinsic::smax, {wide_}, {a, b}); }

  /// Saturates to the range of an integer of that many bits.
  Value* saturated(Value* value, unsigned bits, bool is_signed) {
    const std::int64_t low = is_signed ? -(std::int64_t{1} << (bits - 1)) : 0;
    const std::int64_t high = (std::int64_t{1} << (is_signed ? bits - 1 : bits)) - 1;
    return smaller(larger(value, number(low)), number(high));
  }

  Value* compare(Value* a, Value* b) {
    using P = llvm::CmpInst;
    const P::Predicate predicate = i_.has(M::Eq)   ? P::ICMP_EQ
                                   : i_.has(M::Ne) ? P::ICMP_NE
                                   : i_.has(M::Lt) ? P::ICMP_SLT
                                   : i_.has(M::Le) ? P::ICMP_SLE
                                   : i_.has(M::Gt) ? P::ICMP_SGT
                                                   : P::ICMP_SGE;
    return f_.b.CreateZExt(f_.b.CreateICmp(predicate, a, b), wide_);
  }

  /// Half of a + b, rounded away from zero.
  Value* average(Value* a, Value* b) {
    Value* sum = f_.b.CreateAdd(a, b);
    Value* one = f_.b.CreateZExt(f_.b.CreateICmpSGE(sum, number(0)), wide_);
    return f_.b.CreateAShr(f_.b.CreateAdd(sum, one), 1);
  }

  Value* amount(Value* b) { return i_.has(M::Wrap) ? f_.b.CreateAnd(b, number(31)) : smaller(b, number(32)); }

  Value* operation(Value* a, Value* b) {
    switch (i_.opcode) {
      case Opcode::Vadd:
      case Opcode::Vadd2:
      case Opcode::Vadd4:
        return f_.b.CreateAdd(a, b);
      case Opcode::Vsub:
      case Opcode::Vsub2:
      case Opcode::Vsub4:
        return f_.b.CreateSub(a, b);
      case Opcode::Vabsdiff:
      case Opcode::Vabsdiff2:
      case Opcode::Vabsdiff4:
        return f_.b.CreateSub(larger(a, b), smaller(a, b));
      case Opcode::Vmin:
      case Opcode::Vmin2:
      case Opcode::Vmin4:
        return smaller(a, b);
      case Opcode::Vmax:
      case Opcode::Vmax2:
      case Opcode::Vmax4:
        return larger(a, b);
      case Opcode::Vavrg2:
      case Opcode::Vavrg4:
        return average(a, b);
      case Opcode::Vshl:
        return f_.b.CreateShl(a, amount(b));
      case Opcode::Vshr:
        return f_.b.CreateAShr(a, amount(b));
      case Opcode::Vmad:
        return multiply_add(a, b);
      default:
        return compare(a, b);
    }
  }

  bool product_is_negated() const { return i_.operands[1].negated != i_.operands[2].negated; }
  bool multiplies_signed() const {
    return is_signed(i_.types[1]) || is_signed(i_.types[2]) || product_is_negated() || i_.operands[3].negated;
  }

  /// a * b + c, or one more for .po, shifted right
  Value* multiply_add(Value* a, Value* b) {
    Value* product = f_.b.CreateMul(a, b);
    if (product_is_negated()) product = f_.b.CreateNeg(product);
    Value* c = element(reg(3), BitRange{}, multiplies_signed());
    if (i_.operands[3].negated) c = f_.b.CreateNeg(c);
    Value* sum = f_.b.CreateAdd(product, c);
    if (i_.has(M::Po)) sum = f_.b.CreateAdd(sum, number(1));
    return i_.has(M::Shr7) ? f_.b.CreateAShr(sum, 7) : i_.has(M::Shr15) ? f_.b.CreateAShr(sum, 15) : sum;
  }

  Value* narrow(Value* value) { return f_.b.CreateTrunc(value, f_.b.getInt32Ty()); }

  Value* scalar() {
    Value* value = operation(element(reg(1), form_.a[0], is_signed(type_of(i_, 1))),
                             element(reg(2), form_.b[0], is_signed(type_of(i_, 2))));
    const bool is_signed = i_.opcode == Opcode::Vmad ? multiplies_signed() : gives_signed();
    if (i_.has(M::Sat)) value = saturated(value, form_.to.count, is_signed);
    if (form_.is_merged) {
      const std::uint64_t ones = (std::uint64_t{1} << form_.to.count) - 1;
      const auto kept = static_cast<std::uint32_t>(~(ones << form_.to.first));
      Value* placed = f_.b.CreateShl(f_.b.CreateAnd(narrow(value), ones), form_.to.first);
      return f_.b.CreateOr(placed, f_.b.CreateAnd(source(3), kept));
    }
    if (i_.has(M::Add)) return f_.b.CreateAdd(narrow(value), source(3));
    if (!i_.has(M::Min) && !i_.has(M::Max)) return narrow(value);
    Value* c = element(reg(3), BitRange{}, gives_signed());
    return narrow(i_.has(M::Min) ? smaller(value, c) : larger(value, c));
  }

  /// Of each lane the result, or in lanes outside the mask what c has; .add sums the results and c instead.
  Value* simd() {
    Value* both = f_.b.CreateOr(f_.b.CreateShl(reg(2), 32), reg(1));
    const bool sums = i_.has(M::Add);
    Value* c = source(3);
    const unsigned width = 32U / form_.lanes;
    const std::uint32_t ones = (1U << width) - 1;
    Value* total = sums ? c : f_.b.getInt32(0);
    for (unsigned lane = 0; lane < form_.lanes; ++lane) {
      const unsigned at = width * lane;
      if ((form_.mask >> lane & 1) == 0) {
        if (!sums) total = f_.b.CreateOr(total, f_.b.CreateAnd(c, ones << at));
        continue;
      }
      Value* value = operation(element(both, form_.a[lane], is_signed(type_of(i_, 1))),
                               element(both, form_.b[lane], is_signed(type_of(i_, 2))));
      if (i_.has(M::Sat)) value = saturated(value, width, gives_signed());
      total = sums ? f_.b.CreateAdd(total, narrow(value))
                   : f_.b.CreateOr(total, f_.b.CreateShl(f_.b.CreateAnd(narrow(value), ones), at));
    }
    return total;
  }

  FunctionEmitter& f_;
  const Instruction& i_;
  VideoForm form_;
  llvm::IntegerType* wide_;
};

}  // namespace

void emit_video(FunctionEmitter& f, const Instruction& i) { VideoEmitter(f, i).emit(); }

}  // namespace cucore::cpu::compiler
