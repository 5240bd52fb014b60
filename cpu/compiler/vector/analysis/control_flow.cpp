// The order of blocks in the vector form: see control_flow.hpp.
#include "cpu/compiler/vector/analysis/control_flow.hpp"

#include <llvm/ADT/PostOrderIterator.h>
#include <llvm/ADT/SetVector.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/Instructions.h>

#include <algorithm>

namespace cucore::cpu::compiler {

using llvm::BasicBlock;
using llvm::Instruction;

ControlFlow::ControlFlow(llvm::Function& scalar) : dominators_(scalar), loops_(dominators_) {
  const llvm::ReversePostOrderTraversal<llvm::Function*> traversal(&scalar);
  const Blocks sorted(traversal.begin(), traversal.end());
  arrange(nullptr, sorted);
  for (unsigned i = 0; i < order.size(); ++i) index_[order[i]] = i;
  for (BasicBlock* block : order) {
    for (BasicBlock* next : llvm::successors(block)) {
      if (index(next) > index(block)) continue;
      const llvm::Loop* loop = loops_.getLoopFor(next);
      if (loop == nullptr || loop->getHeader() != next || !loop->contains(block)) {
        is_reducible_ = false;
        return;
      }
    }
    for (const Instruction& instruction : *block) {
      if (is_convergent(instruction)) (is_block_barrier(instruction) ? has_barriers_ : has_warp_operations_) = true;
    }
  }
  find_reconvergence_points();
  find_live_values();
  find_seldom_run();
}

void ControlFlow::find_seldom_run() {
  for (const BasicBlock* block : order) {
    if (!block->getTerminator()->hasMetadata(usual_way_mark)) continue;
    llvm::SmallVector<BasicBlock*, 16> dominated;
    dominators_.getDescendants(block->getTerminator()->getSuccessor(1), dominated);
    seldom_run_.insert(dominated.begin(), dominated.end());
  }
}

/// Appends the blocks of `loop` (the whole function if null), inner loops in one piece where their header stands.
void ControlFlow::arrange(const llvm::Loop* loop, const Blocks& sorted) {
  for (BasicBlock* block : sorted) {
    const llvm::Loop* inner = loops_.getLoopFor(block);
    if (loop != nullptr && !loop->contains(block)) continue;
    while (inner != nullptr && inner != loop && inner->getParentLoop() != loop) inner = inner->getParentLoop();
    if (inner == loop) {
      order.push_back(block);
    } else if (inner->getHeader() == block) {
      arrange(inner, sorted);
    }
  }
}

/// The successors without another iteration: lanes that go back to a loop's head reconverge with its other lanes only
/// after the loop. A block of the loop that all pass in their next iteration is not such a place.
Blocks ControlFlow::onward(BasicBlock* block) const {
  Blocks all;
  for (BasicBlock* next : llvm::successors(block)) {
    if (index(next) > index(block)) {
      all.push_back(next);
      continue;
    }
    llvm::SmallVector<BasicBlock*> exits;
    loops_.getLoopFor(next)->getUniqueExitBlocks(exits);
    all.insert(all.end(), exits.begin(), exits.end());
  }
  return all;
}

/// Post-dominators of the graph without back edges, from the last block on, so that successors are done first.
void ControlFlow::find_reconvergence_points() {
  const auto none = static_cast<unsigned>(order.size());
  reconvergence_points_.assign(order.size() + 1, none);
  for (unsigned i = none; i-- > 0;) {
    const Blocks next = onward(order[i]);
    unsigned common = next.empty() ? none : index(next.front());
    for (BasicBlock* other : next) {
      for (unsigned at = index(other); at != common;) {
        unsigned& earlier = at < common ? at : common;
        earlier = reconvergence_points_[earlier];
      }
    }
    reconvergence_points_[i] = common;
  }
}

BasicBlock* ControlFlow::reconvergence_point(const BasicBlock* block) const {
  const unsigned point = reconvergence_points_[index(block)];
  return point < order.size() ? order[point] : nullptr;
}

/// All lanes in a loop are in the same iteration, so lanes of different iterations join only after the loop: what is
/// uniform in an iteration stays so for the lanes that are left.
Blocks ControlFlow::joins_of(BasicBlock* block) const {
  BasicBlock* const point = reconvergence_point(block);
  llvm::DenseMap<const BasicBlock*, BasicBlock*> way;  // by block, where the lanes that come there joined last
  llvm::SetVector<BasicBlock*> merges;
  auto arrive = [&](BasicBlock* at, BasicBlock* from) {
    auto [known, is_first] = way.try_emplace(at, from);
    if (is_first || known->second == from) return;
    known->second = at;
    merges.insert(at);
  };
  for (const llvm::Loop* left = loop_of(block); left != nullptr && (point == nullptr || !left->contains(point));
       left = left->getParentLoop()) {
    llvm::SmallVector<BasicBlock*> exits;
    left->getExitBlocks(exits);
    for (BasicBlock* exit : exits) {
      way[exit] = exit;
      merges.insert(exit);
    }
  }
  for (BasicBlock* next : llvm::successors(block)) {
    if (index(next) > index(block)) arrive(next, next);
  }
  for (std::size_t i = index(block) + 1; i < order.size(); ++i) {
    const auto here = way.find(order[i]);
    if (here == way.end() || order[i] == point) continue;
    BasicBlock* const from = here->second;
    for (BasicBlock* next : llvm::successors(order[i])) {
      if (index(next) > i) arrive(next, from);
    }
  }
  if (point != nullptr) merges.insert(point);
  return {merges.begin(), merges.end()};
}

bool ControlFlow::arrive_together(const Blocks& divergent_branches,
                                  llvm::function_ref<bool(const Instruction&)> is_of_kind,
                                  const llvm::Loop* iteration) const {
  if (!has_convergent_operations()) return true;
  // The blocks from which a convergent operation can be reached, and among them which all pass.
  llvm::SetVector<BasicBlock*> convergent;
  for (BasicBlock* block : order) {
    if (std::any_of(block->begin(), block->end(), is_of_kind)) convergent.insert(block);
  }
  llvm::SetVector<BasicBlock*> relevant(convergent.begin(), convergent.end());
  const BasicBlock* const begin = iteration != nullptr ? iteration->getHeader() : nullptr;
  for (std::size_t i = 0; i < relevant.size(); ++i) {
    if (relevant[i] == begin) continue;
    for (BasicBlock* before : llvm::predecessors(relevant[i])) relevant.insert(before);
  }
  auto relevant_of = [&](const auto& blocks) {
    Blocks found;
    for (BasicBlock* block : blocks) {
      if (relevant.contains(block) && block != begin) found.push_back(block);
    }
    return found;
  };
  auto followers = [&](BasicBlock* block) { return relevant_of(llvm::successors(block)); };
  llvm::DenseMap<BasicBlock*, llvm::DenseSet<BasicBlock*>> passes;  // post-dominators of the graph without back edges
  for (auto block = order.rbegin(); block != order.rend(); ++block) {
    if (!relevant.contains(*block)) continue;
    llvm::DenseSet<BasicBlock*> all;
    if (const Blocks next = relevant_of(onward(*block)); !next.empty()) {
      for (BasicBlock* candidate : passes[next.front()]) {
        if (std::all_of(next.begin(), next.end(), [&](BasicBlock* n) { return passes[n].contains(candidate); }))
          all.insert(candidate);
      }
    }
    all.insert(*block);
    passes[*block] = std::move(all);
  }
  for (BasicBlock* branch : divergent_branches) {
    if (!relevant.contains(branch) || followers(branch).size() < 2) continue;
    const Blocks first = followers(branch);
    llvm::SetVector<BasicBlock*> between(first.begin(), first.end());
    for (std::size_t i = 0; i < between.size(); ++i) {
      if (between[i] != branch && passes[branch].contains(between[i])) continue;  // all pass it
      if (convergent.contains(between[i])) return false;
      for (BasicBlock* next : followers(between[i])) between.insert(next);
    }
  }
  return true;
}

void ControlFlow::find_live_values() {
  llvm::DenseMap<BasicBlock*, llvm::SetVector<Instruction*>> live;
  auto needs = [&](BasicBlock* block, llvm::Value* value) {
    auto* used = llvm::dyn_cast<Instruction>(value);
    return used != nullptr && used->getParent() != block && live[block].insert(used);
  };
  for (bool changed = true; changed;) {
    changed = false;
    for (auto at = order.rbegin(); at != order.rend(); ++at) {
      BasicBlock* block = *at;
      for (Instruction& instruction : *block) {
        if (llvm::isa<llvm::PHINode>(instruction)) continue;
        for (llvm::Value* operand : instruction.operands()) changed |= needs(block, operand);
      }
      for (BasicBlock* next : llvm::successors(block)) {
        const std::vector<Instruction*> wanted(live[next].begin(), live[next].end());
        for (Instruction* value : wanted) changed |= needs(block, value);
        for (llvm::PHINode& phi : next->phis()) changed |= needs(block, phi.getIncomingValueForBlock(block));
      }
    }
  }
  for (BasicBlock* block : order) live_in_[block] = {live[block].begin(), live[block].end()};
}

}  // namespace cucore::cpu::compiler
