// How far the masked version goes: see masked_blocks.hpp.
#include "cpu/compiler/vector/analysis/masked_blocks.hpp"

#include <llvm/IR/CFG.h>
#include <llvm/IR/Instructions.h>

#include <algorithm>

#include "cpu/compiler/cost/cost_model.hpp"
#include "cpu/compiler/vector/analysis/versions.hpp"

namespace cucore::cpu::compiler {

using llvm::BasicBlock;
using llvm::Instruction;

MaskedBlocks::MaskedBlocks(const ControlFlow& flow, const StrideAnalysis& full, const StrideAnalysis& masked,
                           const VectorWidth& width, bool masks_only)
    : flow_(flow),
      full_(full),
      masked_(masked),
      blocks_(static_cast<unsigned>(flow.order.size())),
      come_from_(flow.order.size(), blocks_),
      returns_(flow.order.size(), Return::Never) {
  // On fibers lanes may overtake others. Groups that are not full begin in the masked version.
  if (masks_only || width.on_fibers || width.threads() % width.group() != 0) {
    blocks_.set();
    for (llvm::BitVector& from : come_from_) from.set();
    if (!masks_only) find_returns(llvm::BitVector(blocks_.size()));
  } else {
    follow(sources(), groups_wait(flow, width));
  }
  find_needed();
}

std::vector<MaskedBlocks::Source> MaskedBlocks::sources() const {
  std::vector<Source> all;
  const auto is_checked = [&](const BasicBlock& block) {
    return llvm::any_of(block, [&](const Instruction& each) { return full_.checks(&each); });
  };
  for (BasicBlock* block : flow_.order)
    if (is_checked(*block)) all.push_back({block, false});
  for (BasicBlock* block : full_.divergent_branches()) {
    const auto* branch = llvm::cast<llvm::BranchInst>(block->getTerminator());
    if (full_.of(branch->getCondition()).is_same_in_group()) continue;
    const BasicBlock* side = predicated_side(*branch, flow_, full_);
    if (side == nullptr || is_checked(*side)) all.push_back({block, true});
  }
  return all;
}

/// Until every region ends where lanes can return without a question, given what all regions have them bring back.
void MaskedBlocks::follow(const std::vector<Source>& all, bool has_waiting_groups) {
  llvm::BitVector no_ends(blocks_.size());
  for (bool changed = true; changed;) {
    changed = false;
    std::vector<Region> regions;
    blocks_.reset();
    for (const Source& source : all) {
      regions.push_back(region_of(source, no_ends));
      blocks_ |= regions.back().blocks;
    }
    llvm::BitVector ends(blocks_.size());
    for (llvm::BitVector& from : come_from_) from.reset();
    for (const Region& region : regions) {
      for (const unsigned at : region.blocks.set_bits()) come_from_[at] |= region.blocks;
      if (region.end == nullptr) continue;
      ends.set(flow_.index(region.end));
      come_from_[flow_.index(region.end)] |= region.blocks;
    }
    const bool waits = has_waiting_groups && llvm::any_of(blocks_.set_bits(), [&](unsigned at) {
                         return is_block_barrier(flow_.order[at]->front());
                       });
    if (waits && keeps_full_values_) {  // what a group does not save is lost
      keeps_full_values_ = false;
      changed = true;
    }
    for (const unsigned at : ends.set_bits()) {
      const std::vector<Instruction*> brought = brought_back(flow_.order[at]);
      if (llvm::none_of(brought, [&](const Instruction* value) { return is_tested(value); })) continue;
      no_ends.set(at);
      changed = true;
    }
    if (!changed) find_returns(ends);
  }
}

MaskedBlocks::Region MaskedBlocks::region_of(const Source& source, const llvm::BitVector& no_ends) const {
  Region region{{}, flow_.reconvergence_point(source.block)};
  // Lanes that end wait for nobody.
  const auto may_end_at = [&](const BasicBlock* block) {
    return !no_ends[flow_.index(block)] && !llvm::isa<llvm::ReturnInst>(block->getTerminator());
  };
  while (region.end != nullptr && !may_end_at(region.end)) region.end = flow_.reconvergence_point(region.end);
  region.blocks = reached_from(source, region.end);
  if (region.end != nullptr && is_passed_by_some(source, region)) {
    region.end = nullptr;
    region.blocks = reached_from(source, nullptr);
  }
  return region;
}

llvm::BitVector MaskedBlocks::reached_from(const Source& source, const BasicBlock* end) const {
  llvm::BitVector reached(blocks_.size());
  std::vector<BasicBlock*> next;
  const auto reach = [&](BasicBlock* block) {
    if (block == end || reached[flow_.index(block)]) return;
    reached.set(flow_.index(block));
    next.push_back(block);
  };
  if (source.is_at_end)
    for (BasicBlock* each : llvm::successors(source.block)) reach(each);
  else
    reach(source.block);
  while (!next.empty()) {
    BasicBlock* const block = next.back();
    next.pop_back();
    for (BasicBlock* each : llvm::successors(block)) reach(each);
  }
  return reached;
}

/// Whether lanes may wait at a barrier in a region while others go past it, to where the region should end.
bool MaskedBlocks::is_passed_by_some(const Source& source, const Region& region) const {
  llvm::BitVector of_all(blocks_.size());
  if (!source.is_at_end) of_all.set(flow_.index(source.block));
  for (const BasicBlock* at = flow_.reconvergence_point(source.block); at != region.end;
       at = flow_.reconvergence_point(at))
    of_all.set(flow_.index(at));
  return llvm::any_of(region.blocks.set_bits(),
                      [&](unsigned at) { return is_block_barrier(flow_.order[at]->front()) && !of_all[at]; });
}

/// Whether it is not known that a value has, in the masked version, the stride that it has in the full one.
bool MaskedBlocks::is_tested(const Instruction* value) const {
  const Stride here = masked_.of(value), there = full_.of(value);
  return here.kind != there.kind || here.spans_group() != there.spans_group();
}

std::vector<Instruction*> MaskedBlocks::brought_back(BasicBlock* block) const {
  std::vector<Instruction*> brought;
  const llvm::BitVector& from = come_from_[flow_.index(block)];
  for (Instruction* value : flow_.live_in().lookup(block)) {
    if (llvm::isa<llvm::AllocaInst>(value)) continue;
    if (!keeps_full_values_ || from[flow_.index(value->getParent())]) brought.push_back(value);
  }
  for (llvm::PHINode& phi : block->phis()) brought.push_back(&phi);
  return brought;
}

bool MaskedBlocks::may_return(BasicBlock* block) const {
  const std::vector<Instruction*> brought = brought_back(block);
  const auto is_compared = [&](const Instruction* value) { return masked_.of(value).kind != full_.of(value).kind; };
  return llvm::count_if(brought, is_compared) <= cost_model::most_tests &&
         // Packed halves are not compared.
         llvm::none_of(brought,
                       [&](const Instruction* value) { return value->getType()->isVectorTy() && is_compared(value); });
}

/// `ends`: of regions. Besides, lanes may find that they have come together where others that diverge reconverge.
void MaskedBlocks::find_returns(const llvm::BitVector& ends) {
  llvm::BitVector tries = ends;
  for (BasicBlock* block : masked_.divergent_branches()) {
    BasicBlock* point = flow_.reconvergence_point(block);
    if (point == nullptr || llvm::isa<llvm::ReturnInst>(point->front()) || !has(point)) continue;
    // A block whose checks fail is left for its masked version, which must then go on.
    if (llvm::none_of(*point, [&](const Instruction& each) { return full_.checks(&each); }))
      tries.set(flow_.index(point));
  }
  for (const unsigned at : tries.set_bits()) {
    if (!blocks_[at])
      returns_[at] = Return::Always;
    else if (may_return(flow_.order[at]))
      returns_[at] = Return::IfSame;
  }
}

void MaskedBlocks::find_needed() {
  const auto need = [&](const llvm::Value* value) {
    if (const auto* made = llvm::dyn_cast<Instruction>(value)) needed_.insert(made);
  };
  for (BasicBlock* block : flow_.order) {
    if (return_at(block) != Return::Never)
      for (const Instruction* value : brought_back(block)) need(value);
    if (!has(block)) continue;
    for (const Instruction& each : *block) {
      if (llvm::isa<llvm::PHINode>(each)) continue;
      for (const llvm::Value* operand : each.operands()) need(operand);
    }
    for (BasicBlock* next : llvm::successors(block))
      for (const llvm::PHINode& phi : next->phis()) need(phi.getIncomingValueForBlock(block));
  }
}

}  // namespace cucore::cpu::compiler
