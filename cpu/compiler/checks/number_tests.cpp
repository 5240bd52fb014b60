// Questions about numbers, of one thread or in vectors: see number_marks.hpp. Numbers are looked at as integers:
// without their sign, patterns of one format are ordered as the numbers are, and those of infinities and NaNs come
// last.
#include <llvm/ADT/APInt.h>
#include <llvm/Analysis/VectorUtils.h>
#include <llvm/IR/IntrinsicsX86.h>

#include <algorithm>
#include <cstdint>

#include "cpu/compiler/checks/number_marks.hpp"

namespace cucore::cpu::compiler {
namespace {

using analysis::bits_of;
using analysis::cancelled_bits;
using analysis::fraction_bits;
using analysis::NumberFormat;
using analysis::NumberOperation;
using analysis::NumberTest;
using llvm::Value;

std::uint64_t infinity_of(NumberFormat format) {
  const unsigned exponent_bits = bits_of(format) - 1 - fraction_bits(format);
  return ((std::uint64_t{1} << exponent_bits) - 1) << fraction_bits(format);
}

std::uint64_t smallest_normal(NumberFormat format) { return std::uint64_t{1} << fraction_bits(format); }

/// Where a source number becomes a normal number of eight bits, as patterns of its own format: from the first on, and
/// up to the second, what rounds to the largest included.
struct Range {
  std::uint64_t first, last;
};

Range range_of_eight_bits(NumberFormat to, NumberFormat from) {
  const bool is_e4m3 = to == NumberFormat::E4m3;
  switch (from) {
    case NumberFormat::F16:
      return is_e4m3 ? Range{0x2400, 0x5f40} : Range{0x0400, 0x7b80};
    case NumberFormat::Bf16:
      return is_e4m3 ? Range{0x3c80, 0x43e8} : Range{0x3880, 0x4770};
    default:
      return is_e4m3 ? Range{0x3c800000, 0x43e80000} : Range{0x38800000, 0x47700000};
  }
}

/// Builds questions.
class Questions {
 public:
  Questions(llvm::IRBuilder<>& builder, const NumberTest& test, llvm::ArrayRef<Value*> values, HostFeatures host)
      : b(builder), test_(test), values_(values), host_(host) {}

  Value* coarse() {
    return any_element([&](unsigned e) { return is_eight_bits() ? leaves_range(e) : coarse_of(e); });
  }

  Value* fine() {
    return any_element([&](unsigned e) { return is_eight_bits() ? leaves_range(e) : fine_of(e); });
  }

 private:
  template <typename Question>
  Value* any_element(const Question& question) {
    Value* any = question(0);
    for (unsigned e = 1; e < test_.elements; ++e) any = b.CreateOr(any, question(e));
    return any;
  }

  bool is_eight_bits() const { return bits_of(test_.result) == 8; }
  bool is_memory() const {
    return test_.operation == NumberOperation::Load || test_.operation == NumberOperation::Store;
  }
  bool is_sum() const {
    return test_.operation == NumberOperation::Add || test_.operation == NumberOperation::Subtract;
  }
  bool has_integer_source() const { return test_.source < NumberFormat::F16; }

  static llvm::Type* integers_like(llvm::Type* type, unsigned bits) {
    llvm::Type* const one = llvm::IntegerType::get(type->getContext(), bits);
    const auto* const vector = llvm::dyn_cast<llvm::FixedVectorType>(type);
    return vector == nullptr ? one : llvm::FixedVectorType::get(one, vector->getNumElements());
  }

  Value* element(Value* whole, NumberFormat format, unsigned e, bool is_packed) {
    const unsigned width = bits_of(format);
    const unsigned all = whole->getType()->getScalarSizeInBits();
    Value* bits = b.CreateBitCast(whole, integers_like(whole->getType(), all));
    if (is_packed && e != 0) bits = b.CreateLShr(bits, std::uint64_t{e} * width);
    return all == width ? bits : b.CreateTrunc(bits, integers_like(whole->getType(), width));
  }

  Value* number(Value* like, std::uint64_t pattern) {
    return llvm::ConstantInt::get(like->getType(), llvm::APInt(like->getType()->getScalarSizeInBits(), pattern));
  }
  Value* magnitude(Value* bits, NumberFormat format) {
    return b.CreateAnd(bits, number(bits, (std::uint64_t{1} << (bits_of(format) - 1)) - 1));
  }

  Value* result(unsigned e) { return element(values_[0], test_.result, e, test_.elements > 1); }
  Value* source(unsigned operand, unsigned e) {
    if (test_.has(NumberTest::by_operand)) return element(values_[1 + e], test_.source, 0, false);
    return element(values_[1 + operand], test_.source, e, test_.elements > 1);
  }
  Value* source_magnitude(unsigned operand, unsigned e) { return magnitude(source(operand, e), test_.source); }

  /// Of a conversion to eight bits, whose result says less than what was converted.
  Value* leaves_range(unsigned e) {
    Value* const from = source_magnitude(0, e);
    const auto [first, last] = range_of_eight_bits(test_.result, test_.source);
    Value* const outside = b.CreateICmpUGT(b.CreateSub(from, number(from, first)), number(from, last - first));
    return b.CreateAnd(outside, is_not_zero(from));
  }

  Value* is_not_zero(Value* bits) { return b.CreateICmpNE(bits, number(bits, 0)); }

  /// Whether a zero may be a number that became too small.
  bool zero_counts() const {
    switch (test_.operation) {
      case NumberOperation::Multiply:
      case NumberOperation::MultiplyAdd:
      case NumberOperation::Divide:
      case NumberOperation::Reciprocal:
      case NumberOperation::Exponential:
        return true;
      case NumberOperation::Convert:
        return !has_integer_source();
      default:
        return false;
    }
  }

  Value* coarse_of(unsigned e) {
    Value* const size = magnitude(result(e), test_.result);
    const std::uint64_t infinity = infinity_of(test_.result);
    if (Value* const found = class_of_vector()) {
      if (is_memory()) return found;
      Value* all = found;
      if (!zero_counts() && is_sum() && test_.has(NumberTest::flushes))
        all = b.CreateOr(all, b.CreateAnd(b.CreateNot(is_not_zero(size)), is_not_zero(source_magnitude(0, e))));
      return test_.has(NumberTest::may_cancel) ? b.CreateOr(all, cancels(size, e)) : all;
    }
    if (is_memory()) return b.CreateICmpUGE(size, number(size, infinity));
    const std::uint64_t first = smallest_normal(test_.result);
    Value* found = b.CreateICmpUGE(b.CreateSub(size, number(size, first)), number(size, infinity - first));
    if (!zero_counts()) {
      Value* counts = is_not_zero(size);
      // A sum of normal numbers may be flushed.
      if (is_sum() && test_.has(NumberTest::flushes)) counts = b.CreateOr(counts, is_not_zero(source_magnitude(0, e)));
      found = b.CreateAnd(found, counts);
    }
    return test_.has(NumberTest::may_cancel) ? b.CreateOr(found, cancels(size, e)) : found;
  }

  /// Of a vector of floats or doubles: whether they are NaN, infinite, or (but in memory) subnormal or a zero that
  /// counts, by one instruction. Null if there is none.
  Value* class_of_vector() {
    constexpr std::uint32_t nan = 0x81, infinite = 0x18, subnormal = 0x20, zero = 0x06;
    const auto* const type = llvm::dyn_cast<llvm::FixedVectorType>(values_[0]->getType());
    if (type == nullptr || !host_.fpclass || test_.elements != 1) return nullptr;
    const bool is_double = test_.result == NumberFormat::F64;
    if (!is_double && test_.result != NumberFormat::F32) return nullptr;
    std::uint32_t classes = nan | infinite;
    if (!is_memory()) classes |= subnormal | (zero_counts() ? zero : 0);
    llvm::Type* const one = is_double ? b.getDoubleTy() : b.getFloatTy();
    const unsigned lanes = type->getNumElements();
    Value* const whole = b.CreateBitCast(values_[0], llvm::FixedVectorType::get(one, lanes));
    const unsigned at_once = std::min(lanes, is_double ? 8U : 16U);
    if (lanes % at_once != 0 || at_once < 8) return nullptr;
    const auto id = is_double       ? llvm::Intrinsic::x86_avx512_fpclass_pd_512
                    : at_once == 16 ? llvm::Intrinsic::x86_avx512_fpclass_ps_512
                                    : llvm::Intrinsic::x86_avx512_fpclass_ps_256;
    llvm::SmallVector<Value*, 2> parts;
    for (unsigned first = 0; first < lanes; first += at_once) {
      llvm::SmallVector<int, 16> picks;
      for (unsigned n = 0; n < at_once; ++n) picks.push_back(static_cast<int>(first + n));
      Value* const part = at_once == lanes ? whole : b.CreateShuffleVector(whole, picks);
      parts.push_back(b.CreateIntrinsic(id, {}, {part, b.getInt32(classes)}));
    }
    return llvm::concatenateVectors(b, parts);
  }

  /// True, too, where nothing at all is left.
  Value* cancels(Value* size, unsigned e) {
    const unsigned summand = test_.operation == NumberOperation::MultiplyAdd ? 2 : 0;
    Value* const distance = b.CreateSub(source_magnitude(summand, e), size);
    const std::uint64_t least = std::uint64_t{cancelled_bits(test_.result)} << fraction_bits(test_.result);
    return b.CreateICmpSGT(distance, number(distance, least));
  }

  Value* fine_of(unsigned e) {
    Value* const size = magnitude(result(e), test_.result);
    Value* const is_special = b.CreateICmpUGE(size, number(size, infinity_of(test_.result)));
    if (is_memory()) return is_special;
    Value* const is_subnormal =
        b.CreateICmpULT(b.CreateSub(size, number(size, 1)), number(size, smallest_normal(test_.result) - 1));
    Value* found = b.CreateOr(is_special, is_subnormal);
    Value* const is_zero = b.CreateICmpEQ(size, number(size, 0));
    if (Value* const small = makes_zero_of_more(e)) found = b.CreateOr(found, b.CreateAnd(is_zero, small));
    if (!test_.has(NumberTest::may_cancel)) return found;
    return b.CreateOr(found, b.CreateAnd(b.CreateNot(is_zero), cancels(size, e)));
  }

  /// Of operands whose result is zero: whether it would not be zero with more room. Null: never.
  Value* makes_zero_of_more(unsigned e) {
    const bool flushes = test_.has(NumberTest::flushes);
    switch (test_.operation) {
      case NumberOperation::Add:
      case NumberOperation::Subtract: {
        if (!flushes) return nullptr;
        Value* const left = source(0, e);
        Value* right = source(1, e);
        if (test_.operation == NumberOperation::Add)
          right = b.CreateXor(right, number(right, std::uint64_t{1} << (bits_of(test_.source) - 1)));
        Value* const either = b.CreateOr(source_magnitude(0, e), source_magnitude(1, e));
        return b.CreateAnd(b.CreateICmpNE(left, right), is_not_zero(either));
      }
      case NumberOperation::Multiply:
        return both_count(e);
      case NumberOperation::MultiplyAdd: {
        if (flushes) return both_count(e);
        Value* const addend = source_magnitude(2, e);
        return b.CreateAnd(both_count(e), b.CreateICmpEQ(addend, number(addend, 0)));
      }
      case NumberOperation::Divide:
        return b.CreateAnd(is_not_zero(source_magnitude(0, e)), is_not_infinite(source_magnitude(1, e)));
      case NumberOperation::Reciprocal:
        return is_not_infinite(source_magnitude(0, e));
      case NumberOperation::Exponential:
        return is_not_infinite(source_magnitude(0, e));
      case NumberOperation::Convert:
        return has_integer_source() ? nullptr : is_not_zero(source_magnitude(0, e));
      default:
        return nullptr;
    }
  }

  Value* both_count(unsigned e) {
    return b.CreateAnd(is_not_zero(source_magnitude(0, e)), is_not_zero(source_magnitude(1, e)));
  }
  Value* is_not_infinite(Value* size) { return b.CreateICmpNE(size, number(size, infinity_of(test_.source))); }

  llvm::IRBuilder<>& b;
  const NumberTest test_;
  const llvm::ArrayRef<Value*> values_;
  const HostFeatures host_;
};

}  // namespace

Value* may_be_exceptional(llvm::IRBuilder<>& b, const NumberTest& test, llvm::ArrayRef<Value*> values,
                          HostFeatures host) {
  return Questions(b, test, values, host).coarse();
}

Value* is_exceptional(llvm::IRBuilder<>& b, const NumberTest& test, llvm::ArrayRef<Value*> values) {
  return Questions(b, test, values, {}).fine();
}

}  // namespace cucore::cpu::compiler
