// What the stride analysis knows of the results of integer arithmetic: see stride_analysis.hpp.
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Operator.h>
#include <llvm/Support/MathExtras.h>

#include <algorithm>

#include "cpu/compiler/vector/analysis/ranges.hpp"
#include "cpu/compiler/vector/analysis/stride_analysis.hpp"

namespace cucore::cpu::compiler {

using llvm::Instruction;

namespace {

constexpr unsigned widest_integer = 64;  ///< bits of the integers whose strides are followed

}  // namespace

/// A comparison with a multiple of what a chunk or warp covers has one answer for it.
Stride StrideAnalysis::transfer_comparison(Instruction& instruction) {
  const Stride plain = of_operands(instruction);
  const auto* limit = llvm::dyn_cast<llvm::ConstantInt>(instruction.getOperand(1));
  const Stride value = of(instruction.getOperand(0));
  const unsigned chunk = bits_between(value, {true, value.zeros}, width_.lanes);
  if (!plain.is_varying() || limit == nullptr || chunk == 0 || limit->getBitWidth() > widest_integer) return plain;
  std::uint64_t from = limit->getZExtValue();
  switch (llvm::cast<llvm::ICmpInst>(instruction).getPredicate()) {
    case llvm::CmpInst::ICMP_ULT:
    case llvm::CmpInst::ICMP_UGE:
    case llvm::CmpInst::ICMP_SLT:
    case llvm::CmpInst::ICMP_SGE:
      break;
    case llvm::CmpInst::ICMP_UGT:
    case llvm::CmpInst::ICMP_ULE:
    case llvm::CmpInst::ICMP_SGT:
    case llvm::CmpInst::ICMP_SLE:
      ++from;
      break;
    default:
      return plain;
  }
  auto is_multiple = [&](unsigned bits) {
    return bits < limit->getBitWidth() && (from & ((std::uint64_t{1} << bits) - 1)) == 0;
  };
  if (!is_multiple(chunk)) return plain;
  const unsigned warp = bits_between(value, value.warp, warp_lanes);
  const unsigned group = bits_between(value, value.group, width_.group());
  return Stride::strided(0, 0, {warp != 0 && is_multiple(warp), 0}, {group != 0 && is_multiple(group), 0});
}

Stride StrideAnalysis::transfer_binary(Instruction& instruction) {
  const Stride plain = of_operands(instruction);
  if (!plain.is_varying() || !instruction.getType()->isIntegerTy() || instruction.getType()->isIntegerTy(1)) {
    return plain;
  }
  const unsigned width = instruction.getType()->getIntegerBitWidth();
  if (width > widest_integer) return plain;
  const Stride a = of(instruction.getOperand(0));
  const Stride b = of(instruction.getOperand(1));
  const auto* number = llvm::dyn_cast<llvm::ConstantInt>(instruction.getOperand(1));
  const std::uint64_t constant = number != nullptr ? number->getZExtValue() : 0;
  // Where the first lane ends in at least these zeros, the lanes of a chunk differ in those bits only.
  const unsigned block_bits = bits_between(a, {true, a.zeros}, width_.lanes);
  const bool is_block = block_bits != 0;
  const unsigned warp_bits = bits_between(a, a.warp, warp_lanes);
  const unsigned group_bits = bits_between(a, a.group, width_.group());
  auto is_above = [](std::uint64_t bit, unsigned bits) { return bits != 0 && bit >= bits; };
  auto same_above = [&](std::uint64_t bit) {
    return Stride::strided(0, 0, {is_above(bit, warp_bits), 0}, {is_above(bit, group_bits), 0});
  };
  switch (instruction.getOpcode()) {
    case Instruction::Add:
      return sum(a, b, 1, width);
    case Instruction::Sub:
      return sum(a, b, -1, width);
    case Instruction::Or:
      return llvm::cast<llvm::PossiblyDisjointInst>(instruction).isDisjoint() ? sum(a, b, 1, width) : plain;
    case Instruction::Mul:
      if (number == nullptr || !a.is_strided()) return plain;
      return scaled(a, constant, width);
    case Instruction::Shl:
      if (number == nullptr || !a.is_strided() || constant >= width) return plain;
      return scaled(a, std::uint64_t{1} << constant, width);
    case Instruction::LShr:
      return number != nullptr && is_block && constant >= block_bits && constant < width ? same_above(constant) : plain;
    case Instruction::And:
      if (number == nullptr || !is_block) return plain;
      if (llvm::isMask_64(constant) && log2_of(constant + 1) >= block_bits) {
        Stride low = a;
        if (!is_above(log2_of(constant + 1), warp_bits)) low.warp = {};
        if (!is_above(log2_of(constant + 1), group_bits)) low.group = {};
        return low;
      }
      return constant != 0 && log2_of(constant) >= block_bits ? same_above(log2_of(constant)) : plain;
    case Instruction::Xor:  // with ones wherever the value may have them: what is left up to them
      if (number == nullptr || !a.is_strided() || !llvm::isMask_64(constant) ||
          range_in_block(instruction.getOperand(0), scalar_, width_).getUnsignedMax().ugt(constant))
        return plain;
      return sum(Stride::uniform(), a, -1, width);
    default:
      return plain;
  }
}

Stride StrideAnalysis::transfer_extension(Instruction& instruction) {
  const Stride from = of(instruction.getOperand(0));
  const unsigned bits = instruction.getOperand(0)->getType()->getScalarSizeInBits();
  if (!from.is_strided() || from.step == 0 || bits == 1 ||
      instruction.getType()->getScalarSizeInBits() > widest_integer)
    return of_operands(instruction);
  if (keeps_stride(range_in_block(instruction.getOperand(0), scalar_, width_), from.step,
                   llvm::isa<llvm::SExtInst>(instruction)))
    return from;
  const std::uint64_t step =
      from.step > 0 ? static_cast<std::uint64_t>(from.step) : std::uint64_t{0} - static_cast<std::uint64_t>(from.step);
  // Whether so many lanes lie between two multiples of a power of two.
  auto fits = [&](unsigned lanes, unsigned zeros) {
    return from.step > 0 && ((lanes - 1) * step) >> std::min(zeros, bits - 1) == 0;
  };
  if (fits(width_.lanes, from.zeros)) {
    Stride same = from;
    if (!fits(warp_lanes, from.warp.zeros)) same.warp = {};
    if (!fits(width_.group(), from.group.zeros)) same.group = {};
    return same;
  }
  if (masked_ || bits != 32 || step > (std::uint64_t{1} << 24)) return Stride::varying();
  checks_.insert(&instruction);
  const bool is_checked_at_once = from.group.holds && (step * (width_.group() - 1)) >> (bits - 1) == 0;
  return Stride::strided(from.step, from.zeros, {}, {is_checked_at_once, from.group.zeros});
}

}  // namespace cucore::cpu::compiler
