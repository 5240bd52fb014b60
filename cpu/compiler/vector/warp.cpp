// Meetings of lanes in the vector form. Every lane that takes part is here (flow.hpp), so a barrier within a
// group is nothing, a vote is arithmetic on masks and a shuffle by a constant a fixed permutation.
#include <llvm/Analysis/VectorUtils.h>
#include <llvm/IR/Instructions.h>

#include "cpu/abi/kernel_abi.hpp"
#include "cpu/compiler/emitters/module_emitter.hpp"
#include "cpu/compiler/vector/vector_emitter.hpp"

namespace cucore::cpu::codegen {

using llvm::Value;

namespace {

constexpr unsigned lanes_of_warp = 32;

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

void VectorEmitter::emit_meeting(llvm::CallInst& call) {
  const llvm::StringRef name = call.getCalledFunction()->getName();
  if (name == "cucpu_shuffle") return emit_shuffle(call);
  if (name == "cucpu_vote") return emit_vote(call);
  if (name == "cucpu_warp_sync") return;
  const auto* count = llvm::dyn_cast<llvm::ConstantInt>(call.getArgOperand(2));
  if (count == nullptr || !count->isZero() || !llvm::isa<llvm::ConstantInt>(call.getArgOperand(1)))
    return refuse("a barrier of part of a block");
  if (suspends()) emit_suspension(call.getParent());
}

/// cucpu_shuffle(thread, mode, value, lane, clamp, mask): the result in the low word, the predicate in bit 32.
void VectorEmitter::emit_shuffle(llvm::CallInst& call) {
  const auto mode = static_cast<unsigned>(llvm::cast<llvm::ConstantInt>(call.getArgOperand(1))->getZExtValue());
  if (!get(call.getArgOperand(5)).shape.is_same_in_chunk()) return refuse("a shuffle whose lanes name different masks");
  const unsigned parts = lanes_of_warp / width_.lanes;
  Wide result{Shape::varying(), {}};
  llvm::Type* warp_type = llvm::FixedVectorType::get(b.getInt32Ty(), lanes_of_warp);
  llvm::SmallVector<llvm::Constant*, 32> lanes;
  for (unsigned lane = 0; lane < lanes_of_warp; ++lane) lanes.push_back(b.getInt32(lane));
  Value* own = llvm::ConstantVector::get(lanes);
  for (unsigned warp = 0; warp < width_.chunks / parts; ++warp) {
    auto whole = [&](Value* operand) -> Value* {
      if (get(operand).shape.is_uniform()) return b.CreateVectorSplat(lanes_of_warp, first_lane(operand, 0));
      std::vector<Value*> pieces;
      for (unsigned k = 0; k < parts; ++k) pieces.push_back(vector(operand, warp * parts + k));
      return llvm::concatenateVectors(b, pieces);
    };
    Value* values = whole(call.getArgOperand(2));
    const Source source(b, mode, own, whole(call.getArgOperand(3)), whole(call.getArgOperand(4)));
    Value* from = b.CreateSelect(source.in_range, source.lane, own);
    Value* taken = nullptr;
    if (auto* fixed = llvm::dyn_cast<llvm::Constant>(from)) {
      llvm::SmallVector<int, 32> picks;
      for (unsigned lane = 0; lane < lanes_of_warp; ++lane) {
        picks.push_back(static_cast<int>(
            llvm::cast<llvm::ConstantInt>(fixed->getAggregateElement(lane))->getZExtValue() % lanes_of_warp));
      }
      taken = b.CreateShuffleVector(values, picks);
    } else {
      auto* array = slot(warp_type, "shuffled");
      b.CreateStore(values, array);
      taken = llvm::PoisonValue::get(warp_type);
      Value* safe = b.CreateAnd(b.CreateFreeze(from), llvm::ConstantInt::get(warp_type, lanes_of_warp - 1));
      for (unsigned lane = 0; lane < lanes_of_warp; ++lane) {
        Value* at = b.CreateGEP(b.getInt32Ty(), array, b.CreateExtractElement(safe, lane));
        taken = b.CreateInsertElement(taken, b.CreateLoad(b.getInt32Ty(), at), lane);
      }
      from = safe;
    }
    Value* members = whole(call.getArgOperand(5));
    const auto* fixed_members = llvm::dyn_cast<llvm::Constant>(members);
    if (is_masked() || fixed_members == nullptr || !fixed_members->isAllOnesValue()) {
      // A lane that takes no part has no value to give: undefined in PTX, 0 on GPUs and here.
      Value* here = b.getInt32(0);
      for (unsigned k = 0; k < parts; ++k) {
        Value* bits = b.CreateZExt(mask_[warp * parts + k], b.getInt32Ty());
        here = b.CreateOr(here, b.CreateShl(bits, k * width_.lanes));
      }
      Value* bit = b.CreateLShr(b.CreateAnd(b.CreateVectorSplat(lanes_of_warp, here), members), from);
      Value* gives = b.CreateTrunc(bit, llvm::FixedVectorType::get(b.getInt1Ty(), lanes_of_warp));
      llvm::Constant* nothing = llvm::Constant::getNullValue(warp_type);
      taken = b.CreateSelect(gives, taken, b.CreateSelect(source.in_range, nothing, values));
    }
    llvm::Type* wide = llvm::FixedVectorType::get(b.getInt64Ty(), lanes_of_warp);
    Value* both = b.CreateOr(b.CreateZExt(taken, wide),
                             b.CreateShl(b.CreateZExt(source.in_range, wide), llvm::ConstantInt::get(wide, 32)));
    for (unsigned k = 0; k < parts; ++k) {
      llvm::SmallVector<int, 16> picks;
      for (unsigned n = 0; n < width_.lanes; ++n) picks.push_back(static_cast<int>(k * width_.lanes + n));
      result.parts.push_back(b.CreateShuffleVector(both, picks));
    }
  }
  put(&call, std::move(result));
}

/// cucpu_vote(thread, mode, predicate, mask): all, any, uni, ballot over the named lanes that are here.
void VectorEmitter::emit_vote(llvm::CallInst& call) {
  const auto mode = static_cast<unsigned>(llvm::cast<llvm::ConstantInt>(call.getArgOperand(1))->getZExtValue());
  Value* predicate = call.getArgOperand(2);
  if (!get(call.getArgOperand(3)).shape.is_same_in_chunk()) return refuse("a vote whose lanes name different masks");
  const unsigned parts = lanes_of_warp / width_.lanes;
  Wide result{shapes().of(&call), {}};
  for (unsigned warp = 0; warp < width_.chunks / parts; ++warp) {
    Value* votes = b.getInt32(0);
    Value* here = b.getInt32(0);
    for (unsigned k = 0; k < parts; ++k) {
      const unsigned chunk = warp * parts + k;
      Value* truth = nullptr;
      if (get(predicate).shape.is_varying()) {
        Value* lanes = b.CreateIsNotNull(vector(predicate, chunk));
        if (is_masked())
          lanes = b.CreateSelect(mask_vector(chunk), lanes, llvm::Constant::getNullValue(lanes->getType()));
        truth = b.CreateBitCast(lanes, mask_type());
      } else {
        Value* first = first_lane(predicate, chunk);
        if (is_masked()) first = b.CreateFreeze(first);
        truth = b.CreateSelect(b.CreateIsNotNull(first), mask_[chunk], llvm::ConstantInt::get(mask_type(), 0));
      }
      votes = b.CreateOr(votes, b.CreateShl(b.CreateZExt(truth, b.getInt32Ty()), k * width_.lanes));
      here = b.CreateOr(here, b.CreateShl(b.CreateZExt(mask_[chunk], b.getInt32Ty()), k * width_.lanes));
    }
    for (unsigned k = 0; k < parts; ++k) {
      Value* members = first_lane(call.getArgOperand(3), warp * parts + k);
      Value* named = b.CreateAnd(votes, members);
      Value* all = b.CreateICmpEQ(named, b.CreateAnd(here, members));
      Value* any = b.CreateIsNotNull(named);
      result.parts.push_back(mode == 0   ? b.CreateZExt(all, b.getInt32Ty())
                             : mode == 1 ? b.CreateZExt(any, b.getInt32Ty())
                             : mode == 2 ? b.CreateZExt(b.CreateOr(all, b.CreateNot(any)), b.getInt32Ty())
                                         : named);
    }
  }
  put(&call, std::move(result));
}

}  // namespace cucore::cpu::codegen
