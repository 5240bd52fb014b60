// Checks before loops instead of in them: see hoist_checks.hpp.
#include "cpu/compiler/passes/hoist_checks.hpp"

#include <llvm/ADT/SetVector.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/Analysis/ScalarEvolutionExpressions.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>
#include <llvm/Transforms/Utils/Cloning.h>
#include <llvm/Transforms/Utils/LoopUtils.h>
#include <llvm/Transforms/Utils/ScalarEvolutionExpander.h>

#include <algorithm>
#include <bit>
#include <set>
#include <vector>

#include "cpu/abi/symbols.hpp"
#include "cpu/compiler/checks/mark_calls.hpp"
#include "cpu/compiler/cost/cost_model.hpp"

namespace cucore::cpu::compiler {
namespace {

using llvm::CallInst;
using llvm::SCEV;
using llvm::Value;

/// With steps of less, in either direction, and fewer than 2^32 iterations, no address computation overflows.
constexpr std::uint64_t largest_step = std::uint64_t{1} << 30;

/// One function's range marks.
class RangeHoister {
 public:
  RangeHoister(llvm::Function& function, llvm::FunctionAnalysisManager& analyses)
      : loops_(analyses.getResult<llvm::LoopAnalysis>(function)),
        dominators_(analyses.getResult<llvm::DominatorTreeAnalysis>(function)),
        evolution_(analyses.getResult<llvm::ScalarEvolutionAnalysis>(function)),
        expander_(evolution_, function.getParent()->getDataLayout(), "check", /*PreserveLCSSA=*/false) {
    for (llvm::Instruction& i : llvm::instructions(function))
      if (is_mark(i, range_mark)) marks_.push_back({.call = llvm::cast<CallInst>(&i)});
  }

  void run() {
    for (Mark& mark : marks_) look_before_loop(mark);
    for (llvm::Loop* const loop : hoisted_from_) double_loop(*loop);
    for (const Mark& mark : marks_) expand(mark);
  }

 private:
  struct Mark {
    CallInst* call;
    llvm::Loop* loop = nullptr;
    Value* holds = nullptr;   ///< before the loop: whether all its iterations are inside; null if that cannot be known
    IntervalBounds bounds{};  ///< before the loop, in twins; else null
  };

  bool is_known_before(const SCEV* expression, const llvm::Loop& loop, const llvm::Instruction* where) {
    return evolution_.isLoopInvariant(expression, &loop) && expander_.isSafeToExpandAt(expression, where);
  }

  struct Backedges {
    const SCEV* most;
    const SCEV* condition = nullptr;  ///< only if this is not negative; null: in any case
  };

  /// The largest backedge-taken count of a loop.
  Backedges most_backedges(const llvm::Loop& loop, llvm::PredicatedScalarEvolution& evolution) {
    const SCEV* known = evolution.getBackedgeTakenCount();
    if (llvm::isa<llvm::SCEVCouldNotCompute>(known)) known = evolution.getSymbolicMaxBackedgeTakenCount();
    if (!llvm::isa<llvm::SCEVCouldNotCompute>(known)) return {known};
    // `i + step < end` in 32 bits, as in unrolled loops: LLVM assumes that i may wrap around, which it cannot if the
    // end is far enough from the largest number.
    const llvm::BasicBlock* const latch = loop.getLoopLatch();
    const auto* const branch = latch != nullptr ? llvm::dyn_cast<llvm::BranchInst>(latch->getTerminator()) : nullptr;
    if (branch == nullptr || branch->isUnconditional() || branch->getSuccessor(0) != loop.getHeader()) return {known};
    const auto* const compare = llvm::dyn_cast<llvm::ICmpInst>(branch->getCondition());
    if (compare == nullptr || compare->getPredicate() != llvm::ICmpInst::ICMP_SLT) return {known};
    const auto* const place = llvm::dyn_cast<llvm::SCEVAddRecExpr>(evolution_.getSCEV(compare->getOperand(0)));
    const SCEV* const end = evolution_.getSCEV(compare->getOperand(1));
    if (place == nullptr || !place->isAffine() || place->getLoop() != &loop) return {known};
    const auto* const step = llvm::dyn_cast<llvm::SCEVConstant>(place->getStepRecurrence(evolution_));
    if (step == nullptr || !place->getType()->isIntegerTy(32) || !step->getAPInt().isStrictlyPositive()) return {known};
    llvm::Type* const wide = llvm::Type::getInt64Ty(compare->getContext());
    const auto number = [&](std::int64_t value) {
      return evolution_.getConstant(wide, static_cast<std::uint64_t>(value));
    };
    const std::int64_t stride = step->getAPInt().getSExtValue();
    const SCEV* const far = evolution_.getSignExtendExpr(end, wide);
    const SCEV* const left = evolution_.getMinusSCEV(far, evolution_.getSignExtendExpr(place->getStart(), wide));
    const SCEV* const rounded = evolution_.getAddExpr(evolution_.getSMaxExpr(left, number(0)), number(stride - 1));
    return {evolution_.getUDivExpr(rounded, number(stride)), evolution_.getMinusSCEV(number(INT32_MAX - stride), far)};
  }

  void look_before_loop(Mark& mark) {
    llvm::Loop* const loop = loops_.getLoopFor(mark.call->getParent());
    if (loop == nullptr || loop->getLoopPreheader() == nullptr) return;
    const RangeMark range(*mark.call);
    const SCEV* interval = evolution_.getSCEV(range.interval);
    llvm::PredicatedScalarEvolution evolution(evolution_, *loop);
    const auto [backedges, condition] = most_backedges(*loop, evolution);
    if (llvm::isa<llvm::SCEVCouldNotCompute>(backedges)) return;
    if (evolution_.getTypeSizeInBits(backedges->getType()) > 64) return;
    if (evolution_.getUnsignedRangeMax(evolution_.applyLoopGuards(backedges, loop))
            .ult(cost_model::fewest_rounds_to_look_before - 1))
      return;
    const auto* const address = evolution.getAsAddRec(range.first);
    if (address == nullptr || address->getLoop() != loop || !address->isAffine()) return;
    // LLVM can prove that numbers do not wrap around only with a known count.
    const bool is_asked = !evolution.getPredicate().isAlwaysTrue();
    if (is_asked && llvm::isa<llvm::SCEVCouldNotCompute>(evolution.getBackedgeTakenCount())) return;

    llvm::Instruction* const where = loop->getLoopPreheader()->getTerminator();
    llvm::IRBuilder<> b(where);
    const SCEV* const step = address->getStepRecurrence(evolution_);
    const SCEV* const repeats = evolution_.getNoopOrZeroExtend(backedges, b.getInt64Ty());
    const SCEV* const last = evolution_.getAddExpr(address->getStart(), evolution_.getMulExpr(step, repeats));
    for (const SCEV* const each : {interval, address->getStart(), step, repeats, last, condition})
      if (each != nullptr && !is_known_before(each, *loop, where)) return;

    const auto value = [&](const SCEV* expression) { return expander_.expandCodeFor(expression, nullptr, where); };
    Value* first = value(address->getStart());
    Value* stride = value(step);
    Value* count = value(repeats);
    const IntervalBounds bounds = load_bounds(b, value(interval), range.beyond);
    Value* holds = b.CreateAnd(is_in_range(b, first, bounds), is_in_range(b, value(last), bounds));
    holds = b.CreateAnd(holds, is_multiple(b, b.CreateOr(first, stride), range.alignment));
    holds = b.CreateAnd(holds,
                        b.CreateICmpULT(b.CreateAdd(stride, b.getInt64(largest_step)), b.getInt64(2 * largest_step)));
    holds = b.CreateAnd(holds, b.CreateICmpULE(count, b.getInt64(UINT32_MAX)));
    if (condition != nullptr) holds = b.CreateAnd(holds, b.CreateICmpSGE(value(condition), b.getInt64(0)));
    if (is_asked)
      holds = b.CreateAnd(holds, b.CreateNot(expander_.expandCodeForPredicate(&evolution.getPredicate(), where)));
    mark.holds = b.CreateFreeze(holds);
    mark.loop = loop;
    hoisted_from_.insert(loop);
  }

  /// Loop versioning: if all checks that can be made before the loop hold, a copy without them runs.
  void double_loop(llvm::Loop& loop) {
    std::vector<Value*> all;
    for (const Mark& mark : marks_)
      if (mark.loop == &loop) all.push_back(mark.holds);
    if (!loop.isInnermost() || !loop.isSafeToClone() || !loop.hasDedicatedExits()) return;
    llvm::formLCSSA(loop, dominators_, &loops_, &evolution_);
    llvm::BasicBlock* const before = loop.getLoopPreheader();
    Value* hold = llvm::IRBuilder<>(before->getTerminator()).CreateAnd(all);
    llvm::BasicBlock* const to_loop = llvm::SplitBlock(before, before->getTerminator(), &dominators_, &loops_);
    llvm::ValueToValueMapTy twins;
    llvm::SmallVector<llvm::BasicBlock*, 16> blocks;
    llvm::cloneLoopWithPreheader(to_loop, before, &loop, twins, ".inside", &loops_, &dominators_, blocks);
    llvm::remapInstructionsInBlocks(blocks, twins);
    auto* const to_twin = llvm::cast<llvm::BasicBlock>(&*twins[to_loop]);
    llvm::ReplaceInstWithInst(before->getTerminator(), llvm::BranchInst::Create(to_twin, to_loop, hold));
    join_exits(loop, twins);
    for (std::size_t n = 0, count = marks_.size(); n < count; ++n) {
      const auto found = twins.find(marks_[n].call);
      if (found == twins.end()) continue;
      auto* const twin = llvm::cast<CallInst>(&*found->second);
      if (marks_[n].loop == &loop) {
        twin->replaceAllUsesWith(llvm::ConstantInt::getTrue(twin->getContext()));
        twin->eraseFromParent();
      } else {
        marks_.push_back({.call = twin, .bounds = bounds_before(loop, *marks_[n].call, to_twin->getTerminator())});
      }
    }
  }

  /// The bounds for all iterations; nothing is inside them if the access may be misaligned. What they were before the
  /// loop stays valid.
  IntervalBounds bounds_before(const llvm::Loop& loop, const CallInst& call, llvm::Instruction* where) {
    const RangeMark range(call);
    if (!loop.isLoopInvariant(range.interval)) return {};
    llvm::SmallVector<const SCEV*, 4> fixed, moving;
    const SCEV* const first = evolution_.getSCEV(range.first);
    const auto* const sum = llvm::dyn_cast<llvm::SCEVAddExpr>(first);
    for (const SCEV* const part : sum != nullptr ? sum->operands() : llvm::ArrayRef(first))
      (evolution_.isLoopInvariant(part, &loop) ? fixed : moving).push_back(part);
    const auto zeros = static_cast<std::uint32_t>(std::countr_zero(range.alignment));
    for (const SCEV* const part : moving)
      if (evolution_.getMinTrailingZeros(part) < zeros) return {};
    const SCEV* const base = fixed.empty() ? evolution_.getZero(first->getType()) : evolution_.getAddExpr(fixed);
    if (!expander_.isSafeToExpandAt(base, where)) return {};
    Value* start = expander_.expandCodeFor(base, nullptr, where);
    llvm::IRBuilder<> b(where);
    IntervalBounds bounds = load_bounds(b, range.interval, range.beyond);
    bounds.size = b.CreateSelect(is_multiple(b, start, range.alignment), bounds.size, b.getInt64(0));
    return bounds;
  }

  /// Values used after the loop may come from its copy, too.
  static void join_exits(const llvm::Loop& loop, llvm::ValueToValueMapTy& twins) {
    llvm::SmallVector<llvm::BasicBlock*, 4> exits;
    loop.getUniqueExitBlocks(exits);
    for (llvm::BasicBlock* const exit : exits) {
      for (llvm::PHINode& phi : exit->phis()) {
        for (unsigned int n = 0, count = phi.getNumIncomingValues(); n < count; ++n) {
          const auto twin = twins.find(phi.getIncomingValue(n));
          phi.addIncoming(twin != twins.end() ? &*twin->second : phi.getIncomingValue(n),
                          llvm::cast<llvm::BasicBlock>(&*twins[phi.getIncomingBlock(n)]));
        }
      }
    }
  }

  static void expand(const Mark& mark) {
    CallInst& call = *mark.call;
    llvm::IRBuilder<> b(&call);
    if (mark.bounds.begin != nullptr) {
      call.replaceAllUsesWith(is_in_range(b, RangeMark(call).first, mark.bounds));
    } else if (mark.holds == nullptr) {
      call.replaceAllUsesWith(look_at(b, RangeMark(call)));
    } else {
      llvm::BasicBlock* const before = call.getParent();
      llvm::MDNode* const seldom = llvm::MDBuilder(b.getContext()).createBranchWeights(1, 1U << 20);
      llvm::Instruction* const asks =
          llvm::SplitBlockAndInsertIfThen(b.CreateNot(mark.holds), &call, /*Unreachable=*/false, seldom);
      b.SetInsertPoint(asks);
      Value* answer = look_at(b, RangeMark(call));
      b.SetInsertPoint(&call);
      llvm::PHINode* const both = b.CreatePHI(b.getInt1Ty(), 2);
      both->addIncoming(b.getTrue(), before);
      both->addIncoming(answer, asks->getParent());
      call.replaceAllUsesWith(both);
    }
    call.eraseFromParent();
  }

  llvm::LoopInfo& loops_;
  llvm::DominatorTree& dominators_;
  llvm::ScalarEvolution& evolution_;
  llvm::SCEVExpander expander_;
  llvm::SetVector<llvm::Loop*> hoisted_from_;
  std::vector<Mark> marks_;
};

/// Only services read the thread state that a plain loop over threads writes, and they are rarely called: write it
/// there.
void sink_thread_state(llvm::AllocaInst& state, const llvm::DominatorTree& dominators) {
  std::vector<llvm::StoreInst*> stores;
  std::vector<CallInst*> calls;
  llvm::SmallVector<llvm::Use*, 16> uses;
  const auto add_uses = [&](Value& of) {
    for (llvm::Use& use : of.uses()) uses.push_back(&use);
  };
  add_uses(state);
  while (!uses.empty()) {
    llvm::Use& use = *uses.pop_back_val();
    auto* const store = llvm::dyn_cast<llvm::StoreInst>(use.getUser());
    auto* const call = llvm::dyn_cast<CallInst>(use.getUser());
    if (llvm::isa<llvm::GetElementPtrInst>(use.getUser())) {
      add_uses(*use.getUser());
    } else if (store != nullptr && use.getOperandNo() == store->getPointerOperandIndex()) {
      if (store->getParent() != state.getParent()) stores.push_back(store);
    } else if (call != nullptr && call->isArgOperand(&use) && call->onlyReadsMemory(call->getArgOperandNo(&use)) &&
               call->doesNotCapture(call->getArgOperandNo(&use))) {
      calls.push_back(call);
    } else {
      return;
    }
  }
  for (const llvm::StoreInst* const store : stores)
    for (const CallInst* const call : calls)
      if (!dominators.dominates(store, call)) return;
  for (llvm::StoreInst* const store : stores) {
    for (CallInst* const call : calls) store->clone()->insertBefore(call);
    store->eraseFromParent();
  }
}

/// Variables of the threads of a plain loop live as long as the loop.
void expand_lives(llvm::Function& function) {
  std::vector<CallInst*> begins, ends;
  std::vector<llvm::Instruction*> returns;
  for (llvm::Instruction& i : llvm::instructions(function)) {
    if (is_mark(i, begin_mark)) begins.push_back(llvm::cast<CallInst>(&i));
    if (is_mark(i, end_mark)) ends.push_back(llvm::cast<CallInst>(&i));
    if (llvm::isa<llvm::ReturnInst>(i)) returns.push_back(&i);
  }
  llvm::BasicBlock& entry = function.getEntryBlock();
  const auto is_known_at_entry = [&](Value* value) {
    const auto* const i = llvm::dyn_cast<llvm::Instruction>(value);
    return i == nullptr || i->getParent() == &entry;
  };
  const auto lives_throughout = [&](const CallInst* mark) {
    return is_known_at_entry(mark->getArgOperand(0)) && llvm::isa<llvm::AllocaInst>(mark->getArgOperand(1));
  };
  const bool is_loop = function.getName() == run_block_symbol &&
                       std::all_of(begins.begin(), begins.end(), lives_throughout) &&
                       std::all_of(ends.begin(), ends.end(), lives_throughout);
  if (!is_loop) {
    for (const auto* const marks : {&begins, &ends})
      for (CallInst* const mark : *marks) expand_life(*mark, mark);
  } else {
    std::set<const Value*> begun, ended;
    for (CallInst* const mark : begins)
      if (begun.insert(mark->getArgOperand(1)).second) expand_life(*mark, entry.getTerminator());
    for (CallInst* const mark : ends) {
      if (!ended.insert(mark->getArgOperand(1)).second) continue;
      for (llvm::Instruction* const each : returns) expand_life(*mark, each);
    }
  }
  for (const auto* const marks : {&begins, &ends})
    for (CallInst* const mark : *marks) mark->eraseFromParent();
}

}  // namespace

llvm::PreservedAnalyses HoistChecksPass::run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses) {
  if (function.getName() == run_block_symbol)
    for (llvm::Instruction& i : function.getEntryBlock())
      if (auto* const state = llvm::dyn_cast<llvm::AllocaInst>(&i))
        sink_thread_state(*state, analyses.getResult<llvm::DominatorTreeAnalysis>(function));
  RangeHoister(function, analyses).run();
  expand_lives(function);
  return llvm::PreservedAnalyses::none();
}

}  // namespace cucore::cpu::compiler
