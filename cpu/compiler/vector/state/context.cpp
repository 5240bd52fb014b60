// The function that runs a group, and the block that is being emitted: see context.hpp.
#include "cpu/compiler/vector/state/context.hpp"

#include <llvm/IR/Instructions.h>

#include <string>

#include "cpu/compiler/checks/mark_calls.hpp"
#include "cpu/compiler/vector/analysis/versions.hpp"

namespace cucore::cpu::compiler {
namespace {

llvm::Function* new_group(llvm::Function& scalar, llvm::IRBuilder<>& b, HostFeatures host) {
  llvm::Type* i32 = b.getInt32Ty();
  auto* type = llvm::FunctionType::get(i32, {b.getPtrTy(), i32, i32, b.getPtrTy(), i32}, false);
  auto* group = llvm::Function::Create(type, llvm::Function::InternalLinkage, "group", *scalar.getParent());
  group->addFnAttr(llvm::Attribute::NoUnwind);
  group->addFnAttr(llvm::Attribute::NullPointerIsValid);  // as the scalar form says of itself
  group->setSubprogram(scalar.getSubprogram());           // its code is what becomes of the scalar form's
  group->addFnAttr("prefer-vector-width", std::to_string(host.vector_bits));
  return group;
}

}  // namespace

EmissionContext::EmissionContext(llvm::Function& scalar_form, const ControlFlow& control_flow,
                                 const VectorWidth& vector_width, HostFeatures features, StrideAnalysis full_strides,
                                 StrideAnalysis masked_strides, Overtaking overtaking_lanes, bool masks_only)
    : scalar(scalar_form),
      flow(control_flow),
      width(vector_width),
      host(features),
      full(std::move(full_strides)),
      masked(std::move(masked_strides)),
      overtaking(std::move(overtaking_lanes)),
      has_full_version(!masks_only),
      masked_blocks(flow, full, masked, width, masks_only),
      chains{chains_of(Full), chains_of(Masked)},
      b(scalar.getContext()),
      group(new_group(scalar, b, host)),
      active(b, width.lanes, width.chunks) {
  b.SetInsertPoint(new_block("entry"));
}

Chains EmissionContext::chains_of(Version chained) const {
  const auto is_looked_at = [](const llvm::Instruction& each) { return is_mark(each, lanes_mark); };
  const auto may_bail_out = [&](const llvm::Instruction& each) { return full.checks(&each); };
  return Chains(flow, [&](const llvm::BasicBlock& entered) {
    const llvm::BasicBlock& before = *entered.getSinglePredecessor();
    // What is looked at is there twice and goes on from slots, as does a group that has waited at a barrier.
    if (llvm::any_of(before, is_looked_at) || llvm::any_of(entered, is_looked_at)) return true;
    if (is_block_barrier(before.front()) && groups_wait(flow, width)) return true;
    if (masked_blocks.return_at(&entered) != MaskedBlocks::Return::Never) return true;
    if (chained == Full) return false;
    if (masked_blocks.has(&before) != masked_blocks.has(&entered)) return true;
    if (is_block_barrier(entered.front()) || is_poll(entered.front())) return true;  // some lanes wait there for others
    return has_full_version && llvm::any_of(entered, may_bail_out);
  });
}

llvm::BasicBlock* EmissionContext::new_block(const llvm::Twine& name) {
  return llvm::BasicBlock::Create(scalar.getContext(), name, group);
}

llvm::AllocaInst* EmissionContext::slot(llvm::Type* type, const llvm::Twine& name) {
  llvm::BasicBlock& entry = group->getEntryBlock();
  llvm::IRBuilder<> at(&entry, entry.begin());
  return at.CreateAlloca(type, nullptr, name);
}

void EmissionContext::keep_in_memory(llvm::AllocaInst* slot) {
  for (llvm::User* user : slot->users()) {
    if (auto* load = llvm::dyn_cast<llvm::LoadInst>(user)) load->setVolatile(true);
    if (auto* store = llvm::dyn_cast<llvm::StoreInst>(user)) store->setVolatile(true);
  }
}

void EmissionContext::forget() {
  known = Known();
  active.forget_vectors();
}

llvm::Type* EmissionContext::widened(llvm::Type* type) const {
  if (auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(type))
    return llvm::FixedVectorType::get(vector->getElementType(), vector->getNumElements() * width.lanes);
  return llvm::FixedVectorType::get(type, width.lanes);
}

}  // namespace cucore::cpu::compiler
