// The bounds of values: see ranges.hpp.
#include "cpu/compiler/vector/analysis/ranges.hpp"

#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/IntrinsicInst.h>

#include <cstddef>
#include <cstdlib>

#include "cpu/abi/kernel_abi.hpp"
#include "cpu/compiler/cost/cost_model.hpp"
#include "cpu/compiler/vector/analysis/state_fields.hpp"

namespace cucore::cpu::compiler {

using llvm::ConstantRange;
using llvm::Value;

namespace {

class Ranges {
 public:
  Ranges(const llvm::Function& scalar, const VectorWidth& width) : scalar_(scalar), width_(width) {}

  ConstantRange of(const Value* value, unsigned depth) const {
    ConstantRange any = ConstantRange::getFull(value->getType()->getIntegerBitWidth());
    if (const auto* number = llvm::dyn_cast<llvm::ConstantInt>(value)) return ConstantRange(number->getValue());
    if (depth == cost_model::deepest_bounds) return any;
    auto operand = [&](unsigned n) { return of(llvm::cast<llvm::User>(value)->getOperand(n), depth + 1); };
    if (const auto* load = llvm::dyn_cast<llvm::LoadInst>(value)) return of_field(*load);
    if (const auto* operation = llvm::dyn_cast<llvm::BinaryOperator>(value)) {
      const ConstantRange left = operand(0), right = operand(1);
      // Without common bits it is a sum, whose range is narrower.
      const bool is_sum = operation->getOpcode() == llvm::Instruction::Or &&
                          (fits_below(right, *operation->getOperand(0)) || fits_below(left, *operation->getOperand(1)));
      return is_sum ? left.add(right) : left.binaryOp(operation->getOpcode(), right);
    }
    if (llvm::isa<llvm::ZExtInst, llvm::SExtInst, llvm::TruncInst>(value))
      return operand(0).castOp(llvm::cast<llvm::CastInst>(value)->getOpcode(), any.getBitWidth());
    if (llvm::isa<llvm::SelectInst>(value)) return operand(1).unionWith(operand(2));
    if (llvm::isa<llvm::MinMaxIntrinsic>(value))
      return ConstantRange::intrinsic(llvm::cast<llvm::IntrinsicInst>(value)->getIntrinsicID(),
                                      {operand(0), operand(1)});
    return any;
  }

 private:
  /// Whether such values have only bits that are zero in `value` whatever it is made of.
  bool fits_below(const ConstantRange& range, const Value& value) const {
    return range.getUnsignedMax().getActiveBits() <=
           llvm::computeKnownBits(&value, scalar_.getDataLayout()).countMinTrailingZeros();
  }

  ConstantRange of_field(const llvm::LoadInst& load) const {
    const unsigned bits = load.getType()->getIntegerBitWidth();
    const auto field = thread_field(load.getPointerOperand(), scalar_);
    std::uint32_t count = 0;
    if (field == offsetof(ThreadState, linear)) count = width_.threads();
    for (unsigned axis = 0; axis < 3; ++axis) {
      if (field == offsetof(ThreadState, thread_id) + std::size_t{4} * axis) count = width_.block[axis];
    }
    if (count == 0) return ConstantRange::getFull(bits);
    return {llvm::APInt(bits, 0), llvm::APInt(bits, count)};
  }

  const llvm::Function& scalar_;
  const VectorWidth& width_;
};

}  // namespace

ConstantRange range_in_block(const Value* integer, const llvm::Function& scalar, const VectorWidth& width) {
  return Ranges(scalar, width).of(integer, 0);
}

bool keeps_stride(const ConstantRange& range, std::int64_t stride, bool is_signed) {
  if (range.isFullSet() || range.isEmptySet() || (is_signed ? range.isSignWrappedSet() : range.isWrappedSet()))
    return false;
  // Two values of the range differ by what they are apart modulo 2 to the power of the width, if that is less than
  // half.
  const std::uint64_t half = std::uint64_t{1} << (range.getBitWidth() - 1);
  return !range.isSizeLargerThan(half) && static_cast<std::uint64_t>(std::abs(stride)) < half;
}

}  // namespace cucore::cpu::compiler
