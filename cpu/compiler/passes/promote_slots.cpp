// Stack slots to values, some at a time: see promote_slots.hpp.
#include "cpu/compiler/passes/promote_slots.hpp"

#include <llvm/Analysis/AssumptionCache.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/Instructions.h>
#include <llvm/Transforms/Utils/PromoteMemToReg.h>

#include <algorithm>
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

}  // namespace

llvm::PreservedAnalyses PromoteSlotsPass::run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses) const {
  std::vector<llvm::AllocaInst*> plain, with_phis;
  for (llvm::Instruction& each : function.getEntryBlock()) {
    auto* const slot = llvm::dyn_cast<llvm::AllocaInst>(&each);
    if (slot == nullptr || !llvm::isAllocaPromotable(slot)) continue;
    (has_phis(*slot) ? with_phis : plain).push_back(slot);
  }
  if (with_phis.size() * function.size() < cost_model::most_slots_times_blocks) return llvm::PreservedAnalyses::all();
  auto& dominators = analyses.getResult<llvm::DominatorTreeAnalysis>(function);
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
  llvm::PreservedAnalyses preserved;
  preserved.preserveSet<llvm::CFGAnalyses>();
  return preserved;
}

}  // namespace cucore::cpu::compiler
