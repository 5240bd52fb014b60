// Masks of lanes, as bits and as vectors: see active_lanes.hpp.
#include "cpu/compiler/vector/state/active_lanes.hpp"

#include <utility>

#include "cpu/compiler/vector/analysis/width.hpp"

namespace cucore::cpu::compiler {

using llvm::Value;

void ActiveLanes::set_all(unsigned chunks) {
  kind_ = Kind::All;
  bits_.assign(chunks, llvm::Constant::getAllOnesValue(b.getIntNTy(lanes_)));
  forget_vectors();
}

void ActiveLanes::set(Parts bits, Kind kind) {
  kind_ = kind;
  bits_ = std::move(bits);
  forget_vectors();
}

void ActiveLanes::restore(const State& state) {
  kind_ = state.kind;
  bits_ = state.bits;
  vectors_ = state.vectors;
}

Value* ActiveLanes::bits_of_warp(unsigned warp) {
  const unsigned parts = warp_lanes / lanes_;
  Value* all = b.getInt32(0);
  for (unsigned k = 0; k < parts; ++k) {
    Value* bits = b.CreateZExt(bits_[warp * parts + k], b.getInt32Ty());
    all = b.CreateOr(all, b.CreateShl(bits, k * lanes_));
  }
  return all;
}

Value* ActiveLanes::vector(unsigned chunk) {
  if (vectors_[chunk] == nullptr)
    vectors_[chunk] = b.CreateBitCast(bits_[chunk], llvm::FixedVectorType::get(b.getInt1Ty(), lanes_), "lanes");
  return vectors_[chunk];
}

Value* ActiveLanes::any() { return is_any_set(b, bits_); }

Value* ActiveLanes::last(unsigned chunk) {
  Value* highest = b.getInt32(lanes_ - 1);
  if (!is_partial()) return highest;
  Value* above = b.CreateBinaryIntrinsic(llvm::Intrinsic::ctlz, bits_[chunk], b.getFalse());
  Value* lane = b.CreateSub(highest, b.CreateZExtOrTrunc(above, b.getInt32Ty()));
  return b.CreateAnd(lane, highest);
}

Value* is_any_set(llvm::IRBuilder<>& b, llvm::ArrayRef<Value*> masks) {
  Value* any = masks[0];
  for (Value* mask : masks.drop_front()) any = b.CreateOr(any, mask);
  return b.CreateIsNotNull(any);
}

Value* are_equal(llvm::IRBuilder<>& b, llvm::ArrayRef<Value*> masks, llvm::ArrayRef<Value*> expected) {
  Value* differs = b.CreateXor(masks[0], expected[0]);
  for (std::size_t k = 1; k < masks.size(); ++k) {
    differs = b.CreateOr(differs, b.CreateXor(masks[k], expected[k]));
  }
  return b.CreateIsNull(differs);
}

}  // namespace cucore::cpu::compiler
