// Shuffles and votes as vector arithmetic: see convergent_operations.hpp.
#include "cpu/compiler/vector/operations/convergent_operations.hpp"

#include <llvm/Analysis/VectorUtils.h>
#include <llvm/IR/Instructions.h>

#include <utility>
#include <vector>

#include "cpu/compiler/vector/analysis/refusal.hpp"

namespace cucore::cpu::compiler {

using llvm::Value;

namespace {

enum ShuffleMode : unsigned { Up, Down, Xor, Index };

/// Own lane (an i32 or a vector of them) and operands → source lane and whether it is in range: the PTX ISA's
/// definition of shfl.sync, as in the run-time.
struct Source {
  Value* lane;
  Value* in_range;

  Source(llvm::IRBuilder<>& b, unsigned mode, Value* own, Value* operand, Value* clamp_operand) {
    auto number = [&](std::uint64_t n) { return llvm::ConstantInt::get(own->getType(), n); };
    Value* by = b.CreateAnd(operand, number(31));
    Value* clamp = b.CreateAnd(clamp_operand, number(31));
    Value* segment = b.CreateAnd(b.CreateLShr(clamp_operand, number(8)), number(31));
    Value* highest = b.CreateOr(b.CreateAnd(own, segment), b.CreateAnd(clamp, b.CreateNot(segment)));
    switch (mode) {
      case Up:
        lane = b.CreateSub(own, by);
        in_range = b.CreateICmpSGE(lane, highest);
        break;
      case Down:
        lane = b.CreateAdd(own, by);
        in_range = b.CreateICmpSLE(lane, highest);
        break;
      case Xor:
        lane = b.CreateXor(own, by);
        in_range = b.CreateICmpSLE(lane, highest);
        break;
      default:
        lane = b.CreateOr(b.CreateAnd(own, segment), b.CreateAnd(by, b.CreateNot(segment)));
        in_range = b.CreateICmpSLE(lane, highest);
    }
  }
};

}  // namespace

Result<void> ConvergentOperations::emit(llvm::CallInst& call) {
  const llvm::StringRef name = call.getCalledFunction()->getName();
  if (name == "cucpu_shuffle") return emit_shuffle(call);
  if (name == "cucpu_vote") return emit_vote(call);
  if (name == "cucpu_warp_sync") return {};
  if (barriers_.groups_wait()) barriers_.suspend(call.getParent(), blocks_.alive());
  return {};
}

/// cucpu_shuffle(thread, mode, value, lane, clamp, mask): the result in the low word, the predicate in bit 32.
Result<void> ConvergentOperations::emit_shuffle(llvm::CallInst& call) {
  const auto mode = static_cast<unsigned>(llvm::cast<llvm::ConstantInt>(call.getArgOperand(1))->getZExtValue());
  if (!values_.get(call.getArgOperand(5)).stride.is_same_in_chunk())
    return refusal("a shuffle whose lanes name different masks");
  const unsigned parts = warp_lanes / c_.width.lanes;
  VectorValue result{Stride::varying(), {}};
  llvm::Type* warp_type = llvm::FixedVectorType::get(b.getInt32Ty(), warp_lanes);
  llvm::SmallVector<llvm::Constant*, 32> lanes;
  for (unsigned lane = 0; lane < warp_lanes; ++lane) lanes.push_back(b.getInt32(lane));
  Value* own = llvm::ConstantVector::get(lanes);
  for (unsigned warp = 0; warp < c_.width.chunks / parts; ++warp) {
    auto whole = [&](Value* operand) -> Value* {
      if (values_.get(operand).stride.is_uniform())
        return b.CreateVectorSplat(warp_lanes, values_.first_lane(operand, 0));
      std::vector<Value*> pieces;
      for (unsigned k = 0; k < parts; ++k) pieces.push_back(values_.vector(operand, warp * parts + k));
      return llvm::concatenateVectors(b, pieces);
    };
    Value* values = whole(call.getArgOperand(2));
    const Source source(b, mode, own, whole(call.getArgOperand(3)), whole(call.getArgOperand(4)));
    Value* from = b.CreateSelect(source.in_range, source.lane, own);
    Value* taken = nullptr;
    if (auto* fixed = llvm::dyn_cast<llvm::Constant>(from)) {
      llvm::SmallVector<int, 32> picks;
      for (unsigned lane = 0; lane < warp_lanes; ++lane) {
        picks.push_back(static_cast<int>(
            llvm::cast<llvm::ConstantInt>(fixed->getAggregateElement(lane))->getZExtValue() % warp_lanes));
      }
      taken = b.CreateShuffleVector(values, picks);
    } else {
      auto* array = c_.slot(warp_type, "shuffled");
      b.CreateStore(values, array);
      taken = llvm::PoisonValue::get(warp_type);
      Value* safe = b.CreateAnd(b.CreateFreeze(from), llvm::ConstantInt::get(warp_type, warp_lanes - 1));
      for (unsigned lane = 0; lane < warp_lanes; ++lane) {
        Value* at = b.CreateGEP(b.getInt32Ty(), array, b.CreateExtractElement(safe, lane));
        taken = b.CreateInsertElement(taken, b.CreateLoad(b.getInt32Ty(), at), lane);
      }
      from = safe;
    }
    Value* members = whole(call.getArgOperand(5));
    const auto* fixed_members = llvm::dyn_cast<llvm::Constant>(members);
    if (c_.active.is_partial() || fixed_members == nullptr || !fixed_members->isAllOnesValue()) {
      // A lane that takes no part has no value to give: undefined in PTX, 0 on GPUs and here.
      Value* here = b.getInt32(0);
      for (unsigned k = 0; k < parts; ++k) {
        Value* bits = b.CreateZExt(c_.active.bits(warp * parts + k), b.getInt32Ty());
        here = b.CreateOr(here, b.CreateShl(bits, k * c_.width.lanes));
      }
      Value* bit = b.CreateLShr(b.CreateAnd(b.CreateVectorSplat(warp_lanes, here), members), from);
      Value* gives = b.CreateTrunc(bit, llvm::FixedVectorType::get(b.getInt1Ty(), warp_lanes));
      llvm::Constant* nothing = llvm::Constant::getNullValue(warp_type);
      taken = b.CreateSelect(gives, taken, b.CreateSelect(source.in_range, nothing, values));
    }
    llvm::Type* wide = llvm::FixedVectorType::get(b.getInt64Ty(), warp_lanes);
    Value* both = b.CreateOr(b.CreateZExt(taken, wide),
                             b.CreateShl(b.CreateZExt(source.in_range, wide), llvm::ConstantInt::get(wide, 32)));
    for (unsigned k = 0; k < parts; ++k) {
      llvm::SmallVector<int, 16> picks;
      for (unsigned n = 0; n < c_.width.lanes; ++n) picks.push_back(static_cast<int>(k * c_.width.lanes + n));
      result.parts.push_back(b.CreateShuffleVector(both, picks));
    }
  }
  values_.put(&call, std::move(result));
  return {};
}

/// cucpu_vote(thread, mode, predicate, mask): all, any, uni, ballot over the named lanes that are here.
Result<void> ConvergentOperations::emit_vote(llvm::CallInst& call) {
  const auto mode = static_cast<unsigned>(llvm::cast<llvm::ConstantInt>(call.getArgOperand(1))->getZExtValue());
  Value* predicate = call.getArgOperand(2);
  if (!values_.get(call.getArgOperand(3)).stride.is_same_in_chunk())
    return refusal("a vote whose lanes name different masks");
  const unsigned parts = warp_lanes / c_.width.lanes;
  VectorValue result{c_.strides().of(&call), {}};
  for (unsigned warp = 0; warp < c_.width.chunks / parts; ++warp) {
    Value* votes = b.getInt32(0);
    Value* here = b.getInt32(0);
    for (unsigned k = 0; k < parts; ++k) {
      const unsigned chunk = warp * parts + k;
      Value* truth = nullptr;
      if (values_.get(predicate).stride.is_varying()) {
        Value* lanes = b.CreateIsNotNull(values_.vector(predicate, chunk));
        if (c_.active.is_partial())
          lanes = b.CreateSelect(c_.active.vector(chunk), lanes, llvm::Constant::getNullValue(lanes->getType()));
        truth = b.CreateBitCast(lanes, c_.mask_type());
      } else {
        Value* first = values_.first_lane(predicate, chunk);
        if (c_.active.is_partial()) first = b.CreateFreeze(first);
        truth =
            b.CreateSelect(b.CreateIsNotNull(first), c_.active.bits(chunk), llvm::ConstantInt::get(c_.mask_type(), 0));
      }
      votes = b.CreateOr(votes, b.CreateShl(b.CreateZExt(truth, b.getInt32Ty()), k * c_.width.lanes));
      here = b.CreateOr(here, b.CreateShl(b.CreateZExt(c_.active.bits(chunk), b.getInt32Ty()), k * c_.width.lanes));
    }
    for (unsigned k = 0; k < parts; ++k) {
      Value* members = values_.first_lane(call.getArgOperand(3), warp * parts + k);
      Value* named = b.CreateAnd(votes, members);
      Value* all = b.CreateICmpEQ(named, b.CreateAnd(here, members));
      Value* any = b.CreateIsNotNull(named);
      result.parts.push_back(mode == 0   ? b.CreateZExt(all, b.getInt32Ty())
                             : mode == 1 ? b.CreateZExt(any, b.getInt32Ty())
                             : mode == 2 ? b.CreateZExt(b.CreateOr(all, b.CreateNot(any)), b.getInt32Ty())
                                         : named);
    }
  }
  values_.put(&call, std::move(result));
  return {};
}

}  // namespace cucore::cpu::compiler
