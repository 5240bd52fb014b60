// Stack slots to values, some at a time: see promote_slots.hpp.
#include "cpu/compiler/passes/promote_slots.hpp"

#include <llvm/Analysis/AssumptionCache.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/Instructions.h>
#include <llvm/Transforms/Utils/PromoteMemToReg.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "cpu/compiler/cost/cost_model.hpp"

namespace cucore::cpu::compiler {
namespace {

/// Written at several places and used in several blocks: its values join in phis, which have to be placed.
bool has_phis(const llvm::AllocaInst& slot) {
  unsigned stores = 0;
  const llvm::BasicBlock* block = nullptr;
  bool is_in_one_block = true;
  for (const llvm::User* const user : slot.users()) {
    const auto* const instruction = llvm::dyn_cast<llvm::Instruction>(user);
    if (instruction == nullptr) return true;
    if (llvm::isa<llvm::StoreInst>(instruction)) ++stores;
    if (block == nullptr) block = instruction->getParent();
    is_in_one_block = is_in_one_block && block == instruction->getParent();
  }
  return stores > 1 && !is_in_one_block;
}

/// The store of a constant in the entry block with which a slot begins, if nothing can read that: the slot is written
/// at one other place, and read only behind it.
llvm::StoreInst* unread_beginning(const llvm::AllocaInst& slot, const llvm::DominatorTree& dominators) {
  llvm::StoreInst* first = nullptr;
  llvm::StoreInst* second = nullptr;
  for (llvm::User* const user : const_cast<llvm::AllocaInst&>(slot).users()) {
    auto* const store = llvm::dyn_cast<llvm::StoreInst>(user);
    if (store == nullptr) continue;
    if (second != nullptr) return nullptr;
    second = std::exchange(first, store);
  }
  if (second == nullptr) return nullptr;
  if (dominators.dominates(second, first)) std::swap(first, second);
  if (first->getParent() != slot.getParent() || !llvm::isa<llvm::Constant>(first->getValueOperand())) return nullptr;
  for (const llvm::User* const user : slot.users()) {
    const auto* const load = llvm::dyn_cast<llvm::LoadInst>(user);
    if (load != nullptr && !dominators.dominates(second, load)) return nullptr;
  }
  return first;
}

}  // namespace

llvm::PreservedAnalyses PromoteSlotsPass::run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses) const {
  std::vector<llvm::AllocaInst*> plain, with_phis;
  auto& dominators = analyses.getResult<llvm::DominatorTreeAnalysis>(function);
  for (llvm::Instruction& each : function.getEntryBlock()) {
    auto* const slot = llvm::dyn_cast<llvm::AllocaInst>(&each);
    if (slot == nullptr || !llvm::isAllocaPromotable(slot)) continue;
    if (llvm::StoreInst* const unread = unread_beginning(*slot, dominators)) unread->eraseFromParent();
    (has_phis(*slot) ? with_phis : plain).push_back(slot);
  }
  llvm::PreservedAnalyses preserved;
  preserved.preserveSet<llvm::CFGAnalyses>();
  if (with_phis.size() * function.size() < cost_model::most_slots_times_blocks) return preserved;
  auto& assumptions = analyses.getResult<llvm::AssumptionAnalysis>(function);
  if (!plain.empty()) llvm::PromoteMemToReg(plain, dominators, &assumptions);
  for (std::size_t first = 0; first < with_phis.size(); first += cost_model::slots_at_a_time) {
    if (!may_go_on_()) {
      *has_left_ = true;
      break;
    }
    const std::size_t count = std::min(cost_model::slots_at_a_time, with_phis.size() - first);
    llvm::PromoteMemToReg(llvm::ArrayRef(with_phis).slice(first, count), dominators, &assumptions);
  }
  return preserved;
}

}  // namespace cucore::cpu::compiler
