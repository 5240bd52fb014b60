// Where lanes may overtake others, and what they pass then: see overtaking.hpp.
#include "cpu/compiler/vector/analysis/overtaking.hpp"

#include <llvm/ADT/SetVector.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/PatternMatch.h>

#include <algorithm>
#include <optional>

#include "cpu/compiler/vector/analysis/polls.hpp"

namespace cucore::cpu::compiler {

using llvm::BasicBlock;
using llvm::CallInst;
using llvm::Instruction;
using llvm::Loop;
using llvm::Value;

namespace {

const Value* members_of(const Instruction& operation) {
  const auto& call = llvm::cast<CallInst>(operation);
  const llvm::StringRef name = call.getCalledFunction()->getName();
  if (name == "cucpu_activemask" || name.starts_with(of_fragments)) return nullptr;
  return call.getArgOperand(call.arg_size() - 1);
}

bool names_all(const Value* members) {
  const auto* number = llvm::dyn_cast_or_null<llvm::ConstantInt>(members);
  return number != nullptr && number->isMinusOne();
}

/// Whether what a lane brings to a vote is not zero if a condition is true, or if it is false.
bool implies_yes(const Value* condition, bool is_true, const CallInst& vote) {
  namespace match = llvm::PatternMatch;
  const llvm::DataLayout& layout = vote.getDataLayout();
  const Value* brought = vote.getArgOperand(2);
  const Value* number = nullptr;
  const auto is_implied = [](std::optional<bool> known) { return known.value_or(false); };
  // A sign that was asked for is shifted down.
  if (match::match(brought, match::m_LShr(match::m_Not(match::m_Value(number)), match::m_SpecificInt(31))))
    return is_implied(llvm::isImpliedCondition(condition, llvm::CmpInst::ICMP_SGT, number,
                                               llvm::Constant::getAllOnesValue(number->getType()), layout, is_true));
  if (match::match(brought, match::m_LShr(match::m_Value(number), match::m_SpecificInt(31))))
    return is_implied(llvm::isImpliedCondition(condition, llvm::CmpInst::ICMP_SLT, number,
                                               llvm::Constant::getNullValue(number->getType()), layout, is_true));
  if (!match::match(brought, match::m_ZExt(match::m_Value(number))) || !number->getType()->isIntegerTy(1)) return false;
  return is_implied(llvm::isImpliedCondition(condition, number, layout, is_true));
}

/// Whether lanes that go from `from`, which ends an iteration, to its next one have answered the vote with yes.
bool goes_on_if_true(const CallInst& vote, BasicBlock* from, BasicBlock* header, const ControlFlow& flow) {
  if (!flow.dominates(vote.getParent(), from)) return false;
  BasicBlock* next = header;
  for (BasicBlock* at = from;; next = at, at = flow.immediate_dominator(at)) {
    const auto* branch = llvm::dyn_cast<llvm::BranchInst>(at->getTerminator());
    if (branch != nullptr && branch->isConditional() && branch->getSuccessor(0) != branch->getSuccessor(1)) {
      for (const unsigned way : {0U, 1U}) {
        // The only way that leads on, and nothing else leads there.
        const bool leads_on =
            branch->getSuccessor(way) == next && (next == header || next->getSinglePredecessor() == at);
        if (leads_on && implies_yes(branch->getCondition(), way == 0, vote)) return true;
      }
    }
    if (at == vote.getParent()) return false;
  }
}

bool is_warp_operation(const BasicBlock& block) {
  const Instruction& first = block.front();
  return is_convergent(first) && !is_block_barrier(first) && !is_poll(first);
}

bool may_write(const BasicBlock& block) {
  return std::any_of(block.begin(), block.end(), [](const Instruction& each) { return may_change_memory(each); });
}

/// All that lanes of the warp can be at while others poll: what leads to a poll, and what follows that.
class Surroundings {
 public:
  Surroundings(BasicBlock* poll, const ControlFlow& flow) : flow_(flow), around_poll_(flow.loop_of(poll)) {
    if (around_poll_ == nullptr || around_poll_->getLoopLatch() == nullptr) return;
    loop_ = around_poll_;
    for (const Loop* outer = loop_->getParentLoop(); outer != nullptr && !has_barrier(*outer);
         outer = outer->getParentLoop())
      loop_ = outer;
    for (BasicBlock* block : loop_->blocks())
      if (last_ == nullptr || flow.index(block) > flow.index(last_)) last_ = block;
    llvm::SetVector<BasicBlock*> behind;  // up to barriers
    behind.insert(poll);
    for (std::size_t n = 0; n < behind.size(); ++n) {  // what leads there
      for (BasicBlock* before : llvm::predecessors(behind[n]))
        if (!is_block_barrier(before->front())) behind.insert(before);
    }
    for (std::size_t n = 0; n < behind.size(); ++n) {
      if (!is_block_barrier(behind[n]->front())) behind.insert(llvm::succ_begin(behind[n]), llvm::succ_end(behind[n]));
    }
    for (BasicBlock* block : behind)
      if (flow.index(block) > flow.index(last_)) passed_.push_back(block);
  }

  bool may_be_overtaken() const {
    return loop_ != nullptr && !has_barrier(*loop_) && changes_nothing() && holds_its_lanes() && is_passed_at_once();
  }

  BasicBlock* latch() const { return around_poll_->getLoopLatch(); }
  BasicBlock* last() const { return last_; }
  const Blocks& passed() const { return passed_; }

 private:
  static bool has_barrier(const Loop& loop) {
    return std::any_of(loop.block_begin(), loop.block_end(),
                       [](const BasicBlock* block) { return is_block_barrier(block->front()); });
  }

  /// In the loop: so it makes no difference which of its lanes are how far in it.
  bool changes_nothing() const {
    return std::none_of(loop_->block_begin(), loop_->block_end(),
                        [](const BasicBlock* block) { return may_write(*block); });
  }

  /// Lanes of an iteration of an outer loop that do not poll wait for those that do, on a GPU too: at an operation that
  /// names all lanes of the loop, past which no way leads out of it.
  bool holds_its_lanes() const {
    for (const BasicBlock* block : loop_->blocks()) {
      if (!is_warp_operation(*block)) continue;
      if (!names_all(members_of(block->front())) && loop_of_members(block->front(), flow_) != flow_.loop_of(block))
        return false;
    }
    if (loop_ == around_poll_) return true;
    llvm::SetVector<BasicBlock*> free;
    free.insert(loop_->getHeader());
    for (std::size_t n = 0; n < free.size(); ++n) {
      if (is_warp_operation(*free[n]) && flow_.loop_of(free[n]) == loop_) continue;
      for (BasicBlock* next : llvm::successors(free[n])) {
        if (!loop_->contains(next) || next == loop_->getHeader()) return false;
        free.insert(next);
      }
    }
    return true;
  }

  /// Behind the loop, without waiting for other lanes or blocks before the barrier.
  bool is_passed_at_once() const {
    return std::all_of(passed_.begin(), passed_.end(), [&](BasicBlock* block) {
      if (is_block_barrier(block->front())) return true;
      return !is_convergent(block->front()) &&
             std::all_of(llvm::succ_begin(block), llvm::succ_end(block),
                         [&](BasicBlock* next) { return flow_.index(next) > flow_.index(last_); });
    });
  }

  const ControlFlow& flow_;
  const Loop* around_poll_;
  const Loop* loop_ = nullptr;  ///< the outermost around the poll that has no barrier of the block
  BasicBlock* last_ = nullptr;  ///< of it
  Blocks passed_;               ///< behind it
};

}  // namespace

const Loop* loop_of_members(const Instruction& operation, const ControlFlow& flow) {
  const auto* members = llvm::dyn_cast_or_null<llvm::PHINode>(members_of(operation));
  const Loop* loop = flow.loop_of(operation.getParent());
  if (members == nullptr || loop == nullptr || members->getParent() != loop->getHeader()) return nullptr;
  for (unsigned n = 0; n < members->getNumIncomingValues(); ++n) {
    BasicBlock* from = members->getIncomingBlock(n);
    if (!loop->contains(from)) {
      if (!names_all(members->getIncomingValue(n))) return nullptr;
      continue;
    }
    constexpr std::uint64_t ballot = 3;
    const auto* vote = llvm::dyn_cast<CallInst>(members->getIncomingValue(n));
    if (vote == nullptr || vote->getCalledFunction() == nullptr || vote->getCalledFunction()->getName() != "cucpu_vote")
      return nullptr;
    if (llvm::cast<llvm::ConstantInt>(vote->getArgOperand(1))->getZExtValue() != ballot) return nullptr;
    if (members_of(*vote) != members || flow.loop_of(vote->getParent()) != loop) return nullptr;
    if (!goes_on_if_true(*vote, from, loop->getHeader(), flow)) return nullptr;
  }
  return loop;
}

Overtaking::Overtaking(const ControlFlow& flow, const StrideAnalysis& masked) {
  if (poll_together(flow, masked)) return;
  for (BasicBlock* block : flow.order) {
    if (!is_poll(block->front()) || others_change_nothing(block, flow, masked)) continue;
    const Surroundings around(block, flow);
    if (!around.may_be_overtaken()) continue;
    polls_.insert(block);
    ends_[around.latch()] = around.last();
    passed_twice_.insert(around.passed().begin(), around.passed().end());
  }
}

}  // namespace cucore::cpu::compiler
