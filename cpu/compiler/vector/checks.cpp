// The memory check in the vector form. A mark before an access (checks/marks.hpp) becomes one question for all lanes:
// are they in what the access found last? If not, a service says for each chunk which of its lanes may access, and has
// reported the others. The access is there twice: as it is without checks, and under the mask of those that may, whose
// other lanes read zero.
#include "cpu/compiler/vector/checks.hpp"

#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/Transforms/Utils/Local.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "cpu/abi/kernel_abi.hpp"
#include "cpu/compiler/checks/mark_calls.hpp"
#include "cpu/compiler/checks/marks.hpp"
#include "cpu/compiler/vector/pairs.hpp"
#include "cpu/compiler/vector/ranges.hpp"
#include "cpu/compiler/vector/vector_emitter.hpp"

namespace cucore::cpu::codegen {

using llvm::CallInst;
using llvm::Instruction;
using llvm::Value;

namespace {

/// Lanes further apart than this are looked at one by one: what all of them span must not overflow.
constexpr std::int64_t widest_stride = std::int64_t{1} << 24;

/// Null if the instruction is no access.
Value* address_of_access(const Instruction& instruction) {
  switch (instruction.getOpcode()) {
    case Instruction::Load:
    case Instruction::AtomicRMW:
    case Instruction::AtomicCmpXchg:
      return instruction.getOperand(0);
    case Instruction::Store:
      return instruction.getOperand(1);
    default:
      return nullptr;
  }
}

/// The mark that an address comes from, if any.
CallInst* check_of(const Instruction& access) {
  Value* address = address_of_access(access);
  while (auto* offset = llvm::dyn_cast<llvm::GetElementPtrInst>(address)) address = offset->getPointerOperand();
  auto* call = llvm::dyn_cast<CallInst>(address);
  return call != nullptr && is_mark(*call, lanes_mark) ? call : nullptr;
}

/// Whether an address is used once, in the same block, and then by the access.
bool has_one_access(const Instruction& address) {
  if (!address.hasOneUse()) return false;
  const auto* user = llvm::cast<Instruction>(*address.user_begin());
  if (user->getParent() != address.getParent()) return false;
  return !llvm::isa<llvm::GetElementPtrInst>(user) || has_one_access(*user);
}

bool has_accesses_only(const Value& address) {
  return std::all_of(address.user_begin(), address.user_end(), [&](const llvm::User* user) {
    const auto* instruction = llvm::dyn_cast<Instruction>(user);
    if (instruction == nullptr) return false;
    if (llvm::isa<llvm::GetElementPtrInst>(instruction)) return has_accesses_only(*instruction);
    return address_of_access(*instruction) == &address &&
           std::count(user->value_op_begin(), user->value_op_end(), &address) == 1;
  });
}

/// Whether an address with a check is accessed in another block than `block`.
bool is_accessed_elsewhere(const Instruction& address, const llvm::BasicBlock& block) {
  return std::any_of(address.user_begin(), address.user_end(), [&](const llvm::User* user) {
    const auto& instruction = *llvm::cast<Instruction>(user);
    return instruction.getParent() != &block ||
           (llvm::isa<llvm::GetElementPtrInst>(instruction) && is_accessed_elsewhere(instruction, block));
  });
}

bool is_shared_window(const Value* pointer, const llvm::Function& scalar) {
  const auto* load = llvm::dyn_cast<llvm::LoadInst>(pointer);
  return load != nullptr && block_field(load->getPointerOperand(), scalar) == offsetof(BlockState, shared);
}

/// Whether the access is in one of the variables and aligned for all threads of a block.
bool is_within(const std::vector<SharedVariable>& shared, const LaneMark& mark, const llvm::Function& scalar,
               const VectorWidth& width) {
  llvm::ConstantRange place(llvm::APInt(64, 0));
  unsigned zeros = 4;  // of the window
  const Value* address = mark.address;
  while (const auto* offset = llvm::dyn_cast<llvm::GetElementPtrInst>(address)) {
    if (!offset->getSourceElementType()->isIntegerTy(8) || offset->getNumIndices() != 1) return false;
    const Value* index = offset->getOperand(1);
    if (!index->getType()->isIntegerTy(64)) return false;
    place = place.add(range_in_block(index, scalar, width));
    zeros = std::min(zeros, llvm::computeKnownBits(index, scalar.getDataLayout()).countMinTrailingZeros());
    address = offset->getPointerOperand();
  }
  if (!is_shared_window(address, scalar) || place.isFullSet() || place.isWrappedSet()) return false;
  if (mark.alignment > std::uint64_t{1} << zeros) return false;
  const std::uint64_t first = place.getUnsignedMin().getZExtValue();
  const std::uint64_t last = place.getUnsignedMax().getZExtValue();
  const std::uint64_t bytes = llvm::cast<llvm::ConstantInt>(mark.bytes)->getZExtValue();
  return std::any_of(shared.begin(), shared.end(), [&](const SharedVariable& variable) {
    return first >= variable.offset && bytes <= variable.bytes && last - variable.offset <= variable.bytes - bytes;
  });
}

llvm::MDNode* seldom(llvm::IRBuilder<>& b) { return llvm::MDBuilder(b.getContext()).createBranchWeights(1, 1U << 20); }

}  // namespace

void bring_loads_to_checks(llvm::Function& scalar) {
  std::vector<Instruction*> addresses;
  for (Instruction& instruction : llvm::instructions(scalar))
    if (is_mark(instruction, lanes_mark)) addresses.push_back(&instruction);
  for (std::size_t n = 0; n < addresses.size(); ++n) {
    Instruction& address = *addresses[n];
    for (llvm::User* const user : address.users()) {
      auto* const moved = llvm::dyn_cast<Instruction>(user);
      const auto* const part = llvm::dyn_cast_or_null<llvm::GetElementPtrInst>(moved);
      if (part != nullptr && part->hasAllConstantIndices()) {
        addresses.push_back(moved);
      } else if (!llvm::isa_and_nonnull<llvm::LoadInst>(moved)) {
        continue;
      }
      if (moved->getParent() != address.getParent()) moved->moveAfter(&address);
    }
  }
}

bool checks_stay_with_accesses(const llvm::Function& scalar) {
  for (const llvm::BasicBlock& block : scalar)
    for (const Instruction& instruction : block)
      if (is_mark(instruction, lanes_mark) && !has_accesses_only(instruction)) return false;
  return true;
}

void drop_needless_checks(llvm::Function& scalar, const VectorWidth& width, const std::vector<SharedVariable>& shared) {
  std::vector<CallInst*> needless;
  for (Instruction& instruction : llvm::instructions(scalar)) {
    if (!is_mark(instruction, lanes_mark)) continue;
    auto& call = llvm::cast<CallInst>(instruction);
    if (is_within(shared, LaneMark(call), scalar, width)) needless.push_back(&call);
  }
  for (CallInst* const call : needless) {
    const LaneMark mark(*call);
    call->replaceAllUsesWith(mark.address);
    call->eraseFromParent();
    for (Value* const value : {mark.first, mark.interval}) llvm::RecursivelyDeleteTriviallyDeadInstructions(value);
  }
}

bool is_for_checks(const Instruction& instruction) {
  if (is_mark(instruction, lanes_mark)) return true;
  return !instruction.use_empty() && !llvm::isa<llvm::PHINode>(instruction) &&
         std::all_of(instruction.use_begin(), instruction.use_end(), [](const llvm::Use& use) {
           const auto& user = llvm::cast<Instruction>(*use.getUser());
           return is_for_checks(user) &&
                  !(is_mark(user, lanes_mark) && use == LaneMark(llvm::cast<CallInst>(user)).address);
         });
}

unsigned size_without_checks(const llvm::BasicBlock& block) {
  return static_cast<unsigned>(
      std::count_if(block.begin(), block.end(), [](const Instruction& each) { return !is_for_checks(each); }));
}

unsigned size_without_checks(const llvm::Function& scalar) {
  unsigned size = 0;
  for (const llvm::BasicBlock& block : scalar) size += size_without_checks(block);
  return size;
}

/// Lanes of each chunk that a check has refused, and behind them whether there are any. One place for both versions:
/// lanes may go from one to the other between a check and its access.
VectorEmitter::Slots& VectorEmitter::refusals_of(CallInst* check) {
  Slots& slots = refusals_[check];
  if (slots.empty()) {
    for (unsigned k = 0; k < width_.chunks; ++k) slots.push_back(slot(mask_type(), "refused"));
    slots.push_back(slot(b.getInt1Ty(), "refuses"));
  }
  return slots;
}

/// Whether the intervals that accesses found last have what all lanes want; that of idle lanes may count, too.
Value* VectorEmitter::is_inside(const RangeMark& range) {
  auto& [interval, answer] = known_.inside[{range.first, {range.beyond, range.alignment}}];
  if (interval != range.interval) {
    answer = whether_inside(range);
    interval = range.interval;
  }
  return answer;
}

Value* VectorEmitter::whether_inside(const RangeMark& range) {
  const Shape shape = shapes().of(range.first);
  Value* interval = first_lane(range.interval, 0);
  Value* inside = b.getTrue();
  const bool is_even = !shape.is_varying() && std::abs(shape.stride) <= widest_stride &&
                       shape.stride % static_cast<std::int64_t>(range.alignment) == 0;
  if (is_even) {
    // Under a mask chunks are idle each for itself.
    const unsigned parts = shape.is_uniform() || !is_masked() ? parts_of(shape) : width_.chunks;
    const auto span = static_cast<std::uint64_t>(std::abs(shape.stride)) * (width_.group() / parts - 1);
    for (unsigned k = 0; k < parts; ++k) {
      Value* first = first_lane(range.first, k);
      if (shape.stride < 0) first = b.CreateSub(first, b.getInt64(span));
      if (is_masked()) first = b.CreateFreeze(first);
      Value* fits = mark_range(b, interval, first, range.beyond + span, range.alignment);
      if (is_masked() && !shape.is_uniform()) fits = b.CreateOr(fits, b.CreateIsNull(mask_[k]));
      inside = b.CreateAnd(inside, fits);
    }
    return inside;
  }
  for (unsigned k = 0; k < width_.chunks; ++k) {
    Value* fits = lanes_inside(range, k);
    if (is_masked()) fits = b.CreateSelect(mask_vector(k), fits, llvm::Constant::getAllOnesValue(fits->getType()));
    inside = b.CreateAnd(inside, b.CreateICmpEQ(b.CreateBitCast(fits, mask_type()), all_lanes()));
  }
  return inside;
}

/// Of a chunk: a bit for each lane, active or not.
Value* VectorEmitter::lanes_inside(const RangeMark& range, unsigned chunk) {
  const IntervalBounds bounds = load_bounds(b, first_lane(range.interval, 0), range.beyond);
  Value* first = vector(range.first, chunk);
  Value* inside = is_in_range(b, first, {splat(bounds.begin), splat(bounds.size)});
  if (range.alignment == 1) return inside;
  Value* zeros = llvm::Constant::getNullValue(first->getType());
  return b.CreateAnd(inside, b.CreateICmpEQ(b.CreateAnd(first, splat(b.getInt64(range.alignment - 1))), zeros));
}

/// What the end of a block is made of, if the block has checks and is there twice: values go there by their slots.
void VectorEmitter::keep_for_end(llvm::BasicBlock& block) {
  passed_.clear();
  kept_.clear();
  if (llvm::none_of(block, [](const Instruction& each) { return is_mark(each, lanes_mark); })) return;
  auto* const branch = llvm::dyn_cast<llvm::BranchInst>(block.getTerminator());
  if (branch == nullptr) return;
  if (branch->isConditional()) {
    kept_.insert(branch->getCondition());
    if (auto* const comparison = llvm::dyn_cast<llvm::ICmpInst>(branch->getCondition()))
      kept_.insert(comparison->op_begin(), comparison->op_end());
  }
  for (llvm::BasicBlock* const next : llvm::successors(&block))
    for (llvm::PHINode& phi : next->phis()) kept_.insert(phi.getIncomingValueForBlock(&block));
}

/// While nothing has had an effect, one branch answers for all checks since the last access. Where lanes are outside,
/// the block begins anew, and there each access asks for itself.
void VectorEmitter::flush_lane_checks() {
  if (unasked_.empty()) return;
  const auto checks = std::exchange(unasked_, {});
  Value* inside = b.getTrue();
  for (const CallInst* const check : checks) inside = b.CreateAnd(inside, is_inside(LaneMark(*check)));
  if (with_care_ == nullptr) with_care_ = new_block("with.care");
  auto* next = new_block("inside");
  b.CreateCondBr(b.CreateNot(inside), with_care_, next, seldom(b));
  b.SetInsertPoint(next);
  for (CallInst* const check : checks) {
    passed_.insert(check);
    if (!is_accessed_elsewhere(*check, *current_)) continue;
    for (llvm::AllocaInst* each : refusals_of(check))
      b.CreateStore(llvm::Constant::getNullValue(each->getAllocatedType()), each);
  }
}

/// The block anew, and the point where both ways meet before its end.
void VectorEmitter::emit_with_care(llvm::BasicBlock* block) {
  auto* end = new_block("checked");
  b.CreateBr(end);
  b.SetInsertPoint(std::exchange(with_care_, nullptr));
  forget();
  takes_care_ = true;
  emit_body(block);
  takes_care_ = false;
  b.CreateBr(end);
  b.SetInsertPoint(end);
  forget();
}

void VectorEmitter::emit_lane_check(CallInst& call) {
  if (version_ == Full && division_ == nullptr && can_restart_ && !takes_care_) {
    put(&call, get(LaneMark(call).address));
    unasked_.push_back(&call);
    return;
  }
  flush_checks();
  can_restart_ = false;  // what is reported is reported once
  put(&call, get(LaneMark(call).address));
  if (has_one_access(call)) return;  // which asks by itself
  const Slots& refused = refusals_of(&call);
  for (llvm::AllocaInst* each : refused) b.CreateStore(llvm::Constant::getNullValue(each->getAllocatedType()), each);
  auto* asks = new_block("asks");
  auto* next = new_block("checked");
  b.CreateCondBr(b.CreateNot(is_inside(LaneMark(call))), asks, next, seldom(b));
  const Known before = known_;
  b.SetInsertPoint(asks);
  Parts refusals = ask_for_lanes(call);
  for (unsigned k = 0; k < width_.chunks; ++k) b.CreateStore(refusals[k], refused[k]);
  b.CreateStore(any_of(refusals), refused.back());
  b.CreateBr(next);
  known_ = before;
  b.SetInsertPoint(next);
}

/// Has the service look at all active lanes: those that may not access.
VectorEmitter::Parts VectorEmitter::ask_for_lanes(const CallInst& check) {
  const LaneMark mark(check);
  const bool is_known = llvm::isa<llvm::Constant>(mark.interval);  // where they may is: others may nowhere
  Parts refusals;
  for (unsigned k = 0; k < width_.chunks; ++k) {
    Value* asked = mask_[k];
    if (is_known) asked = b.CreateAnd(asked, b.CreateNot(b.CreateBitCast(lanes_inside(mark, k), mask_type())));
    Value* addresses = b.CreatePtrToInt(vector(mark.address, k), lane_addresses_->getAllocatedType());
    b.CreateAlignedStore(addresses, lane_addresses_, lane_addresses_->getAlign());
    Value* arguments[] = {group_->getArg(0),
                          is_known ? llvm::ConstantPointerNull::get(b.getPtrTy()) : first_lane(mark.interval, 0),
                          lane_addresses_,
                          mark.bytes,
                          mark.word,
                          mark.line,
                          b.CreateAdd(group_->getArg(1), b.getInt32(k * width_.lanes)),
                          b.CreateZExt(asked, b.getInt32Ty())};
    llvm::SmallVector<llvm::Type*, 8> types;
    for (Value* argument : arguments) types.push_back(argument->getType());
    CallInst* allowed =
        b.CreateCall(llvm::FunctionType::get(b.getInt32Ty(), types, false), first_lane(mark.service, 0), arguments);
    allowed->setMemoryEffects(llvm::MemoryEffects::inaccessibleOrArgMemOnly());
    for (const unsigned n : {0U, 1U, 2U}) allowed->addParamAttr(n, llvm::Attribute::NoCapture);
    for (const unsigned n : {0U, 2U}) allowed->addParamAttr(n, llvm::Attribute::ReadOnly);
    refusals.push_back(b.CreateAnd(asked, b.CreateNot(b.CreateTrunc(allowed, mask_type()))));
  }
  return refusals;
}

/// Of an address that is the same everywhere: that of a dummy if no lane may access it.
Value* VectorEmitter::dummy_if_refused(Value* address) {
  return b.CreateSelect(any_of(mask_), first_lane(address, 0), dummy_);
}

/// Emits an access of all lanes, which `access` does, and another one where some of them were refused.
void VectorEmitter::emit_access(Instruction& instruction, llvm::function_ref<Wide()> access) {
  CallInst* const check = check_of(instruction);
  if (check != nullptr) flush_lane_checks();
  const bool has_passed = !takes_care_ && passed_.contains(check) && check->getParent() == current_;
  if (check == nullptr || has_passed) {
    Wide result = access();
    if (!result.parts.empty()) put(&instruction, std::move(result));
    return;
  }
  if (suspends() && check->getParent() != current_) return refuse("a check in another block than its access");
  auto* all = new_block("all");
  auto* rest = new_block("rest");
  auto* next = new_block("accessed");
  Parts refusals;
  const bool asks = has_one_access(*check);
  const Parts vectors = mask_vectors_;
  Value* inside = asks ? is_inside(LaneMark(*check)) : nullptr;
  const Known before = known_;
  if (asks) {
    auto* outside = new_block("asks");
    b.CreateCondBr(b.CreateNot(inside), outside, all, seldom(b));
    b.SetInsertPoint(outside);
    refusals = ask_for_lanes(*check);
    b.CreateCondBr(any_of(refusals), rest, all);
    known_ = before;
    mask_vectors_ = vectors;
  } else {
    b.CreateCondBr(b.CreateLoad(b.getInt1Ty(), refusals_of(check).back()), rest, all, seldom(b));
  }
  b.SetInsertPoint(all);
  Wide result = access();
  all = b.GetInsertBlock();
  b.CreateBr(next);
  known_ = before;
  mask_vectors_ = vectors;
  b.SetInsertPoint(rest);
  for (unsigned k = 0; !asks && k < width_.chunks; ++k)
    refusals.push_back(b.CreateLoad(mask_type(), refusals_of(check)[k]));
  const Wide of_rest = accessed_by_rest(instruction, refusals, access);
  rest = b.GetInsertBlock();
  b.CreateBr(next);
  known_ = before;
  b.SetInsertPoint(next);
  for (std::size_t n = 0; n < result.parts.size(); ++n) {
    auto* const both = b.CreatePHI(result.parts[n]->getType(), 2);
    both->addIncoming(result.parts[n], all);
    both->addIncoming(of_rest.parts[n], rest);
    result.parts[n] = both;
  }
  if (!result.parts.empty()) put(&instruction, std::move(result));
}

/// Under the mask of those that may. What others read is zero, and where they would swap they have, or they would try
/// for ever.
Wide VectorEmitter::accessed_by_rest(Instruction& instruction, llvm::ArrayRef<Value*> refusals,
                                     llvm::function_ref<Wide()> access) {
  const Parts mask = mask_;
  const Parts vectors = mask_vectors_;
  for (unsigned k = 0; k < width_.chunks; ++k) mask_[k] = b.CreateAnd(mask[k], b.CreateNot(refusals[k]));
  mask_vectors_.assign(width_.chunks, nullptr);
  refuses_ = true;
  Wide result = access();
  for (unsigned n = 0; n < result.parts.size(); ++n) {
    const unsigned k = n % width_.chunks;
    Value*& part = result.parts[n];
    Value* others = n < width_.chunks ? llvm::Constant::getNullValue(part->getType())
                                      : llvm::Constant::getAllOnesValue(part->getType());
    if (result.shape.spans_group()) {
      part = b.CreateSelect(any_of(mask_), part, others);
    } else if (!result.shape.is_varying()) {
      part = b.CreateSelect(is_chunk_active(k), part, others);
    } else {  // perhaps pairs, which stand one after the other
      llvm::Type* type = part->getType();
      const auto bits = static_cast<unsigned>(type->getPrimitiveSizeInBits().getFixedValue()) / width_.lanes;
      auto as_lanes = [&](Value* value) {
        return is_pair(instruction.getType()) ? b.CreateBitCast(value, widened(b.getIntNTy(bits))) : value;
      };
      part = b.CreateBitCast(b.CreateSelect(mask_vector(k), as_lanes(part), as_lanes(others)), type);
    }
  }
  refuses_ = false;
  mask_ = mask;
  mask_vectors_ = vectors;
  return result;
}

}  // namespace cucore::cpu::codegen
