// Short branches over some lanes in the full version: rather than leave it, it runs the block that they take under a
// mask, and goes on with all lanes.
#include <llvm/IR/CFG.h>
#include <llvm/IR/Instructions.h>

#include <algorithm>

#include "cpu/compiler/checks/mark_calls.hpp"

#include "cpu/compiler/vector/checks.hpp"
#include "cpu/compiler/vector/cost_model.hpp"
#include "cpu/compiler/vector/vector_emitter.hpp"

namespace cucore::cpu::codegen {

using llvm::BasicBlock;
using llvm::Instruction;
using llvm::Value;

namespace {

bool may_be_predicated(const Instruction& instruction) {
  if (const auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction)) {
    if (call->getCalledFunction() == nullptr) return false;
    return call->getCalledFunction()->isIntrinsic() || is_mark(instruction, lanes_mark);
  }
  return true;
}

}  // namespace

/// The block that some lanes pass on the way to where the others go at once; null if the branch has no such form, or
/// if values would lose their shape where the ways meet.
BasicBlock* VectorEmitter::predicated_side(const llvm::BranchInst& branch) const {
  for (const unsigned n : {0U, 1U}) {
    BasicBlock* side = branch.getSuccessor(n);
    BasicBlock* meet = branch.getSuccessor(1 - n);
    const bool has_form = side != meet && side->getSinglePredecessor() != nullptr &&
                          side->getSingleSuccessor() == meet && flow_.index(meet) > flow_.index(side) &&
                          size_without_checks(*side) <= cost_model::longest_side;
    if (!has_form || !std::all_of(side->begin(), side->end(), may_be_predicated)) continue;
    const auto phis = meet->phis();
    if (std::all_of(phis.begin(), phis.end(), [&](const llvm::PHINode& phi) {
          return full_shapes_.of(&phi).is_varying() && !phi.getType()->isVectorTy();
        }))
      return side;
  }
  return nullptr;
}

void VectorEmitter::emit_predicated(const Division& division, BasicBlock* side) {
  division_ = &division;
  current_ = side;
  mask_ = division.masks[side == division.targets[0] ? 0 : 1];
  mask_vectors_.assign(width_.chunks, nullptr);
  can_restart_ = true;
  prefetched_.clear();
  for (Instruction& instruction : *side) {
    if (instruction.isTerminator()) break;
    emit_instruction(instruction);
    if (!refusal_.empty()) return;
  }
  flush_checks();
  BasicBlock* meet = side->getSingleSuccessor();
  std::vector<std::pair<llvm::PHINode*, Parts>> merged;
  for (llvm::PHINode& phi : meet->phis()) {
    const Shape& shape = full_shapes_.of(&phi);
    const Wide here = converted(phi.getIncomingValueForBlock(side), shape);
    const Wide there = converted(phi.getIncomingValueForBlock(division.from), shape);
    Parts parts;
    for (unsigned k = 0; k < width_.chunks; ++k)
      parts.push_back(b.CreateSelect(mask_vector(k), here.parts[k], there.parts[k]));
    merged.emplace_back(&phi, parts);
  }
  for (auto& [phi, parts] : merged) {
    Slots& slots = slots_of(phi, Full);
    for (unsigned k = 0; k < width_.chunks; ++k) b.CreateStore(parts[k], slots[k]);
  }
  b.CreateBr(bodies_[Full][meet]);
  division_ = nullptr;
  current_ = division.from;
  mask_.assign(width_.chunks, all_lanes());
  mask_vectors_.assign(width_.chunks, nullptr);
}

/// The lowest and the highest active lane of some chunks, counted from the first of them; any lanes if none is active.
VectorEmitter::ActiveLanes VectorEmitter::active_lanes(unsigned first, unsigned chunks) {
  ActiveLanes all{b.getInt32(0), b.getInt32(0), b.getFalse()};
  Value* last_lane = b.getInt32(width_.lanes - 1);
  auto zeros = [&](llvm::Intrinsic::ID id, Value* mask) {
    return b.CreateAnd(b.CreateZExtOrTrunc(b.CreateBinaryIntrinsic(id, mask, b.getFalse()), b.getInt32Ty()), last_lane);
  };
  for (unsigned k = 0; k < chunks; ++k) {
    Value* mask = mask_[first + k];
    Value* offset = b.getInt32(k * width_.lanes);
    Value* lowest = b.CreateAdd(offset, zeros(llvm::Intrinsic::cttz, mask));
    Value* highest = b.CreateAdd(offset, b.CreateSub(last_lane, zeros(llvm::Intrinsic::ctlz, mask)));
    Value* active = is_chunk_active(first + k);
    all.lowest = b.CreateSelect(all.any, all.lowest, lowest);
    all.highest = b.CreateSelect(active, highest, all.highest);
    all.any = b.CreateOr(all.any, active);
  }
  return all;
}

/// A strided value that may wrap around inside the group or a chunk, where only active lanes count: from the lowest of
/// them, and checked against the highest.
void VectorEmitter::emit_predicated_extension(Instruction& extension) {
  const Shape shape = shapes().of(&extension);
  Wide result{shape, {}};
  llvm::Type* narrow = extension.getOperand(0)->getType();
  llvm::Type* wide = extension.getType();
  const auto stride = static_cast<std::uint64_t>(shape.stride);
  for (unsigned k = 0; k < parts_of(shape); ++k) {
    Value* first = first_lane(extension.getOperand(0), k);
    auto first_as_seen_from = [&](Value* lane) {
      auto steps = [&](llvm::Type* type) {
        return b.CreateMul(b.CreateZExtOrTrunc(lane, type), llvm::ConstantInt::get(type, stride));
      };
      Value* value = b.CreateAdd(first, steps(narrow));
      Value* extended = llvm::isa<llvm::SExtInst>(extension) ? b.CreateSExt(value, wide) : b.CreateZExt(value, wide);
      return b.CreateSub(extended, steps(wide));
    };
    const ActiveLanes active = shape.spans_group() ? active_lanes(0, width_.chunks) : active_lanes(k, 1);
    result.parts.push_back(first_as_seen_from(active.lowest));
    Value* wraps = b.CreateAnd(active.any, b.CreateICmpNE(result.parts[k], first_as_seen_from(active.highest)));
    unchecked_ = unchecked_ == nullptr ? wraps : b.CreateOr(unchecked_, wraps);
  }
  put(&extension, std::move(result));
}

}  // namespace cucore::cpu::codegen
