// Checks of accesses for all lanes: see lane_checks.hpp.
#include "cpu/compiler/vector/operations/lane_checks.hpp"

#include <llvm/IR/Instructions.h>
#include <llvm/IR/MDBuilder.h>

#include <cstdlib>
#include <utility>

#include "cpu/compiler/checks/mark_calls.hpp"
#include "cpu/compiler/checks/marks.hpp"
#include "cpu/compiler/vector/analysis/checked_accesses.hpp"
#include "cpu/compiler/vector/analysis/refusal.hpp"
#include "cpu/compiler/vector/analysis/versions.hpp"
#include "cpu/compiler/vector/state/access_types.hpp"

namespace cucore::cpu::compiler {

using llvm::CallInst;
using llvm::Instruction;
using llvm::Value;

namespace {

/// Lanes further apart than this are looked at one by one: what all of them span must not overflow.
constexpr std::int64_t widest_step = std::int64_t{1} << 24;

llvm::MDNode* seldom(llvm::IRBuilder<>& b) { return llvm::MDBuilder(b.getContext()).createBranchWeights(1, 1U << 20); }

}  // namespace

LaneChecks::LaneChecks(EmissionContext& context, VectorValues& values)
    : c_(context),
      values_(values),
      b(context.b),
      addresses_(c_.slot(llvm::FixedVectorType::get(b.getInt64Ty(), c_.width.lanes), "addresses")) {
  addresses_->setAlignment(llvm::Align(64));
}

Slots& LaneChecks::denied_by(CallInst* check) {
  Slots& slots = denied_[check];
  if (slots.empty()) {
    for (unsigned k = 0; k < c_.width.chunks; ++k) slots.push_back(c_.slot(c_.mask_type(), "refused"));
    slots.push_back(c_.slot(b.getInt1Ty(), "refuses"));
  }
  return slots;
}

Value* LaneChecks::is_inside(const RangeMark& range) {
  auto& [interval, answer] = c_.known.inside[{range.first, {range.beyond, range.alignment}}];
  if (interval != range.interval) {
    answer = whether_inside(range);
    interval = range.interval;
  }
  return answer;
}

Value* LaneChecks::whether_inside(const RangeMark& range) {
  const Stride stride = c_.strides().of(range.first);
  Value* interval = values_.first_lane(range.interval, 0);
  Value* inside = b.getTrue();
  const bool is_even = !stride.is_varying() && std::abs(stride.step) <= widest_step &&
                       stride.step % static_cast<std::int64_t>(range.alignment) == 0;
  if (is_even) {
    // Under a mask each chunk may be idle by itself.
    const unsigned parts = stride.is_uniform() || !c_.active.is_partial() ? c_.parts_of(stride) : c_.width.chunks;
    const auto span = static_cast<std::uint64_t>(std::abs(stride.step)) * (c_.width.group() / parts - 1);
    for (unsigned k = 0; k < parts; ++k) {
      Value* first = values_.first_lane(range.first, k);
      if (stride.step < 0) first = b.CreateSub(first, b.getInt64(span));
      if (c_.active.is_partial()) first = b.CreateFreeze(first);
      Value* fits = mark_range(b, interval, first, range.beyond + span, range.alignment);
      if (c_.active.is_partial() && !stride.is_uniform()) fits = b.CreateOr(fits, b.CreateIsNull(c_.active.bits(k)));
      inside = b.CreateAnd(inside, fits);
    }
    return inside;
  }
  for (unsigned k = 0; k < c_.width.chunks; ++k) {
    Value* fits = lanes_inside(range, k);
    if (c_.active.is_partial())
      fits = b.CreateSelect(c_.active.vector(k), fits, llvm::Constant::getAllOnesValue(fits->getType()));
    inside = b.CreateAnd(inside, b.CreateICmpEQ(b.CreateBitCast(fits, c_.mask_type()), c_.all_lanes()));
  }
  return inside;
}

Value* LaneChecks::lanes_inside(const RangeMark& range, unsigned chunk) {
  const IntervalBounds bounds = load_bounds(b, values_.first_lane(range.interval, 0), range.beyond);
  Value* first = values_.vector(range.first, chunk);
  Value* inside = is_in_range(b, first, {values_.splat(bounds.begin), values_.splat(bounds.size)});
  if (range.alignment == 1) return inside;
  Value* zeros = llvm::Constant::getNullValue(first->getType());
  return b.CreateAnd(inside, b.CreateICmpEQ(b.CreateAnd(first, values_.splat(b.getInt64(range.alignment - 1))), zeros));
}

void LaneChecks::defer(CallInst& check) {
  values_.put(&check, values_.get(LaneMark(check).address));
  pending_.push_back(&check);
}

void LaneChecks::flush() {
  if (pending_.empty()) return;
  const auto checks = std::exchange(pending_, {});
  Value* inside = b.getTrue();
  for (const CallInst* const check : checks) inside = b.CreateAnd(inside, is_inside(LaneMark(*check)));
  if (slow_path_ == nullptr) slow_path_ = c_.new_block("slow.path");
  auto* next = c_.new_block("inside");
  b.CreateCondBr(b.CreateNot(inside), slow_path_, next, seldom(b));
  b.SetInsertPoint(next);
  for (CallInst* const check : checks) {
    passed_.insert(check);
    if (!is_accessed_elsewhere(*check, *c_.block)) continue;
    for (llvm::AllocaInst* each : denied_by(check))
      b.CreateStore(llvm::Constant::getNullValue(each->getAllocatedType()), each);
  }
}

llvm::BasicBlock* LaneChecks::begin_slow_path() {
  auto* end = c_.new_block("checked");
  b.CreateBr(end);
  b.SetInsertPoint(std::exchange(slow_path_, nullptr));
  c_.forget();
  on_slow_path_ = true;
  return end;
}

void LaneChecks::end_slow_path(llvm::BasicBlock* end) {
  on_slow_path_ = false;
  b.CreateBr(end);
  b.SetInsertPoint(end);
  c_.forget();
}

void LaneChecks::ask(CallInst& call) {
  values_.put(&call, values_.get(LaneMark(call).address));
  if (has_one_access(call)) return;  // which asks by itself
  const Slots& denied = denied_by(&call);
  for (llvm::AllocaInst* each : denied) b.CreateStore(llvm::Constant::getNullValue(each->getAllocatedType()), each);
  auto* asks = c_.new_block("asks");
  auto* next = c_.new_block("checked");
  b.CreateCondBr(b.CreateNot(is_inside(LaneMark(call))), asks, next, seldom(b));
  const Known before = c_.known;
  b.SetInsertPoint(asks);
  Parts lanes = query_lanes(call);
  for (unsigned k = 0; k < c_.width.chunks; ++k) b.CreateStore(lanes[k], denied[k]);
  b.CreateStore(is_any_set(b, lanes), denied.back());
  b.CreateBr(next);
  c_.known = before;
  b.SetInsertPoint(next);
}

Parts LaneChecks::query_lanes(const CallInst& check) {
  const LaneMark mark(check);
  const bool is_known = llvm::isa<llvm::Constant>(mark.interval);  // known for active lanes; idle ones access nothing
  Parts denied;
  for (unsigned k = 0; k < c_.width.chunks; ++k) {
    Value* asked = c_.active.bits(k);
    if (is_known) asked = b.CreateAnd(asked, b.CreateNot(b.CreateBitCast(lanes_inside(mark, k), c_.mask_type())));
    Value* addresses = b.CreatePtrToInt(values_.vector(mark.address, k), addresses_->getAllocatedType());
    b.CreateAlignedStore(addresses, addresses_, addresses_->getAlign());
    Value* arguments[] = {
        c_.block_state(),
        is_known ? llvm::ConstantPointerNull::get(b.getPtrTy()) : values_.first_lane(mark.interval, 0),
        addresses_,
        mark.bytes,
        mark.word,
        mark.line,
        b.CreateAdd(c_.first_thread(), b.getInt32(k * c_.width.lanes)),
        b.CreateZExt(asked, b.getInt32Ty())};
    llvm::SmallVector<llvm::Type*, 8> types;
    for (Value* argument : arguments) types.push_back(argument->getType());
    CallInst* allowed = b.CreateCall(llvm::FunctionType::get(b.getInt32Ty(), types, false),
                                     values_.first_lane(mark.service, 0), arguments);
    allowed->setMemoryEffects(llvm::MemoryEffects::inaccessibleOrArgMemOnly());
    for (const unsigned n : {0U, 1U, 2U}) allowed->addParamAttr(n, llvm::Attribute::NoCapture);
    for (const unsigned n : {0U, 2U}) allowed->addParamAttr(n, llvm::Attribute::ReadOnly);
    denied.push_back(b.CreateAnd(asked, b.CreateNot(b.CreateTrunc(allowed, c_.mask_type()))));
  }
  return denied;
}

Result<void> LaneChecks::emit_access(Instruction& instruction, llvm::function_ref<Result<VectorValue>()> access) {
  CallInst* const check = check_of(instruction);
  if (check != nullptr) flush();
  const bool has_passed = !on_slow_path_ && passed_.contains(check) && check->getParent() == c_.block;
  if (check == nullptr || has_passed) {
    Result<VectorValue> result = access();
    if (!result) return std::move(result).failure();
    if (!result->parts.empty()) values_.put(&instruction, *std::move(result));
    return {};
  }
  if (groups_wait(c_.flow, c_.width) && check->getParent() != c_.block)
    return refusal("a check in another block than its access");
  auto* all = c_.new_block("all");
  auto* rest = c_.new_block("rest");
  auto* next = c_.new_block("accessed");
  Parts denied;
  const bool asks = has_one_access(*check);
  const ActiveLanes::State active = c_.active.state();
  Value* inside = asks ? is_inside(LaneMark(*check)) : nullptr;
  const Known before = c_.known;
  if (asks) {
    auto* outside = c_.new_block("asks");
    b.CreateCondBr(b.CreateNot(inside), outside, all, seldom(b));
    b.SetInsertPoint(outside);
    denied = query_lanes(*check);
    b.CreateCondBr(is_any_set(b, denied), rest, all);
    c_.known = before;
    c_.active.restore(active);
  } else {
    b.CreateCondBr(b.CreateLoad(b.getInt1Ty(), denied_by(check).back()), rest, all, seldom(b));
  }
  b.SetInsertPoint(all);
  Result<VectorValue> result = access();
  if (!result) return std::move(result).failure();
  all = b.GetInsertBlock();
  b.CreateBr(next);
  c_.known = before;
  c_.active.restore(active);
  b.SetInsertPoint(rest);
  for (unsigned k = 0; !asks && k < c_.width.chunks; ++k)
    denied.push_back(b.CreateLoad(c_.mask_type(), denied_by(check)[k]));
  Result<VectorValue> of_rest = accessed_by_rest(instruction, denied, access);
  if (!of_rest) return std::move(of_rest).failure();
  rest = b.GetInsertBlock();
  b.CreateBr(next);
  c_.known = before;
  b.SetInsertPoint(next);
  for (std::size_t n = 0; n < result->parts.size(); ++n) {
    auto* const both = b.CreatePHI(result->parts[n]->getType(), 2);
    both->addIncoming(result->parts[n], all);
    both->addIncoming(of_rest->parts[n], rest);
    result->parts[n] = both;
  }
  if (!result->parts.empty()) values_.put(&instruction, *std::move(result));
  return {};
}

Result<VectorValue> LaneChecks::accessed_by_rest(Instruction& instruction, llvm::ArrayRef<Value*> denied,
                                                 llvm::function_ref<Result<VectorValue>()> access) {
  const ActiveLanes::State active = c_.active.state();
  Parts allowed;
  for (unsigned k = 0; k < c_.width.chunks; ++k) allowed.push_back(b.CreateAnd(active.bits[k], b.CreateNot(denied[k])));
  c_.active.set(allowed, ActiveLanes::Kind::SomeOrNone);
  Result<VectorValue> result = access();
  for (unsigned n = 0; result && n < result->parts.size(); ++n) {
    const unsigned k = n % c_.width.chunks;
    Value*& part = result->parts[n];
    Value* others = n < c_.width.chunks ? llvm::Constant::getNullValue(part->getType())
                                        : llvm::Constant::getAllOnesValue(part->getType());
    if (result->stride.spans_group()) {
      part = b.CreateSelect(c_.active.any(), part, others);
    } else if (!result->stride.is_varying()) {
      part = b.CreateSelect(c_.active.is_chunk_active(k), part, others);
    } else {  // perhaps pairs, which stand one after the other
      llvm::Type* type = part->getType();
      const auto bits = static_cast<unsigned>(type->getPrimitiveSizeInBits().getFixedValue()) / c_.width.lanes;
      auto as_lanes = [&](Value* value) {
        return is_pair(instruction.getType()) ? b.CreateBitCast(value, c_.widened(b.getIntNTy(bits))) : value;
      };
      part = b.CreateBitCast(b.CreateSelect(c_.active.vector(k), as_lanes(part), as_lanes(others)), type);
    }
  }
  c_.active.restore(active);
  return result;
}

}  // namespace cucore::cpu::compiler
