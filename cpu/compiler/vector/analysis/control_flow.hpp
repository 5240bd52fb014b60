// The control flow of a scalar kernel as the vector form runs it: an order of its blocks in which lanes that wait
// always catch up with each other, and where lanes that diverge at a branch reconverge.
#pragma once

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/DenseSet.h>
#include <llvm/ADT/STLFunctionalExtras.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/Dominators.h>

#include <vector>

#include "cpu/compiler/ir/convergent_calls.hpp"
#include "cpu/compiler/ir/llvm.hpp"

namespace cucore::cpu::compiler {

using Blocks = std::vector<llvm::BasicBlock*>;
using BlockSet = llvm::DenseSet<const llvm::BasicBlock*>;

/// Metadata of a branch whose first way is the usual one.
inline constexpr const char* usual_way_mark = "cucpu.usual";

class ControlFlow {
 public:
  /// `scalar` is as normalise.hpp leaves it.
  explicit ControlFlow(llvm::Function& scalar);

  /// Whether each loop has one entry. If not, nothing else is known.
  bool is_reducible() const { return is_reducible_; }

  /// Topological but for back edges, the blocks of a loop without gaps: whoever always runs the first block that lanes
  /// wait for never runs a block twice in one iteration of its loop.
  Blocks order;
  unsigned index(const llvm::BasicBlock* block) const { return index_.lookup(block); }
  unsigned loop_depth(const llvm::BasicBlock* block) const { return loops_.getLoopDepth(block); }
  const llvm::Loop* loop_of(const llvm::BasicBlock* block) const { return loops_.getLoopFor(block); }

  /// Reached only by a way that is not the usual one.
  bool is_seldom_run(const llvm::BasicBlock* block) const { return seldom_run_.contains(block); }
  bool dominates(const llvm::BasicBlock* first, const llvm::BasicBlock* other) const {
    return dominators_.dominates(first, other);
  }
  llvm::BasicBlock* immediate_dominator(const llvm::BasicBlock* block) const {
    return dominators_.getNode(block)->getIDom()->getBlock();
  }

  /// Where lanes may come by different ways, or of different iterations of a loop, if they diverge at the branch that
  /// ends `block`; among them where all reconverge.
  Blocks joins_of(llvm::BasicBlock* block) const;
  /// The first block that all lanes reach together whatever way they take from `block`: in the same iteration of each
  /// loop around it, or where all have left that loop. Null if there is none.
  llvm::BasicBlock* reconvergence_point(const llvm::BasicBlock* block) const;

  /// Whether all lanes that can still execute a convergent operation of this kind execute it together, given the
  /// branches at which lanes may diverge. Lanes that can no longer reach one count as gone: they run to their end
  /// first. `iteration`: in an iteration of that loop, of branches in it; who has left it counts as gone.
  bool arrive_together(const Blocks& divergent_branches, llvm::function_ref<bool(const llvm::Instruction&)> is_of_kind,
                       const llvm::Loop* iteration = nullptr) const;
  bool has_convergent_operations() const { return has_barriers_ || has_warp_operations_; }
  bool has_barriers() const { return has_barriers_; }
  bool has_warp_operations() const { return has_warp_operations_; }

  /// By block: instructions of other blocks, and its own phis aside, that it or a later block still uses.
  const llvm::DenseMap<llvm::BasicBlock*, std::vector<llvm::Instruction*>>& live_in() const { return live_in_; }

 private:
  void arrange(const llvm::Loop* loop, const Blocks& sorted);
  Blocks onward(llvm::BasicBlock* block) const;
  void find_reconvergence_points();
  void find_live_values();
  void find_seldom_run();

  llvm::DominatorTree dominators_;
  llvm::LoopInfo loops_;
  llvm::DenseMap<const llvm::BasicBlock*, unsigned> index_;
  std::vector<unsigned> reconvergence_points_;  ///< by block, an index; the number of blocks where there is none
  llvm::DenseMap<llvm::BasicBlock*, std::vector<llvm::Instruction*>> live_in_;
  llvm::DenseSet<const llvm::BasicBlock*> seldom_run_;
  bool is_reducible_ = true;
  bool has_barriers_ = false;
  bool has_warp_operations_ = false;
};

}  // namespace cucore::cpu::compiler
