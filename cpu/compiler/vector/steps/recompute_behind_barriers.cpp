// Values computed again behind barriers: see recompute_behind_barriers.hpp.
#include "cpu/compiler/vector/steps/recompute_behind_barriers.hpp"

#include <llvm/ADT/SetVector.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/Instructions.h>
#include <llvm/Transforms/Utils/Local.h>

#include <optional>

#include "cpu/compiler/cost/cost_model.hpp"
#include "cpu/compiler/vector/analysis/state_fields.hpp"

namespace cucore::cpu::compiler {

using llvm::BasicBlock;
using llvm::Instruction;
using llvm::Value;

namespace {

class Recomputation {
 public:
  Recomputation(const ControlFlow& flow, const StrideAnalysis& strides) : flow_(flow), strides_(strides) {}

  bool run() {
    llvm::SetVector<Instruction*> kept;
    for (BasicBlock* block : flow_.order) {
      if (!is_block_barrier(block->front())) continue;
      for (Instruction* value : flow_.live_in().lookup(block->getSingleSuccessor())) {
        if (price(value, cost_model::most_remade_operations)) kept.insert(value);
      }
    }
    bool changed = false;
    for (Instruction* value : kept) changed |= recompute(value);
    for (Instruction* value : llvm::reverse(kept)) {
      if (value->use_empty()) value->eraseFromParent();
    }
    return changed;
  }

 private:
  /// What is the same in all lanes is kept, once for all of them.
  bool is_kept(const Value* value) const { return llvm::isa<llvm::Constant>(value) || strides_.of(value).is_uniform(); }

  /// Operations that the value takes from what is kept and from what the thread is, if at most `limit`. Nothing that
  /// may wrap around, which would be checked again.
  std::optional<unsigned> price(const Value* value, unsigned limit) const {
    const auto* instruction = llvm::dyn_cast<Instruction>(value);
    if (instruction == nullptr || is_kept(value)) return {};
    if (is_thread_field(instruction)) return 0;
    const bool is_operation =
        llvm::isa<llvm::BinaryOperator, llvm::CastInst, llvm::CmpInst, llvm::SelectInst, llvm::GetElementPtrInst>(
            instruction) &&
        !instruction->isIntDivRem() && !strides_.checks(instruction);
    if (!is_operation || limit == 0) return {};
    unsigned total = 1;
    for (const Value* operand : instruction->operands()) {
      if (is_kept(operand)) continue;
      const auto more = price(operand, limit - 1);
      if (!more) return {};
      total += *more;
      if (total > limit) return {};
    }
    return total;
  }

  bool is_thread_field(const Instruction* instruction) const {
    const auto* load = llvm::dyn_cast<llvm::LoadInst>(instruction);
    return load != nullptr && thread_field(load->getPointerOperand(), *load->getFunction()).has_value();
  }

  bool recompute(Instruction* value) {
    llvm::SetVector<BasicBlock*> before_barriers;
    before_barriers.insert(value->getParent());
    for (std::size_t i = 0; i < before_barriers.size(); ++i) {
      if (is_block_barrier(before_barriers[i]->front())) continue;
      for (BasicBlock* next : llvm::successors(before_barriers[i])) before_barriers.insert(next);
    }
    llvm::DenseMap<BasicBlock*, Value*> again;
    bool changed = false;
    for (llvm::Use& use : llvm::make_early_inc_range(value->uses())) {
      auto* user = llvm::cast<Instruction>(use.getUser());
      auto* phi = llvm::dyn_cast<llvm::PHINode>(user);
      BasicBlock* block = phi != nullptr ? phi->getIncomingBlock(use) : user->getParent();
      if (before_barriers.contains(block)) continue;
      Value*& made = again[block];
      if (made == nullptr) made = copy(value, &*block->getFirstInsertionPt());
      use.set(made);
      changed = true;
    }
    return changed;
  }

  Value* copy(Value* value, Instruction* before) {
    auto* instruction = llvm::dyn_cast<Instruction>(value);
    if (instruction == nullptr || is_kept(value)) return value;
    Instruction* made = instruction->clone();
    for (llvm::Use& operand : made->operands()) operand.set(copy(operand.get(), before));
    made->insertBefore(before);
    return made;
  }

  const ControlFlow& flow_;
  const StrideAnalysis& strides_;
};

}  // namespace

bool recompute_behind_barriers(const ControlFlow& flow, const StrideAnalysis& strides) {
  return Recomputation(flow, strides).run();
}

}  // namespace cucore::cpu::compiler
