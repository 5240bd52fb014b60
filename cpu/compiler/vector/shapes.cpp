// The forward analysis of shapes: see shapes.hpp.
#include "cpu/compiler/vector/shapes.hpp"

#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/GetElementPtrTypeIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Operator.h>
#include <llvm/Support/MathExtras.h>

#include <algorithm>
#include <bit>
#include <cstddef>

#include "cpu/abi/kernel_abi.hpp"
#include "cpu/compiler/checks/mark_calls.hpp"
#include "cpu/compiler/vector/ranges.hpp"

namespace cucore::cpu::codegen {

using llvm::Instruction;
using llvm::Value;

namespace {

Span both(Span a, Span b) { return a.holds && b.holds ? Span{true, std::min(a.zeros, b.zeros)} : Span{}; }

Shape join(Shape a, Shape b) {
  if (a.kind == Shape::Kind::Unknown) return b;
  if (b.kind == Shape::Kind::Unknown) return a;
  const unsigned zeros = std::min(a.zeros, b.zeros);
  if (a.is_varying() || b.is_varying() || a.stride != b.stride) return Shape::varying();
  if (a.is_uniform() && b.is_uniform()) return Shape::uniform(zeros);
  return Shape::strided(a.stride, zeros, both(a.warp, b.warp), both(a.group, b.group));
}

constexpr unsigned warp_lanes = 32;
constexpr unsigned widest_stride = 64;  ///< bits of the integers whose strides are followed

std::int64_t wrapped(std::uint64_t stride, unsigned width) {
  return width >= 64 ? static_cast<std::int64_t>(stride) : llvm::SignExtend64(stride, width);
}

unsigned log2_of(std::uint64_t value) { return static_cast<unsigned>(std::countr_zero(value)); }

/// Lanes of an operation that do not fit the width of a lane: packed halves and the like.
bool is_plain(const llvm::Type* type) {
  return type->isIntegerTy() || type->isFloatTy() || type->isDoubleTy() || type->isPointerTy() || type->isHalfTy();
}

}  // namespace

std::optional<std::uint64_t> thread_field(const Value* pointer, const llvm::Function& scalar) {
  const llvm::DataLayout& layout = scalar.getDataLayout();
  llvm::APInt offset(64, 0);
  if (pointer->stripAndAccumulateConstantOffsets(layout, offset, true) != scalar.getArg(0)) return {};
  return offset.getZExtValue();
}

std::optional<std::uint64_t> block_field(const Value* pointer, const llvm::Function& scalar) {
  llvm::APInt offset(64, 0);
  const auto* block =
      llvm::dyn_cast<llvm::LoadInst>(pointer->stripAndAccumulateConstantOffsets(scalar.getDataLayout(), offset, true));
  if (block == nullptr || thread_field(block->getPointerOperand(), scalar) != offsetof(ThreadState, block)) return {};
  return offset.getZExtValue();
}

Shapes::Shapes(const VectorFlow& flow, llvm::Function& scalar, const VectorWidth& width, bool masked)
    : flow_(flow), scalar_(scalar), width_(width), masked_(masked) {
  for (bool changed = true; changed;) {
    shapes_.clear();
    checks_.clear();
    dividing_.clear();
    dividing_warps_.clear();
    settle();
    changed = false;
    for (llvm::BasicBlock* block : flow_.order) {
      const auto* branch = llvm::dyn_cast<llvm::BranchInst>(block->getTerminator());
      if (branch == nullptr || branch->isUnconditional() || of(branch->getCondition()).is_uniform()) continue;
      dividing_.push_back(block);
      const Shape condition = of(branch->getCondition());
      if (!condition.is_same_in_warp()) dividing_warps_.push_back(block);
      if (!masked_) continue;
      for (llvm::BasicBlock* merge : flow_.influence(block)) {
        changed |= (condition.is_same_in_chunk() ? chunk_merges_ : merges_).insert(merge).second;
        if (condition.is_same_in_chunk() && !condition.is_same_in_warp()) changed |= warp_splits_.insert(merge).second;
      }
    }
  }
}

void Shapes::settle() {
  for (bool changed = true; changed;) {
    changed = false;
    for (llvm::BasicBlock* block : flow_.order) {
      for (Instruction& instruction : *block) {
        if (instruction.getType()->isVoidTy()) continue;
        Shape& known = shapes_[&instruction];
        const Shape old = known;
        Shape now = transfer(instruction);
        if (now.kind == Shape::Kind::Unknown) continue;
        now = join(old, now);  // only ever downwards
        if (now == old) continue;
        shapes_[&instruction] = now;
        changed = true;
      }
    }
  }
}

Shape Shapes::of(const Value* value) const {
  if (const auto* number = llvm::dyn_cast<llvm::ConstantInt>(value)) {
    return Shape::uniform(number->isZero() ? 63 : number->getValue().countr_zero());
  }
  if (llvm::isa<llvm::Constant>(value)) return Shape::uniform();
  if (llvm::isa<llvm::Argument>(value)) return Shape::varying();  // the thread itself
  if (auto found = shapes_.find(value); found != shapes_.end()) return found->second;
  return {};
}

/// Same in all lanes if the operands are, the same within chunks likewise, else anything.
Shape Shapes::of_operands(Instruction& instruction) const {
  bool uniform = true;
  bool same_in_warp = true;
  bool same_in_group = true;
  for (const Value* operand : instruction.operands()) {
    if (llvm::isa<llvm::Function>(operand) || llvm::isa<llvm::BasicBlock>(operand)) continue;
    const Shape shape = of(operand);
    if (shape.kind == Shape::Kind::Unknown) return {};
    if (!shape.is_same_in_chunk()) return Shape::varying();
    uniform &= shape.is_uniform();
    same_in_warp &= shape.is_same_in_warp();
    same_in_group &= shape.is_same_in_group();
  }
  unsigned zeros = 0;
  if (instruction.getType()->isIntegerTy()) {
    zeros = llvm::computeKnownBits(&instruction, scalar_.getDataLayout()).countMinTrailingZeros();
  }
  return uniform ? Shape::uniform(zeros) : Shape::strided(0, zeros, {same_in_warp, zeros}, {same_in_group, zeros});
}

Shape Shapes::transfer(Instruction& instruction) {
  switch (instruction.getOpcode()) {
    case Instruction::PHI: {
      if (merges_.contains(instruction.getParent())) return Shape::varying();
      Shape merged;
      for (const Value* incoming : llvm::cast<llvm::PHINode>(instruction).incoming_values()) {
        merged = join(merged, of(incoming));
      }
      const bool splits = warp_splits_.contains(instruction.getParent());
      if (merged.is_uniform() && chunk_merges_.contains(instruction.getParent())) {
        return Shape::strided(0, merged.zeros, {!splits, merged.zeros});
      }
      if (splits) merged.warp = {};
      return merged;
    }
    case Instruction::Alloca: {
      const auto bytes =
          llvm::cast<llvm::AllocaInst>(instruction).getAllocationSize(scalar_.getDataLayout())->getFixedValue();
      return Shape::strided(static_cast<std::int64_t>(llvm::alignTo(bytes, 16)), 4, {}, {!masked_, 4});
    }
    case Instruction::Load:
      return transfer_load(instruction);
    case Instruction::Add:
    case Instruction::Sub:
    case Instruction::Or:
    case Instruction::Mul:
    case Instruction::Shl:
    case Instruction::LShr:
    case Instruction::And:
    case Instruction::Xor:
      return transfer_binary(instruction);
    case Instruction::ZExt:
    case Instruction::SExt:
      return transfer_extension(instruction);
    case Instruction::Trunc: {
      Shape from = of(instruction.getOperand(0));
      const unsigned bits = instruction.getType()->getScalarSizeInBits();
      if (from.is_strided() && from.stride != 0 && is_plain(instruction.getType()) && bits > 1) {
        from.stride = wrapped(static_cast<std::uint64_t>(from.stride), bits);
        return from;
      }
      return of_operands(instruction);
    }
    case Instruction::IntToPtr:
    case Instruction::PtrToInt:
      if (instruction.getOperand(0)->getType()->getScalarSizeInBits() == 64 || instruction.getType()->isIntegerTy(64))
        return of(instruction.getOperand(0));
      return of_operands(instruction);
    case Instruction::Freeze:
      return of(instruction.getOperand(0));
    case Instruction::GetElementPtr:
      return transfer_address(instruction);
    case Instruction::Select: {
      const Shape condition = of(instruction.getOperand(0));
      if (condition.kind == Shape::Kind::Unknown) return {};
      if (!condition.is_same_in_chunk()) return Shape::varying();
      const Shape either = join(of(instruction.getOperand(1)), of(instruction.getOperand(2)));
      if (either.is_varying() || either.kind == Shape::Kind::Unknown || condition.is_uniform()) return either;
      return Shape::strided(either.stride, either.zeros,
                            {either.warp.holds && condition.is_same_in_warp(), either.warp.zeros},
                            {either.group.holds && condition.is_same_in_group(), either.group.zeros});
    }
    case Instruction::AtomicRMW:
    case Instruction::AtomicCmpXchg:
      return Shape::varying();
    case Instruction::ICmp:
      return transfer_comparison(instruction);
    case Instruction::ExtractValue:
      return of(instruction.getOperand(0));
    case Instruction::Call:
      return transfer_call(instruction);
    default:
      return of_operands(instruction);
  }
}

Shape Shapes::transfer_load(Instruction& instruction) {
  const auto& load = llvm::cast<llvm::LoadInst>(instruction);
  if (const auto field = thread_field(load.getPointerOperand(), scalar_)) {
    constexpr std::size_t x = offsetof(ThreadState, thread_id), y = x + 4, z = x + 8;
    const unsigned aligned = log2_of(width_.lanes);
    auto is_in_row = [&](unsigned lanes) { return width_.is_line() || width_.block[0] % lanes == 0; };
    const Span warp{is_in_row(warp_lanes), log2_of(warp_lanes)};
    const Span group{!masked_ && is_in_row(width_.group()), log2_of(width_.group())};
    switch (*field) {
      case offsetof(ThreadState, linear):
        return Shape::strided(1, aligned, {true, warp.zeros}, {!masked_, group.zeros});
      case x:
        return width_.is_line() || width_.has_rows() ? Shape::strided(1, aligned, warp, group) : Shape::varying();
      case y:
      case z:
        return width_.has_rows() ? Shape::strided(0, 0, {warp.holds, 0}, {group.holds, 0}) : Shape::varying();
      default:
        return Shape::uniform();
    }
  }
  const Shape address = of(load.getPointerOperand());
  if (address.kind == Shape::Kind::Unknown) return {};
  if (address.is_uniform()) return Shape::uniform();
  if (!address.is_same_in_chunk() || !load.isSimple()) return Shape::varying();
  return Shape::strided(0, 0, {address.is_same_in_warp(), 0}, {address.is_same_in_group(), 0});
}

Shape Shapes::sum(Shape a, Shape b, int sign, unsigned width) const {
  if (a.kind == Shape::Kind::Unknown || b.kind == Shape::Kind::Unknown) return {};
  if (a.is_varying() || b.is_varying()) return Shape::varying();
  const std::uint64_t stride =
      static_cast<std::uint64_t>(a.stride) + static_cast<std::uint64_t>(sign) * static_cast<std::uint64_t>(b.stride);
  return Shape::strided(wrapped(stride, width), std::min(a.zeros, b.zeros), both(a.warp, b.warp),
                        both(a.group, b.group));
}

namespace {

bool is_power(std::int64_t stride) { return stride > 0 && std::has_single_bit(static_cast<std::uint64_t>(stride)); }

/// In how many low bits so many lanes differ, if the rest is the same for all of them; else 0.
unsigned bits_between(const Shape& shape, Span span, unsigned lanes) {
  if (!shape.is_strided() || !is_power(shape.stride) || !span.holds || !std::has_single_bit(lanes)) return 0;
  const unsigned bits = log2_of(static_cast<std::uint64_t>(shape.stride)) + log2_of(lanes);
  return span.zeros >= bits ? bits : 0;
}

Shape scaled(const Shape& a, std::uint64_t factor, unsigned width) {
  const unsigned more = factor != 0 ? log2_of(factor) : 0;
  auto with_more = [&](unsigned zeros) { return std::min(zeros + more, 63U); };
  return Shape::strided(wrapped(static_cast<std::uint64_t>(a.stride) * factor, width), with_more(a.zeros),
                        {a.warp.holds, with_more(a.warp.zeros)}, {a.group.holds, with_more(a.group.zeros)});
}

}  // namespace

/// A comparison with a multiple of what a chunk or warp covers has one answer for it.
Shape Shapes::transfer_comparison(Instruction& instruction) {
  const Shape plain = of_operands(instruction);
  const auto* limit = llvm::dyn_cast<llvm::ConstantInt>(instruction.getOperand(1));
  const Shape value = of(instruction.getOperand(0));
  const unsigned chunk = bits_between(value, {true, value.zeros}, width_.lanes);
  if (!plain.is_varying() || limit == nullptr || chunk == 0 || limit->getBitWidth() > widest_stride) return plain;
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
  return Shape::strided(0, 0, {warp != 0 && is_multiple(warp), 0}, {group != 0 && is_multiple(group), 0});
}

Shape Shapes::transfer_binary(Instruction& instruction) {
  const Shape plain = of_operands(instruction);
  if (!plain.is_varying() || !instruction.getType()->isIntegerTy() || instruction.getType()->isIntegerTy(1)) {
    return plain;
  }
  const unsigned width = instruction.getType()->getIntegerBitWidth();
  if (width > widest_stride) return plain;
  const Shape a = of(instruction.getOperand(0));
  const Shape b = of(instruction.getOperand(1));
  const auto* number = llvm::dyn_cast<llvm::ConstantInt>(instruction.getOperand(1));
  const std::uint64_t constant = number != nullptr ? number->getZExtValue() : 0;
  // Where the first lane ends in at least these zeros, the lanes of a chunk differ in those bits only.
  const unsigned block_bits = bits_between(a, {true, a.zeros}, width_.lanes);
  const bool is_block = block_bits != 0;
  const unsigned warp_bits = bits_between(a, a.warp, warp_lanes);
  const unsigned group_bits = bits_between(a, a.group, width_.group());
  auto is_above = [](std::uint64_t bit, unsigned bits) { return bits != 0 && bit >= bits; };
  auto same_above = [&](std::uint64_t bit) {
    return Shape::strided(0, 0, {is_above(bit, warp_bits), 0}, {is_above(bit, group_bits), 0});
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
        Shape low = a;
        if (!is_above(log2_of(constant + 1), warp_bits)) low.warp = {};
        if (!is_above(log2_of(constant + 1), group_bits)) low.group = {};
        return low;
      }
      return constant != 0 && log2_of(constant) >= block_bits ? same_above(log2_of(constant)) : plain;
    case Instruction::Xor:  // with ones wherever the value may have them: what is left up to them
      if (number == nullptr || !a.is_strided() || !llvm::isMask_64(constant) ||
          range_in_block(instruction.getOperand(0), scalar_, width_).getUnsignedMax().ugt(constant))
        return plain;
      return sum(Shape::uniform(), a, -1, width);
    default:
      return plain;
  }
}

Shape Shapes::transfer_extension(Instruction& instruction) {
  const Shape from = of(instruction.getOperand(0));
  const unsigned bits = instruction.getOperand(0)->getType()->getScalarSizeInBits();
  if (!from.is_strided() || from.stride == 0 || bits == 1 ||
      instruction.getType()->getScalarSizeInBits() > widest_stride)
    return of_operands(instruction);
  if (keeps_stride(range_in_block(instruction.getOperand(0), scalar_, width_), from.stride,
                   llvm::isa<llvm::SExtInst>(instruction)))
    return from;
  const std::uint64_t step = from.stride > 0 ? static_cast<std::uint64_t>(from.stride)
                                             : std::uint64_t{0} - static_cast<std::uint64_t>(from.stride);
  // Whether so many lanes lie between two multiples of a power of two.
  auto fits = [&](unsigned lanes, unsigned zeros) {
    return from.stride > 0 && ((lanes - 1) * step) >> std::min(zeros, bits - 1) == 0;
  };
  if (fits(width_.lanes, from.zeros)) {
    Shape same = from;
    if (!fits(warp_lanes, from.warp.zeros)) same.warp = {};
    if (!fits(width_.group(), from.group.zeros)) same.group = {};
    return same;
  }
  if (masked_ || bits != 32 || step > (std::uint64_t{1} << 24)) return Shape::varying();
  checks_.insert(&instruction);
  const bool is_checked_at_once = from.group.holds && (step * (width_.group() - 1)) >> (bits - 1) == 0;
  return Shape::strided(from.stride, from.zeros, {}, {is_checked_at_once, from.group.zeros});
}

Shape Shapes::transfer_address(Instruction& instruction) {
  const Shape plain = of_operands(instruction);
  if (!plain.is_varying()) return plain;
  Shape address = of(instruction.getOperand(0));
  const llvm::DataLayout& layout = scalar_.getDataLayout();
  for (auto index = llvm::gep_type_begin(instruction); index != llvm::gep_type_end(instruction); ++index) {
    const Shape shape = of(index.getOperand());
    if (shape.kind == Shape::Kind::Unknown) return {};
    if (shape.is_uniform()) continue;
    if (index.isStruct() ||
        (shape.is_strided() && shape.stride != 0 && !index.getOperand()->getType()->isIntegerTy(64)))
      return Shape::varying();
    Shape scaled = shape;
    scaled.stride *= static_cast<std::int64_t>(index.getSequentialElementStride(layout).getFixedValue());
    address = sum(address, scaled, 1, 64);
  }
  address.zeros = address.warp.zeros = address.group.zeros = 0;
  return address;
}

Shape Shapes::transfer_call(Instruction& instruction) {
  const auto& call = llvm::cast<llvm::CallInst>(instruction);
  const llvm::Function* callee = call.getCalledFunction();
  if (callee == nullptr) return Shape::varying();
  const llvm::StringRef name = callee->getName();
  if (name == lanes_mark) return of(LaneMark(call).address);
  if (name == "cucpu_vote") {
    const Shape mask = of(call.getArgOperand(3));
    if (mask.kind == Shape::Kind::Unknown) return {};
    return mask.is_same_in_chunk() ? Shape::strided(0, 0, {mask.is_same_in_warp(), 0}) : Shape::varying();
  }
  if (name == "cucpu_globaltimer" || callee->getIntrinsicID() == llvm::Intrinsic::readcyclecounter)
    return Shape::uniform();
  if (call.arg_size() > 0 && call.getArgOperand(0) == scalar_.getArg(0)) return Shape::varying();
  if (name == "cucpu_malloc") return Shape::varying();
  return of_operands(instruction);  // an intrinsic or a built-in
}

}  // namespace cucore::cpu::codegen
