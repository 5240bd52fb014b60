// The forward analysis of strides: see stride_analysis.hpp.
#include "cpu/compiler/vector/analysis/stride_analysis.hpp"

#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/GetElementPtrTypeIterator.h>
#include <llvm/IR/Instructions.h>

#include <algorithm>
#include <cstddef>
#include <utility>

#include "cpu/abi/kernel_abi.hpp"
#include "cpu/compiler/checks/mark_calls.hpp"
#include "cpu/compiler/checks/number_marks.hpp"
#include "cpu/compiler/ir/convergent_calls.hpp"
#include "cpu/compiler/vector/analysis/state_fields.hpp"

namespace cucore::cpu::compiler {

using llvm::Instruction;
using llvm::Value;

namespace {

/// Lanes of an operation that do not fit the width of a lane: packed halves and the like.
bool is_plain(const llvm::Type* type) {
  return type->isIntegerTy() || type->isFloatTy() || type->isDoubleTy() || type->isPointerTy() || type->isHalfTy();
}

}  // namespace

StrideAnalysis::StrideAnalysis(const ControlFlow& flow, llvm::Function& scalar, const VectorWidth& width, bool masked,
                               BlockSet passed_twice)
    : flow_(flow), scalar_(scalar), width_(width), masked_(masked), passed_twice_(std::move(passed_twice)) {
  for (bool changed = true; changed;) {
    strides_.clear();
    checks_.clear();
    divergent_branches_.clear();
    divergent_in_warps_.clear();
    settle();
    changed = false;
    for (llvm::BasicBlock* block : flow_.order) {
      const auto* branch = llvm::dyn_cast<llvm::BranchInst>(block->getTerminator());
      if (branch == nullptr || branch->isUnconditional() || of(branch->getCondition()).is_uniform()) continue;
      divergent_branches_.push_back(block);
      const Stride condition = of(branch->getCondition());
      if (!condition.is_same_in_warp()) divergent_in_warps_.push_back(block);
      if (!masked_) continue;
      for (llvm::BasicBlock* merge : flow_.joins_of(block)) {
        changed |= (condition.is_same_in_chunk() ? chunk_merges_ : merges_).insert(merge).second;
        if (condition.is_same_in_chunk() && !condition.is_same_in_warp()) changed |= warp_splits_.insert(merge).second;
      }
    }
  }
}

void StrideAnalysis::settle() {
  for (bool changed = true; changed;) {
    changed = false;
    for (llvm::BasicBlock* block : flow_.order) {
      for (Instruction& instruction : *block) {
        if (instruction.getType()->isVoidTy()) continue;
        Stride& known = strides_[&instruction];
        const Stride old = known;
        Stride now = transfer(instruction);
        if (now.kind == Stride::Kind::Unknown) continue;
        if (may_differ_later(instruction)) now = Stride::varying();
        now = join(old, now);  // only ever downwards
        if (now == old) continue;
        strides_[&instruction] = now;
        changed = true;
      }
    }
  }
}

/// Of lanes that come to it later: what is read from memory that may have changed.
bool StrideAnalysis::may_differ_later(const Instruction& instruction) const {
  if (!passed_twice_.contains(instruction.getParent()) || !instruction.mayReadOrWriteMemory()) return false;
  const auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction);
  if (load == nullptr) return true;
  return !load->hasMetadata(llvm::LLVMContext::MD_invariant_load) &&
         !thread_field(load->getPointerOperand(), scalar_) && !block_field(load->getPointerOperand(), scalar_);
}

Stride StrideAnalysis::of(const Value* value) const {
  if (const auto* number = llvm::dyn_cast<llvm::ConstantInt>(value)) {
    return Stride::uniform(number->isZero() ? 63 : number->getValue().countr_zero());
  }
  if (llvm::isa<llvm::Constant>(value)) return Stride::uniform();
  if (llvm::isa<llvm::Argument>(value)) return Stride::varying();  // the thread itself
  if (auto found = strides_.find(value); found != strides_.end()) return found->second;
  return {};
}

/// Same in all lanes if the operands are, the same within chunks likewise, else anything.
Stride StrideAnalysis::of_operands(Instruction& instruction) const {
  bool uniform = true;
  bool same_in_warp = true;
  bool same_in_group = true;
  for (const Value* operand : instruction.operands()) {
    if (llvm::isa<llvm::Function>(operand) || llvm::isa<llvm::BasicBlock>(operand)) continue;
    const Stride stride = of(operand);
    if (stride.kind == Stride::Kind::Unknown) return {};
    if (!stride.is_same_in_chunk()) return Stride::varying();
    uniform &= stride.is_uniform();
    same_in_warp &= stride.is_same_in_warp();
    same_in_group &= stride.is_same_in_group();
  }
  unsigned zeros = 0;
  if (instruction.getType()->isIntegerTy()) {
    zeros = llvm::computeKnownBits(&instruction, scalar_.getDataLayout()).countMinTrailingZeros();
  }
  return uniform ? Stride::uniform(zeros) : Stride::strided(0, zeros, {same_in_warp, zeros}, {same_in_group, zeros});
}

Stride StrideAnalysis::transfer(Instruction& instruction) {
  switch (instruction.getOpcode()) {
    case Instruction::PHI: {
      if (merges_.contains(instruction.getParent())) return Stride::varying();
      Stride merged;
      for (const Value* incoming : llvm::cast<llvm::PHINode>(instruction).incoming_values()) {
        merged = join(merged, of(incoming));
      }
      const bool splits = warp_splits_.contains(instruction.getParent());
      if (merged.is_uniform() && chunk_merges_.contains(instruction.getParent())) {
        return Stride::strided(0, merged.zeros, {!splits, merged.zeros});
      }
      if (splits) merged.warp = {};
      return merged;
    }
    case Instruction::Alloca: {
      const auto bytes =
          llvm::cast<llvm::AllocaInst>(instruction).getAllocationSize(scalar_.getDataLayout())->getFixedValue();
      return Stride::strided(static_cast<std::int64_t>(llvm::alignTo(bytes, 16)), 4, {}, {!masked_, 4});
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
      Stride from = of(instruction.getOperand(0));
      const unsigned bits = instruction.getType()->getScalarSizeInBits();
      if (from.is_strided() && from.step != 0 && is_plain(instruction.getType()) && bits > 1) {
        from.step = wrapped(static_cast<std::uint64_t>(from.step), bits);
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
      const Stride condition = of(instruction.getOperand(0));
      if (condition.kind == Stride::Kind::Unknown) return {};
      if (!condition.is_same_in_chunk()) return Stride::varying();
      const Stride either = join(of(instruction.getOperand(1)), of(instruction.getOperand(2)));
      if (either.is_varying() || either.kind == Stride::Kind::Unknown || condition.is_uniform()) return either;
      return Stride::strided(either.step, either.zeros,
                             {either.warp.holds && condition.is_same_in_warp(), either.warp.zeros},
                             {either.group.holds && condition.is_same_in_group(), either.group.zeros});
    }
    case Instruction::AtomicRMW:
    case Instruction::AtomicCmpXchg:
      return Stride::varying();
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

Stride StrideAnalysis::transfer_load(Instruction& instruction) {
  const auto& load = llvm::cast<llvm::LoadInst>(instruction);
  if (const auto field = thread_field(load.getPointerOperand(), scalar_)) {
    constexpr std::size_t x = offsetof(ThreadState, thread_id), y = x + 4, z = x + 8;
    const unsigned aligned = log2_of(width_.lanes);
    auto is_in_row = [&](unsigned lanes) { return width_.is_line() || width_.block[0] % lanes == 0; };
    const Span warp{is_in_row(warp_lanes), log2_of(warp_lanes)};
    const Span group{!masked_ && is_in_row(width_.group()), log2_of(width_.group())};
    switch (*field) {
      case offsetof(ThreadState, linear):
        return Stride::strided(1, aligned, {true, warp.zeros}, {!masked_, group.zeros});
      case x:
        return width_.is_line() || width_.has_rows() ? Stride::strided(1, aligned, warp, group) : Stride::varying();
      case y:
      case z:
        return width_.has_rows() ? Stride::strided(0, 0, {warp.holds, 0}, {group.holds, 0}) : Stride::varying();
      default:
        return Stride::uniform();
    }
  }
  const Stride address = of(load.getPointerOperand());
  if (address.kind == Stride::Kind::Unknown) return {};
  if (address.is_uniform()) return Stride::uniform();
  if (!address.is_same_in_chunk() || load.isAtomic()) return Stride::varying();
  return Stride::strided(0, 0, {address.is_same_in_warp(), 0}, {address.is_same_in_group(), 0});
}

Stride StrideAnalysis::transfer_address(Instruction& instruction) {
  const Stride plain = of_operands(instruction);
  if (!plain.is_varying()) return plain;
  Stride address = of(instruction.getOperand(0));
  const llvm::DataLayout& layout = scalar_.getDataLayout();
  for (auto index = llvm::gep_type_begin(instruction); index != llvm::gep_type_end(instruction); ++index) {
    const Stride stride = of(index.getOperand());
    if (stride.kind == Stride::Kind::Unknown) return {};
    if (stride.is_uniform()) continue;
    if (index.isStruct() ||
        (stride.is_strided() && stride.step != 0 && !index.getOperand()->getType()->isIntegerTy(64)))
      return Stride::varying();
    Stride scaled = stride;
    scaled.step *= static_cast<std::int64_t>(index.getSequentialElementStride(layout).getFixedValue());
    address = sum(address, scaled, 1, 64);
  }
  address.zeros = address.warp.zeros = address.group.zeros = 0;
  return address;
}

Stride StrideAnalysis::transfer_call(Instruction& instruction) {
  const auto& call = llvm::cast<llvm::CallInst>(instruction);
  const llvm::Function* callee = call.getCalledFunction();
  if (callee == nullptr) return Stride::varying();
  const llvm::StringRef name = callee->getName();
  if (name == lanes_mark) return of(LaneMark(call).address);
  if (is_number_mark(call)) return Stride::uniform();  // no value
  if (name == "cucpu_vote") {
    const Stride mask = of(call.getArgOperand(3));
    if (mask.kind == Stride::Kind::Unknown) return {};
    return mask.is_same_in_chunk() ? Stride::strided(0, 0, {mask.is_same_in_warp(), 0}) : Stride::varying();
  }
  if (is_reducing_barrier(call)) return Stride::uniform();
  if (name.starts_with(of_fragments)) return Stride::varying();
  if (name == "cucpu_activemask") return Stride::strided(0, 0, {true, 0});
  if (name == "cucpu_elect" || name == "cucpu_match_all" || name.starts_with("cucpu_redux_")) {
    const Stride mask = of(call.getArgOperand(call.arg_size() - 1));
    if (mask.kind == Stride::Kind::Unknown) return {};
    return mask.is_same_in_warp() ? Stride::strided(0, 0, {true, 0}) : Stride::varying();
  }
  if (name == "cucpu_globaltimer" || callee->getIntrinsicID() == llvm::Intrinsic::readcyclecounter)
    return Stride::uniform();
  if (call.arg_size() > 0 && call.getArgOperand(0) == scalar_.getArg(0)) return Stride::varying();
  if (name == "cucpu_malloc") return Stride::varying();
  return of_operands(instruction);  // an intrinsic or a built-in
}

}  // namespace cucore::cpu::compiler
