// Blocks of both versions, and the choice of the next one: see version_blocks.hpp.
#include "cpu/compiler/vector/state/version_blocks.hpp"

#include <llvm/IR/Instructions.h>

#include <algorithm>

#include "cpu/compiler/vector/analysis/polls.hpp"

namespace cucore::cpu::compiler {

using llvm::BasicBlock;
using llvm::Instruction;
using llvm::Value;

VersionBlocks::VersionBlocks(EmissionContext& context, VectorValues& values, Barriers& barriers)
    : c_(context), values_(values), barriers_(barriers), b(context.b) {
  for (BasicBlock* block : c_.flow.order) {
    if (c_.has_full_version && !c_.chains[Full].continues(block)) bodies_[Full][block] = c_.new_block("full");
    using Return = MaskedBlocks::Return;
    const Return returns = c_.masked_blocks.return_at(block);
    if ((c_.masked_blocks.has(block) && !c_.chains[Masked].continues(block)) || returns == Return::Always) {
      dispatches_[block] = c_.new_block("check");
      bodies_[Masked][block] = c_.new_block("masked");
      if (returns == Return::IfSame) behind_returns_[block] = c_.new_block("stays");
      for (unsigned k = 0; k < c_.width.chunks; ++k) waiting_[block].push_back(c_.slot(c_.mask_type(), "waiting"));
    }
    place_locals(block);
  }
  for (unsigned k = 0; k < c_.width.chunks; ++k) alive_.push_back(c_.slot(c_.mask_type(), "alive"));
  if (!c_.masked_blocks.empty()) end_ = c_.new_block("end");
}

void VersionBlocks::place_locals(BasicBlock* block) {
  for (Instruction& instruction : *block) {
    auto* variable = llvm::dyn_cast<llvm::AllocaInst>(&instruction);
    if (variable == nullptr) continue;
    const auto bytes = static_cast<std::uint64_t>(c_.full.of(variable).step) * c_.width.group();
    if (barriers_.groups_wait()) {
      values_.place_local(variable, barriers_.place_local(bytes));
      continue;
    }
    auto* all = c_.slot(llvm::ArrayType::get(b.getInt8Ty(), bytes), "frames");
    all->setAlignment(llvm::Align(16));
    values_.place_local(variable, all);
  }
}

void VersionBlocks::emit_entry() {
  Value* zero = llvm::ConstantInt::get(c_.mask_type(), 0);
  for (BasicBlock* block : c_.flow.order) {
    for (llvm::AllocaInst* mask : waiting_.lookup(block)) b.CreateStore(zero, mask);
  }
  if (barriers_.groups_wait()) b.SetInsertPoint(barriers_.emit_resumption());
  BasicBlock* entry = c_.flow.order.front();
  if (c_.has_full_version && c_.width.threads() % c_.width.group() == 0) {
    b.CreateBr(bodies_[Full][entry]);
    return;
  }
  for (unsigned k = 0; k < c_.width.chunks; ++k) {
    Value* start = b.CreateAdd(c_.first_thread(), b.getInt32(k * c_.width.lanes));
    Value* threads = b.getInt32(c_.width.threads());
    Value* left = b.CreateSub(threads, b.CreateBinaryIntrinsic(llvm::Intrinsic::umin, threads, start));
    Value* count = b.CreateBinaryIntrinsic(llvm::Intrinsic::umin, left, b.getInt32(c_.width.lanes));
    Value* mask = b.CreateSub(b.CreateShl(b.getInt64(1), b.CreateZExt(count, b.getInt64Ty())), b.getInt64(1));
    mask = b.CreateTrunc(mask, c_.mask_type());
    b.CreateStore(mask, alive_[k]);
    b.CreateStore(mask, waiting_[entry][k]);
  }
  if (!c_.has_full_version) {
    b.CreateBr(dispatches_[entry]);
    return;
  }
  auto* full = c_.new_block("whole");
  Value* fits =
      b.CreateICmpULE(b.CreateAdd(c_.first_thread(), b.getInt32(c_.width.group())), b.getInt32(c_.width.threads()));
  b.CreateCondBr(fits, full, dispatches_[entry]);
  b.SetInsertPoint(full);
  for (llvm::AllocaInst* mask : waiting_[entry]) b.CreateStore(zero, mask);
  b.CreateBr(bodies_[Full][entry]);
}

void VersionBlocks::emit_dispatch(BasicBlock* block) {
  b.SetInsertPoint(dispatches_[block]);
  b.SetCurrentDebugLocation({});
  Parts waiting, alive;
  for (unsigned k = 0; k < c_.width.chunks; ++k) {
    waiting.push_back(b.CreateLoad(c_.mask_type(), waiting_[block][k]));
    alive.push_back(b.CreateLoad(c_.mask_type(), alive_[k]));
  }
  Value* enters = is_any_set(b, waiting);
  // Lanes that are never to come where others poll go on first.
  if (is_block_barrier(block->front()) || (is_poll(block->front()) && poll_together(c_.flow, c_.masked)))
    enters = b.CreateAnd(enters, are_equal(b, waiting, alive));
  b.CreateCondBr(enters, bodies_[Masked][block], next_dispatch(block, {}));
}

BasicBlock* VersionBlocks::next_dispatch(BasicBlock* block, llvm::ArrayRef<BasicBlock*> targets) const {
  unsigned next = c_.flow.index(block) + 1;
  for (BasicBlock* target : targets) next = std::min(next, c_.flow.index(target));
  return dispatch_from(next);
}

BasicBlock* VersionBlocks::dispatch_from(unsigned index) const {
  for (; index < c_.flow.order.size(); ++index)
    if (BasicBlock* dispatch = dispatches_.lookup(c_.flow.order[index])) return dispatch;
  return end_;
}

BasicBlock* VersionBlocks::entry_after_full_version(BasicBlock* block) const {
  BasicBlock* const behind = behind_return(block);
  return behind != nullptr ? behind : dispatches_.lookup(block);
}

void VersionBlocks::emit_end() {
  if (end_ == nullptr) return;
  b.SetInsertPoint(end_);
  if (!c_.flow.has_convergent_operations()) {
    b.CreateRet(b.getInt32(point_ended));
    return;
  }
  Parts alive;
  for (llvm::AllocaInst* mask : alive_) alive.push_back(b.CreateLoad(c_.mask_type(), mask));
  auto* done = c_.new_block("done");
  b.CreateCondBr(is_any_set(b, alive), dispatch_from(0), done);
  b.SetInsertPoint(done);
  b.CreateRet(b.getInt32(point_ended));
}

void VersionBlocks::keep_masks_in_memory() {
  for (auto& [block, slots] : waiting_)
    for (llvm::AllocaInst* slot : slots) EmissionContext::keep_in_memory(slot);
  for (llvm::AllocaInst* slot : alive_) EmissionContext::keep_in_memory(slot);
}

Parts VersionBlocks::waiting(BasicBlock* block) {
  Parts lanes;
  for (llvm::AllocaInst* waiting : waiting_[block]) lanes.push_back(b.CreateLoad(c_.mask_type(), waiting));
  return lanes;
}

void VersionBlocks::forget_waiting(BasicBlock* block) {
  for (llvm::AllocaInst* waiting : waiting_[block]) b.CreateStore(llvm::ConstantInt::get(c_.mask_type(), 0), waiting);
}

void VersionBlocks::add_waiting(BasicBlock* block, llvm::ArrayRef<Value*> lanes) {
  for (unsigned k = 0; k < c_.width.chunks; ++k) {
    llvm::AllocaInst* waiting = waiting_[block][k];
    b.CreateStore(b.CreateOr(b.CreateLoad(c_.mask_type(), waiting), lanes[k]), waiting);
  }
}

void VersionBlocks::set_waiting(BasicBlock* block, unsigned chunk, Value* lanes) {
  b.CreateStore(lanes, waiting_[block][chunk]);
}

void VersionBlocks::end_lanes(llvm::ArrayRef<Value*> lanes) {
  for (unsigned k = 0; k < c_.width.chunks; ++k) {
    Value* left = b.CreateAnd(b.CreateLoad(c_.mask_type(), alive_[k]), b.CreateNot(lanes[k]));
    b.CreateStore(left, alive_[k]);
  }
}

}  // namespace cucore::cpu::compiler
