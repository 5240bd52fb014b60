// The control flow of a scalar kernel as the vector form runs it: an order of its blocks in which pending lanes always
// catch up with each other, and where lanes that a branch divides meet again.
#pragma once

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/DenseSet.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/Dominators.h>

#include <string>
#include <vector>

#include "cpu/compiler/ir/convergent_calls.hpp"
#include "cpu/compiler/ir/llvm.hpp"

namespace cucore::cpu::codegen {

using Blocks = std::vector<llvm::BasicBlock*>;

class VectorFlow {
 public:
  /// `scalar` has simplified loops in closed form, no switches and one return.
  explicit VectorFlow(llvm::Function& scalar);

  /// Why the vector form cannot run this control flow; empty if it can.
  std::string refusal;

  /// Topological but for back edges, the blocks of a loop without gaps: whoever always runs the first block that lanes
  /// wait for never runs a block twice in one turn of its loop.
  Blocks order;
  unsigned index(const llvm::BasicBlock* block) const { return index_.lookup(block); }
  unsigned loop_depth(const llvm::BasicBlock* block) const { return loops_.getLoopDepth(block); }
  const llvm::Loop* loop_of(const llvm::BasicBlock* block) const { return loops_.getLoopFor(block); }

  /// Where lanes may come by different ways, or of different turns of a loop, if the branch that ends `block` divides
  /// them; among them where all meet again.
  Blocks influence(llvm::BasicBlock* block) const;
  /// The first block that all lanes reach together whatever way they take from `block`: in the same turn of each loop
  /// around it, or where all have left that loop. Null if there is none.
  llvm::BasicBlock* meeting_point(const llvm::BasicBlock* block) const;

  /// Whether all lanes that can still meet others arrive together at every meeting, given the branches that may divide
  /// lanes. Lanes that can no longer reach a meeting count as gone: they run to their end first.
  bool meetings_converge(const Blocks& dividing, bool (*is_of_kind)(const llvm::Instruction&)) const;
  bool has_meetings() const { return has_barriers_ || has_warp_operations_; }
  bool has_barriers() const { return has_barriers_; }
  bool has_warp_operations() const { return has_warp_operations_; }

  /// By block: instructions of other blocks, and its own phis aside, that it or a later block still uses.
  const llvm::DenseMap<llvm::BasicBlock*, std::vector<llvm::Instruction*>>& live_in() const { return live_in_; }

 private:
  void arrange(const llvm::Loop* loop, const Blocks& sorted);
  Blocks onward(llvm::BasicBlock* block) const;
  void find_meeting_points();
  void find_live_values();

  llvm::DominatorTree dominators_;
  llvm::LoopInfo loops_;
  llvm::DenseMap<const llvm::BasicBlock*, unsigned> index_;
  std::vector<unsigned> meetings_;  ///< by block, the index of its meeting point; the number of blocks if it has none
  llvm::DenseMap<llvm::BasicBlock*, std::vector<llvm::Instruction*>> live_in_;
  bool has_barriers_ = false;
  bool has_warp_operations_ = false;
};

}  // namespace cucore::cpu::codegen
