// Both versions of every block and the ways between them: see vector_emitter.hpp.
#include "cpu/compiler/vector/vector_emitter.hpp"

#include <llvm/IR/CFG.h>
#include <llvm/IR/Instructions.h>

#include <algorithm>

#include "cpu/abi/kernel_abi.hpp"
#include "cpu/compiler/emitters/module_emitter.hpp"
#include "cpu/compiler/vector/cost_model.hpp"

namespace cucore::cpu::codegen {

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

VectorEmitter::VectorEmitter(llvm::Function& scalar, const VectorFlow& flow, const VectorWidth& width,
                             HostFeatures host, bool masks_only)
    : scalar_(scalar),
      flow_(flow),
      width_(width),
      has_avx512_(host.avx512f),
      has_f16c_(host.f16c),
      masks_only_(masks_only),
      full_shapes_(flow, scalar, width_, false),
      masked_shapes_(flow, scalar, width_, true),
      b(scalar.getContext()) {}

llvm::Function* VectorEmitter::emit() {
  if (!flow_.meetings_converge(masked_shapes_.dividing(), is_block_barrier)) {
    refuse("a barrier that only some threads of a block reach");
    return nullptr;
  }
  if (!flow_.meetings_converge(masked_shapes_.dividing_warps(), is_meeting)) {
    refuse("a warp operation that only some lanes of a warp reach");
    return nullptr;
  }
  has_masked_version_ = may_leave_full_version();
  prepare();
  if (!refusal_.empty()) return nullptr;
  enter();
  for (BasicBlock* block : flow_.order) {
    if (!masks_only_) emit_block(block, Full);
    if (has_masked_version_) {
      emit_dispatch(block);
      emit_block(block, Masked);
    }
    if (!refusal_.empty()) return nullptr;
  }
  if (has_masked_version_) emit_return();
  return group_;
}

bool VectorEmitter::may_leave_full_version() const {
  if (masks_only_ || width_.threads() % width_.group() != 0) return true;
  const Blocks& dividing = full_shapes_.dividing();
  if (std::any_of(dividing.begin(), dividing.end(), [&](const BasicBlock* block) {
        return predicated_side(*llvm::cast<llvm::BranchInst>(block->getTerminator())) == nullptr;
      }))
    return true;
  return std::any_of(flow_.order.begin(), flow_.order.end(), [&](const BasicBlock* block) {
    return std::any_of(block->begin(), block->end(),
                       [&](const Instruction& each) { return full_shapes_.checks(&each); });
  });
}

BasicBlock* VectorEmitter::new_block(const llvm::Twine& name) {
  return BasicBlock::Create(scalar_.getContext(), name, group_);
}

void VectorEmitter::prepare() {
  llvm::Type* i32 = b.getInt32Ty();
  auto* type = llvm::FunctionType::get(i32, {b.getPtrTy(), i32, i32, b.getPtrTy(), i32}, false);
  group_ = llvm::Function::Create(type, llvm::Function::InternalLinkage, "group", *scalar_.getParent());
  group_->addFnAttr(llvm::Attribute::NoUnwind);
  group_->addFnAttr(llvm::Attribute::NullPointerIsValid);  // as the scalar form says of itself
  group_->setSubprogram(scalar_.getSubprogram());          // its code is what becomes of the scalar form's
  group_->addFnAttr("prefer-vector-width", has_avx512_ ? "512" : "256");
  b.SetInsertPoint(new_block("entry"));
  if (suspends()) lay_out_frame();
  for (BasicBlock* block : flow_.order) {
    if (!masks_only_) bodies_[Full][block] = new_block("full");
    if (has_masked_version_) {
      checks_[block] = new_block("check");
      bodies_[Masked][block] = new_block("masked");
      for (unsigned k = 0; k < width_.chunks; ++k) waiting_[block].push_back(slot(mask_type(), "waiting"));
    }
    for (Instruction& instruction : *block) {
      if (auto* alloca = llvm::dyn_cast<llvm::AllocaInst>(&instruction)) {
        const auto bytes = static_cast<std::uint64_t>(full_shapes_.of(alloca).stride) * width_.group();
        if (suspends()) {
          frames_[alloca] = in_frame(frame_bytes_);
          frame_bytes_ += bytes;
          continue;
        }
        auto* all = slot(llvm::ArrayType::get(b.getInt8Ty(), bytes), "frames");
        all->setAlignment(llvm::Align(16));
        frames_[alloca] = all;
      }
    }
  }
  for (BasicBlock* block : masked_shapes_.dividing()) {
    BasicBlock* meet = flow_.meeting_point(block);
    if (meet == nullptr || llvm::isa<llvm::ReturnInst>(meet->front())) continue;
    // A block whose checks fail is left for its masked version, which must then go on.
    const bool may_bail_out =
        std::any_of(meet->begin(), meet->end(), [&](const Instruction& each) { return full_shapes_.checks(&each); });
    if (!may_bail_out && !masks_only_) meeting_points_.insert(meet);
  }
  for (unsigned k = 0; k < width_.chunks; ++k) alive_.push_back(slot(mask_type(), "alive"));
  if (has_masked_version_) end_ = new_block("end");
  dummy_ = slot(llvm::ArrayType::get(b.getInt8Ty(), 64), "idle");
  dummy_->setAlignment(llvm::Align(64));
  lane_state_ = slot(llvm::ArrayType::get(b.getInt8Ty(), sizeof(ThreadState)), "lane");
  lane_state_->setAlignment(llvm::Align(alignof(ThreadState)));
  lane_addresses_ = slot(llvm::FixedVectorType::get(b.getInt64Ty(), width_.lanes), "addresses");
  lane_addresses_->setAlignment(llvm::Align(64));
}

/// Into the full version if the block fills the group, else into the masked one.
void VectorEmitter::enter() {
  Value* first = group_->getArg(1);
  Value* zero = llvm::ConstantInt::get(mask_type(), 0);
  for (BasicBlock* block : flow_.order) {
    for (llvm::AllocaInst* mask : waiting_[block]) b.CreateStore(zero, mask);
  }
  if (suspends()) {
    auto* start = new_block("start");
    resumption_ = b.CreateSwitch(group_->getArg(2), start);
    b.SetInsertPoint(start);
  }
  BasicBlock* entry = flow_.order.front();
  if (!masks_only_ && width_.threads() % width_.group() == 0) {
    b.CreateBr(bodies_[Full][entry]);
    return;
  }
  for (unsigned k = 0; k < width_.chunks; ++k) {
    Value* start = b.CreateAdd(first, b.getInt32(k * width_.lanes));
    Value* threads = b.getInt32(width_.threads());
    Value* left = b.CreateSub(threads, b.CreateBinaryIntrinsic(llvm::Intrinsic::umin, threads, start));
    Value* count = b.CreateBinaryIntrinsic(llvm::Intrinsic::umin, left, b.getInt32(width_.lanes));
    Value* mask = b.CreateSub(b.CreateShl(b.getInt64(1), b.CreateZExt(count, b.getInt64Ty())), b.getInt64(1));
    mask = b.CreateTrunc(mask, mask_type());
    b.CreateStore(mask, alive_[k]);
    b.CreateStore(mask, waiting_[entry][k]);
  }
  if (masks_only_) {
    b.CreateBr(checks_[entry]);
    return;
  }
  auto* full = new_block("whole");
  Value* fits = b.CreateICmpULE(b.CreateAdd(first, b.getInt32(width_.group())), b.getInt32(width_.threads()));
  b.CreateCondBr(fits, full, checks_[entry]);
  b.SetInsertPoint(full);
  for (llvm::AllocaInst* mask : waiting_[entry]) b.CreateStore(zero, mask);
  b.CreateBr(bodies_[Full][entry]);
}

void VectorEmitter::emit_block(BasicBlock* block, Version version) {
  version_ = version;
  current_ = block;
  forget();
  b.SetInsertPoint(bodies_[version][block]);
  b.SetCurrentDebugLocation({});
  if (version == Masked) {
    mask_.clear();
    for (llvm::AllocaInst* waiting : waiting_[block]) {
      mask_.push_back(b.CreateLoad(mask_type(), waiting));
      b.CreateStore(llvm::ConstantInt::get(mask_type(), 0), waiting);
    }
    if (meeting_points_.contains(block)) return_to_full_version(block);
  } else {
    mask_.assign(width_.chunks, all_lanes());
  }
  keep_for_end(*block);
  emit_body(block);
  if (with_care_ != nullptr) emit_with_care(block);
  if (!refusal_.empty()) return;
  if (auto* branch = llvm::dyn_cast<llvm::BranchInst>(block->getTerminator())) {
    if (version == Full) {
      emit_full_branch(block, *branch);
    } else {
      emit_masked_branch(block, *branch);
    }
    return;
  }
  if (!llvm::isa<llvm::ReturnInst>(block->getTerminator())) {
    refuse("a terminator other than a branch");
    return;
  }
  if (version == Full) {
    b.CreateRet(b.getInt32(point_ended));
    return;
  }
  for (unsigned k = 0; k < width_.chunks; ++k) {
    Value* left = b.CreateAnd(b.CreateLoad(mask_type(), alive_[k]), b.CreateNot(mask_[k]));
    b.CreateStore(left, alive_[k]);
  }
  b.CreateBr(check_after(block, {}));
}

/// All but the terminator.
void VectorEmitter::emit_body(BasicBlock* block) {
  unchecked_ = nullptr;
  can_restart_ = true;
  prefetched_.clear();
  for (Instruction& instruction : *block) {
    if (instruction.isTerminator()) break;
    emit_instruction(instruction);
    if (!refusal_.empty()) return;
  }
  b.SetCurrentDebugLocation(block->getTerminator()->getDebugLoc());
  flush_checks();
}

/// Nothing is known where ways meet.
void VectorEmitter::forget() {
  known_ = Known();
  mask_vectors_.assign(width_.chunks, nullptr);
}

/// Enters the masked version of a block if lanes wait for it. At a barrier they wait until all have come that have not
/// ended.
void VectorEmitter::emit_dispatch(BasicBlock* block) {
  b.SetInsertPoint(checks_[block]);
  b.SetCurrentDebugLocation({});
  Parts waiting, alive;
  for (unsigned k = 0; k < width_.chunks; ++k) {
    waiting.push_back(b.CreateLoad(mask_type(), waiting_[block][k]));
    alive.push_back(b.CreateLoad(mask_type(), alive_[k]));
  }
  Value* enters = any_of(waiting);
  if (is_block_barrier(block->front())) enters = b.CreateAnd(enters, all_of(waiting, alive));
  b.CreateCondBr(enters, bodies_[Masked][block], check_after(block, {}));
}

/// Where the masked version looks for waiting lanes after `block`: behind it, or at the head of a loop it goes back to.
BasicBlock* VectorEmitter::check_after(BasicBlock* block, llvm::ArrayRef<BasicBlock*> targets) const {
  unsigned next = flow_.index(block) + 1;
  for (BasicBlock* target : targets) next = std::min(next, flow_.index(target));
  return next < flow_.order.size() ? checks_.lookup(flow_.order[next]) : end_;
}

void VectorEmitter::emit_return() {
  b.SetInsertPoint(end_);
  if (!flow_.has_meetings()) {
    b.CreateRet(b.getInt32(point_ended));
    return;
  }
  Parts alive;
  for (llvm::AllocaInst* mask : alive_) alive.push_back(b.CreateLoad(mask_type(), mask));
  auto* done = new_block("done");
  b.CreateCondBr(any_of(alive), checks_[flow_.order.front()], done);
  b.SetInsertPoint(done);
  b.CreateRet(b.getInt32(point_ended));
}

/// Gives the phis of `to` their values for lanes that come from `from`.
void VectorEmitter::write_phis(BasicBlock* from, BasicBlock* to, Version version, llvm::ArrayRef<Value*> mask) {
  std::vector<std::pair<llvm::PHINode*, Wide>> values;
  const Shapes& shapes_there = version == Full ? full_shapes_ : masked_shapes_;
  for (llvm::PHINode& phi : to->phis()) {
    values.emplace_back(&phi, converted(phi.getIncomingValueForBlock(from), shapes_there.of(&phi)));
  }
  for (auto& [phi, value] : values) {
    Slots& slots = slots_of(phi, version);
    for (unsigned k = 0; k < value.parts.size(); ++k) {
      Value* part = value.parts[k];
      if (version == Masked && value.shape.is_varying() && mask[k] != all_lanes()) {
        llvm::Type* type = slots[k]->getAllocatedType();
        // Packed halves are one number to a lane.
        const auto bits = static_cast<unsigned>(phi->getType()->getPrimitiveSizeInBits());
        llvm::Type* whole = phi->getType()->isVectorTy() ? widened(b.getIntNTy(bits)) : type;
        Value* old = b.CreateLoad(whole, slots[k]);
        Value* lanes = b.CreateBitCast(mask[k], llvm::FixedVectorType::get(b.getInt1Ty(), width_.lanes));
        part = b.CreateBitCast(b.CreateSelect(lanes, b.CreateBitCast(part, whole), old), type);
      }
      if (version == Masked && value.shape.is_strided() && mask[k] != all_lanes()) {
        // A chunk comes as a whole, but maybe not all of them.
        Value* old = b.CreateLoad(slots[k]->getAllocatedType(), slots[k]);
        part = b.CreateSelect(b.CreateIsNotNull(mask[k]), part, old);
      }
      b.CreateStore(part, slots[k]);
    }
  }
}

/// From the full version into the masked one: phis and live values take their form there.
void VectorEmitter::leave_full_version(const Division& division) {
  const auto& [from, targets, masks] = division;
  llvm::DenseSet<Instruction*> moved;
  for (std::size_t t = 0; t < std::size(targets); ++t) {
    for (Instruction* live : flow_.live_in().lookup(targets[t])) {
      if (llvm::isa<llvm::AllocaInst>(live) || !moved.insert(live).second) continue;
      const Wide value = converted(live, masked_shapes_.of(live));
      Slots& slots = slots_of(live, Masked);
      for (unsigned k = 0; k < value.parts.size(); ++k) b.CreateStore(value.parts[k], slots[k]);
    }
    for (unsigned k = 0; k < width_.chunks; ++k) b.CreateStore(masks[t][k], waiting_[targets[t]][k]);
  }
  for (std::size_t t = 0; t < std::size(targets); ++t) write_phis(from, targets[t], Masked, masks[t]);
  Value* all = all_lanes();
  for (llvm::AllocaInst* alive : alive_) b.CreateStore(all, alive);
  b.CreateBr(check_after(from, targets));
}

/// From the full version of a block, of which nothing has had an effect yet, to the start of its masked version.
void VectorEmitter::bail_out(BasicBlock* block) {
  for (llvm::PHINode& phi : block->phis()) {
    const Wide value = converted(&phi, masked_shapes_.of(&phi));
    Slots& slots = slots_of(&phi, Masked);
    for (unsigned k = 0; k < value.parts.size(); ++k) b.CreateStore(value.parts[k], slots[k]);
  }
  for (Instruction* live : flow_.live_in().lookup(block)) {
    if (llvm::isa<llvm::AllocaInst>(live)) continue;
    const Wide value = converted(live, masked_shapes_.of(live));
    Slots& slots = slots_of(live, Masked);
    for (unsigned k = 0; k < value.parts.size(); ++k) b.CreateStore(value.parts[k], slots[k]);
  }
  Value* all = all_lanes();
  for (unsigned k = 0; k < width_.chunks; ++k) {
    b.CreateStore(all, waiting_[block][k]);
    b.CreateStore(all, alive_[k]);
  }
  b.CreateBr(checks_[block]);
}

/// At a point where parted lanes meet: on in the full version if all are here and what is live has the shape that it
/// has there.
void VectorEmitter::return_to_full_version(BasicBlock* block) {
  std::vector<Instruction*> live = flow_.live_in().lookup(block);
  for (llvm::PHINode& phi : block->phis()) live.push_back(&phi);
  std::erase_if(live, [](Instruction* value) { return llvm::isa<llvm::AllocaInst>(value); });
  const auto is_tested = [&](Instruction* value) {
    return masked_shapes_.of(value).kind != full_shapes_.of(value).kind;
  };
  if (std::count_if(live.begin(), live.end(), is_tested) > cost_model::most_tests) return;
  // Packed halves are not compared.
  if (std::any_of(live.begin(), live.end(),
                  [&](Instruction* value) { return value->getType()->isVectorTy() && is_tested(value); }))
    return;
  auto* tries = new_block("whole.again");
  auto* goes_back = new_block("back");
  auto* stays = new_block("stays");
  const Parts expected(width_.chunks, all_lanes());
  b.CreateCondBr(all_of(mask_, expected), tries, stays);
  b.SetInsertPoint(tries);
  const Known before = known_;
  Value* same = b.getTrue();
  std::vector<std::pair<Instruction*, Parts>> values;
  for (Instruction* value : live) {
    const Shape to = full_shapes_.of(value);
    const Wide wide = get(value);
    Parts parts;
    if (wide.shape.kind == to.kind && parts_of(to) == wide.parts.size()) {
      parts = wide.parts;
    } else {
      llvm::Type* type = value->getType();
      for (unsigned k = 0; k < parts_of(to); ++k) {
        parts.push_back(wide.shape.is_varying() ? b.CreateExtractElement(wide.parts[k], std::uint64_t{0})
                                                : wide.parts[k]);
      }
      const Wide claimed{to, parts};
      for (unsigned k = 0; k < width_.chunks; ++k) {
        if (wide.shape.kind == to.kind) {
          Value* there = as_number(b, first_lane_of(claimed, k));
          same = b.CreateAnd(same, b.CreateICmpEQ(there, as_number(b, first_lane_of(wide, k))));
          continue;
        }
        Value* there = vector_of(claimed, k, type);
        Value* here = vector_of(wide, k, type);
        if (type->isFloatingPointTy()) {
          llvm::Type* bits = llvm::FixedVectorType::get(b.getIntNTy(type->getScalarSizeInBits()), width_.lanes);
          there = b.CreateBitCast(there, bits);
          here = b.CreateBitCast(here, bits);
        }
        Value* differs = b.CreateBitCast(b.CreateICmpNE(there, here), mask_type());
        same = b.CreateAnd(same, b.CreateIsNull(differs));
      }
    }
    values.emplace_back(value, parts);
  }
  b.CreateCondBr(b.CreateFreeze(same), goes_back, stays);  // a register that nothing was written to may be live
  b.SetInsertPoint(goes_back);
  for (auto& [value, parts] : values) {
    Slots& slots = slots_of(value, Full);
    for (unsigned k = 0; k < parts.size(); ++k) b.CreateStore(parts[k], slots[k]);
  }
  b.CreateBr(bodies_[Full][block]);
  b.SetInsertPoint(stays);
  known_ = before;
}

}  // namespace cucore::cpu::codegen
