// Bit masks expanded to lanes: see mask_lanes.hpp.
#include "cpu/compiler/passes/mask_lanes.hpp"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>

#include "cpu/compiler/cost/cost_model.hpp"

namespace cucore::cpu::compiler {

using llvm::Value;

namespace {

bool is_mask(const llvm::Type* type) {
  const auto* lanes = llvm::dyn_cast<llvm::FixedVectorType>(type);
  return lanes != nullptr && lanes->getElementType()->isIntegerTy(1);
}

class Lanes {
 public:
  explicit Lanes(llvm::BitCastInst& cast)
      : b_(&cast), type_(llvm::cast<llvm::FixedVectorType>(cast.getType())), bits_(cast.getOperand(0)) {}

  Value* make() {
    Value* lanes = of_comparisons(bits_, cost_model::deepest_comparison);
    return lanes != nullptr ? lanes : of_bits(bits_);
  }

 private:
  /// Null: nothing in `bits` was ever in lanes.
  Value* of_comparisons(Value* bits, unsigned depth) {
    if (const auto* cast = llvm::dyn_cast<llvm::BitCastInst>(bits))
      return cast->getSrcTy() == type_ ? cast->getOperand(0) : nullptr;
    const auto* operation = llvm::dyn_cast<llvm::BinaryOperator>(bits);
    if (operation == nullptr || !operation->isBitwiseLogicOp() || depth == 0) return nullptr;
    Value* first = of_comparisons(operation->getOperand(0), depth - 1);
    Value* second = of_comparisons(operation->getOperand(1), depth - 1);
    if (first == nullptr && second == nullptr) return nullptr;
    if (first == nullptr) first = of_bits(operation->getOperand(0));
    if (second == nullptr) second = of_bits(operation->getOperand(1));
    return b_.CreateBinOp(operation->getOpcode(), first, second);
  }

  /// Every lane has all bits, keeps its own and compares it.
  Value* of_bits(Value* bits) {
    const unsigned lanes = type_->getNumElements();
    llvm::Type* lane = b_.getIntNTy(lanes <= 8 ? 32 : lanes);
    llvm::SmallVector<llvm::Constant*, 32> own;
    for (unsigned k = 0; k < lanes; ++k) own.push_back(llvm::ConstantInt::get(lane, std::uint64_t{1} << k));
    Value* all = b_.CreateVectorSplat(lanes, b_.CreateZExt(bits, lane));
    Value* kept = b_.CreateAnd(all, llvm::ConstantVector::get(own));
    return b_.CreateICmpNE(kept, llvm::Constant::getNullValue(kept->getType()));
  }

  llvm::IRBuilder<> b_;
  llvm::FixedVectorType* type_;
  Value* bits_;
};

}  // namespace

llvm::PreservedAnalyses MaskLanesPass::run(llvm::Function& function, llvm::FunctionAnalysisManager&) {
  llvm::SmallVector<llvm::BitCastInst*, 32> casts;
  for (llvm::Instruction& each : llvm::instructions(function)) {
    auto* cast = llvm::dyn_cast<llvm::BitCastInst>(&each);
    if (cast == nullptr || !is_mask(cast->getType()) || !cast->getSrcTy()->isIntegerTy()) continue;
    const unsigned lanes = llvm::cast<llvm::FixedVectorType>(cast->getType())->getNumElements();
    if (lanes >= 4 && lanes <= 32) casts.push_back(cast);
  }
  for (llvm::BitCastInst* cast : casts) {
    cast->replaceAllUsesWith(Lanes(*cast).make());
    cast->eraseFromParent();
  }
  return casts.empty() ? llvm::PreservedAnalyses::all() : llvm::PreservedAnalyses::none();
}

}  // namespace cucore::cpu::compiler
