// Transitions between the two versions: see transitions.hpp.
#include "cpu/compiler/vector/state/transitions.hpp"

#include <llvm/IR/Instructions.h>

#include <utility>
#include <vector>

namespace cucore::cpu::compiler {

using llvm::BasicBlock;
using llvm::Instruction;
using llvm::Value;

namespace {

/// Something to compare bit by bit.
Value* as_number(llvm::IRBuilder<>& b, Value* value) {
  const llvm::Type* type = value->getType();
  if (type->isIntegerTy() || type->isPointerTy()) return value;
  return b.CreateBitCast(value, b.getIntNTy(static_cast<unsigned>(type->getPrimitiveSizeInBits().getFixedValue())));
}

}  // namespace

void Transitions::write_phis(BasicBlock* from, BasicBlock* to, Version version, llvm::ArrayRef<Value*> mask) {
  std::vector<std::pair<llvm::PHINode*, VectorValue>> values;
  const StrideAnalysis& strides_there = version == Full ? c_.full : c_.masked;
  for (llvm::PHINode& phi : to->phis()) {
    values.emplace_back(&phi, values_.converted(phi.getIncomingValueForBlock(from), strides_there.of(&phi)));
  }
  for (auto& [phi, value] : values) {
    if (version == Full)
      values_.store(phi, value.parts, version);
    else
      values_.store_under_mask(phi, value, mask);
  }
}

void Transitions::move_to_masked_version(Instruction* value) {
  if (llvm::isa<llvm::AllocaInst>(value) || !c_.masked_blocks.needs(value)) return;
  const VectorValue moved = values_.converted(value, c_.masked.of(value));
  values_.store(value, moved.parts, Masked);
}

void Transitions::leave_full_version(const Divergence& divergence) {
  const auto& [from, targets, masks] = divergence;
  llvm::DenseSet<Instruction*> moved;
  for (std::size_t t = 0; t < std::size(targets); ++t) {
    for (Instruction* live : c_.flow.live_in().lookup(targets[t])) {
      if (moved.insert(live).second) move_to_masked_version(live);
    }
    for (unsigned k = 0; k < c_.width.chunks; ++k) blocks_.set_waiting(targets[t], k, masks[t][k]);
  }
  for (std::size_t t = 0; t < std::size(targets); ++t) write_phis(from, targets[t], Masked, masks[t]);
  Value* all = c_.all_lanes();
  for (llvm::AllocaInst* alive : blocks_.alive()) b.CreateStore(all, alive);
  b.CreateBr(blocks_.next_dispatch(from, targets));
}

void Transitions::bail_out(BasicBlock* block) {
  for (llvm::PHINode& phi : block->phis()) move_to_masked_version(&phi);
  for (Instruction* live : c_.flow.live_in().lookup(block)) move_to_masked_version(live);
  Value* all = c_.all_lanes();
  for (unsigned k = 0; k < c_.width.chunks; ++k) {
    blocks_.set_waiting(block, k, all);
    b.CreateStore(all, blocks_.alive()[k]);
  }
  b.CreateBr(blocks_.entry_after_full_version(block));
}

/// The parts of a value if it has the stride that it has in the full version; else `same` becomes false.
Parts Transitions::claimed(Instruction* value, Value*& same) {
  const Stride to = c_.full.of(value);
  const VectorValue known = values_.get(value);
  if (known.stride.kind == to.kind && c_.parts_of(to) == known.parts.size()) return known.parts;
  llvm::Type* type = value->getType();
  VectorValue claim{to, {}};
  for (unsigned k = 0; k < c_.parts_of(to); ++k) {
    claim.parts.push_back(known.stride.is_varying() ? b.CreateExtractElement(known.parts[k], std::uint64_t{0})
                                                    : known.parts[k]);
  }
  for (unsigned k = 0; k < c_.width.chunks; ++k) {
    if (known.stride.kind == to.kind) {
      Value* there = as_number(b, values_.first_lane_of(claim, k));
      same = b.CreateAnd(same, b.CreateICmpEQ(there, as_number(b, values_.first_lane_of(known, k))));
      continue;
    }
    Value* there = values_.vector_of(claim, k, type);
    Value* here = values_.vector_of(known, k, type);
    if (type->isFloatingPointTy()) {
      llvm::Type* bits = llvm::FixedVectorType::get(b.getIntNTy(type->getScalarSizeInBits()), c_.width.lanes);
      there = b.CreateBitCast(there, bits);
      here = b.CreateBitCast(here, bits);
    }
    Value* differs = b.CreateBitCast(b.CreateICmpNE(there, here), c_.mask_type());
    same = b.CreateAnd(same, b.CreateIsNull(differs));
  }
  return claim.parts;
}

void Transitions::enter_masked_version(BasicBlock* block) {
  const MaskedBlocks::Return returns = c_.masked_blocks.return_at(block);
  if (returns != MaskedBlocks::Return::Never) return_to_full_version(block, returns);
  if (returns == MaskedBlocks::Return::Always) return;
  c_.active.set(blocks_.waiting(block));
  blocks_.forget_waiting(block);
}

void Transitions::return_to_full_version(BasicBlock* block, MaskedBlocks::Return returns) {
  const Known before = c_.known;
  BasicBlock* const stays = blocks_.behind_return(block);
  if (returns == MaskedBlocks::Return::IfSame) {
    auto* tries = c_.new_block("whole.again");
    const Parts expected(c_.width.chunks, c_.all_lanes());
    b.CreateCondBr(are_equal(b, blocks_.waiting(block), expected), tries, stays);
    b.SetInsertPoint(tries);
  }
  Value* same = b.getTrue();
  std::vector<std::pair<Instruction*, Parts>> values;
  for (Instruction* value : c_.masked_blocks.brought_back(block)) values.emplace_back(value, claimed(value, same));
  if (returns == MaskedBlocks::Return::IfSame) {
    auto* goes_back = c_.new_block("back");
    b.CreateCondBr(b.CreateFreeze(same), goes_back, stays);  // a register that nothing was written to may be live
    b.SetInsertPoint(goes_back);
  }
  blocks_.forget_waiting(block);
  for (auto& [value, parts] : values) values_.store(value, parts, Full);
  b.CreateBr(blocks_.body(block, Full));
  c_.known = before;
  if (returns == MaskedBlocks::Return::IfSame) b.SetInsertPoint(stays);
}

}  // namespace cucore::cpu::compiler
