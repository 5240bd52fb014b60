// Indices that may wrap around: see index_checks.hpp.
#include "cpu/compiler/vector/operations/index_checks.hpp"

#include <llvm/IR/Instructions.h>

#include <utility>

#include "cpu/compiler/vector/analysis/refusal.hpp"

namespace cucore::cpu::compiler {

using llvm::Instruction;
using llvm::Value;

namespace {

struct ActiveEnds {
  Value* lowest;
  Value* highest;
  Value* any;
};

/// The lowest and the highest active lane of some chunks, counted from the first of them; any lanes if none is active.
ActiveEnds active_ends(EmissionContext& c, unsigned first, unsigned chunks) {
  llvm::IRBuilder<>& b = c.b;
  ActiveEnds all{b.getInt32(0), b.getInt32(0), b.getFalse()};
  Value* last_lane = b.getInt32(c.width.lanes - 1);
  auto zeros = [&](llvm::Intrinsic::ID id, Value* mask) {
    return b.CreateAnd(b.CreateZExtOrTrunc(b.CreateBinaryIntrinsic(id, mask, b.getFalse()), b.getInt32Ty()), last_lane);
  };
  for (unsigned k = 0; k < chunks; ++k) {
    Value* mask = c.active.bits(first + k);
    Value* offset = b.getInt32(k * c.width.lanes);
    Value* lowest = b.CreateAdd(offset, zeros(llvm::Intrinsic::cttz, mask));
    Value* highest = b.CreateAdd(offset, b.CreateSub(last_lane, zeros(llvm::Intrinsic::ctlz, mask)));
    Value* active = c.active.is_chunk_active(first + k);
    all.lowest = b.CreateSelect(all.any, all.lowest, lowest);
    all.highest = b.CreateSelect(active, highest, all.highest);
    all.any = b.CreateOr(all.any, active);
  }
  return all;
}

}  // namespace

void IndexChecks::begin_block() {
  pending_ = nullptr;
  can_restart_ = true;
}

void IndexChecks::add(Instruction& extension) {
  const Stride stride = c_.strides().of(&extension);
  llvm::Type* narrow = extension.getOperand(0)->getType();
  const bool is_signed = llvm::isa<llvm::SExtInst>(extension);
  const unsigned parts = c_.parts_of(stride);
  const unsigned lanes = c_.width.group() / parts;
  const auto step = static_cast<std::uint64_t>(stride.step > 0 ? stride.step : -stride.step) * (lanes - 1);
  const auto id = stride.step > 0
                      ? (is_signed ? llvm::Intrinsic::sadd_with_overflow : llvm::Intrinsic::uadd_with_overflow)
                      : (is_signed ? llvm::Intrinsic::ssub_with_overflow : llvm::Intrinsic::usub_with_overflow);
  for (unsigned k = 0; k < parts; ++k) {
    Value* sum = b.CreateBinaryIntrinsic(id, values_.first_lane(extension.getOperand(0), k),
                                         llvm::ConstantInt::get(narrow, step));
    Value* wraps = b.CreateExtractValue(sum, 1);
    pending_ = pending_ == nullptr ? wraps : b.CreateOr(pending_, wraps);
  }
}

void IndexChecks::extend_under_mask(Instruction& extension) {
  const Stride stride = c_.strides().of(&extension);
  VectorValue result{stride, {}};
  llvm::Type* narrow = extension.getOperand(0)->getType();
  llvm::Type* wide = extension.getType();
  const auto step = static_cast<std::uint64_t>(stride.step);
  for (unsigned k = 0; k < c_.parts_of(stride); ++k) {
    Value* first = values_.first_lane(extension.getOperand(0), k);
    auto first_as_seen_from = [&](Value* lane) {
      auto steps = [&](llvm::Type* type) {
        return b.CreateMul(b.CreateZExtOrTrunc(lane, type), llvm::ConstantInt::get(type, step));
      };
      Value* value = b.CreateAdd(first, steps(narrow));
      Value* extended = llvm::isa<llvm::SExtInst>(extension) ? b.CreateSExt(value, wide) : b.CreateZExt(value, wide);
      return b.CreateSub(extended, steps(wide));
    };
    const ActiveEnds active = stride.spans_group() ? active_ends(c_, 0, c_.width.chunks) : active_ends(c_, k, 1);
    result.parts.push_back(first_as_seen_from(active.lowest));
    Value* wraps = b.CreateAnd(active.any, b.CreateICmpNE(result.parts[k], first_as_seen_from(active.highest)));
    pending_ = pending_ == nullptr ? wraps : b.CreateOr(pending_, wraps);
  }
  values_.put(&extension, std::move(result));
}

Result<void> IndexChecks::flush() {
  if (pending_ == nullptr) return {};
  Value* failed = std::exchange(pending_, nullptr);
  if (!can_restart_) return refusal("an index that may wrap around after an access in the same block");
  auto* bails = c_.new_block("wraps");
  auto* goes_on = c_.new_block("no.wrap");
  b.CreateCondBr(failed, bails, goes_on);
  b.SetInsertPoint(bails);
  const Known before = c_.known;
  if (c_.divergence != nullptr) {
    transitions_.leave_full_version(*c_.divergence);
  } else {
    transitions_.bail_out(c_.block);
  }
  c_.known = before;
  b.SetInsertPoint(goes_on);
  return {};
}

}  // namespace cucore::cpu::compiler
