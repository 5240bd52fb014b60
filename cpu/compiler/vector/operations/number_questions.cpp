// Marks of numbers for all lanes: see number_questions.hpp.
#include "cpu/compiler/vector/operations/number_questions.hpp"

#include <llvm/IR/MDBuilder.h>

#include <algorithm>

namespace cucore::cpu::compiler {

using llvm::Value;

Result<void> NumberQuestions::emit_mark(llvm::CallInst& mark) {
  waiting_.push_back(&mark);
  return waiting_.size() == cost_model::most_marks_together ? flush() : Result<void>();
}

bool NumberQuestions::is_uniform(const NumberMark& mark) {
  return values_.get(mark.chosen).stride.is_uniform() &&
         std::all_of(mark.values.begin(), mark.values.end(),
                     [&](Value* value) { return values_.get(value).stride.is_uniform(); });
}

llvm::SmallVector<Value*, 4> NumberQuestions::values_of(const NumberMark& mark, unsigned chunk) {
  llvm::SmallVector<Value*, 4> vectors;
  for (Value* const value : mark.values) vectors.push_back(values_.vector(value, chunk));
  return vectors;
}

/// Not zero if a lane of any chunk may have an exceptional result.
Value* NumberQuestions::coarse_bits() {
  Value* uniform = b.getFalse();
  Value* varying = nullptr;
  for (const llvm::CallInst* const call : waiting_) {
    const NumberMark mark(*call);
    if (is_uniform(mark)) {
      llvm::SmallVector<Value*, 4> firsts;
      for (Value* const value : mark.values) firsts.push_back(values_.first_lane(value, 0));
      uniform = b.CreateOr(uniform,
                           b.CreateAnd(may_be_exceptional(b, mark.test, firsts), values_.first_lane(mark.chosen, 0)));
      continue;
    }
    for (unsigned k = 0; k < c_.width.chunks; ++k) {
      Value* one = may_be_exceptional(b, mark.test, values_of(mark, k), c_.host);
      if (!llvm::isa<llvm::Constant>(mark.chosen)) one = b.CreateAnd(one, values_.vector(mark.chosen, k));
      if (c_.active.is_partial()) one = b.CreateAnd(one, c_.active.vector(k));
      varying = varying == nullptr ? one : b.CreateOr(varying, one);
    }
  }
  if (varying == nullptr) return uniform;
  return b.CreateOr(uniform, b.CreateIsNotNull(b.CreateBitCast(varying, c_.mask_type())));
}

void NumberQuestions::tell(const NumberMark& mark) {
  const auto size = static_cast<unsigned>(bytes_of_chunk(c_.width.lanes));
  if (room_ == nullptr) {
    room_ = c_.slot(llvm::ArrayType::get(b.getInt8Ty(), std::uint64_t{size} * c_.width.chunks), "numbers");
    room_->setAlignment(llvm::Align(64));
    masks_ = c_.slot(llvm::ArrayType::get(b.getInt32Ty(), c_.width.chunks), "lanes");
  }
  const auto at = [&](Value* base, std::uint64_t offset) {
    return b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), base, offset);
  };
  llvm::SmallVector<llvm::Type*, 4> types;
  for (unsigned k = 0; k < c_.width.chunks; ++k) {
    const llvm::SmallVector<Value*, 4> values = values_of(mark, k);
    Value* asked = nullptr;
    if (!llvm::isa<llvm::Constant>(mark.chosen)) asked = values_.vector(mark.chosen, k);
    if (c_.active.is_partial()) asked = asked ? b.CreateAnd(asked, c_.active.vector(k)) : c_.active.vector(k);
    Value* const lanes = asked ? b.CreateBitCast(asked, c_.mask_type()) : c_.all_lanes();
    b.CreateStore(b.CreateZExt(lanes, b.getInt32Ty()), at(masks_, std::uint64_t{4} * k));
    for (unsigned n = 0; n < values.size(); ++n) {
      if (k == 0) types.push_back(values[n]->getType());
      b.CreateAlignedStore(values[n], at(room_, std::uint64_t{k} * size + std::uint64_t{8} * n * c_.width.lanes),
                           llvm::Align(8));
    }
  }
  call_chunk_teller(b, mark, types,
                    {.block = c_.block_state(),
                     .place = mark.place,
                     .first = c_.first_thread(),
                     .lanes = nullptr,
                     .values = room_,
                     .lane_count = c_.width.lanes,
                     .sizes = mark.sizes()},
                    masks_, c_.width.chunks);
}

Result<void> NumberQuestions::flush() {
  if (waiting_.empty()) return {};
  if (Result<void> done = checks_.before_effect(); !done) return done;  // what is reported is reported once
  auto* const asks = c_.new_block("asks.numbers");
  auto* const next = c_.new_block("numbers");
  b.CreateCondBr(coarse_bits(), asks, next, llvm::MDBuilder(b.getContext()).createUnlikelyBranchWeights());
  b.SetInsertPoint(asks);
  const Known known = c_.known;
  const ActiveLanes::State active = c_.active.state();
  for (const llvm::CallInst* const call : waiting_) tell(NumberMark(*call));
  c_.known = known;
  c_.active.restore(active);
  b.CreateBr(next);
  b.SetInsertPoint(next);
  waiting_.clear();
  return {};
}

}  // namespace cucore::cpu::compiler
