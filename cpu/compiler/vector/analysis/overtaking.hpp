// Lanes that overtake others of their warp: those that have left a loop in which the others still poll, as where each
// thread of a block looks back over what other blocks have said of its digit. On a GPU they go on meanwhile, and what
// they store next may be what another block waits for. Here they go on up to the next barrier of the block, at which
// they would wait for the others anyway, whenever those have polled.
//
// So what is between the loop and barriers is passed twice, by some lanes and later by others: what is loaded there
// differs, and what is computed there must not touch the values of lanes that have passed.
#pragma once

#include "cpu/compiler/vector/analysis/stride_analysis.hpp"

namespace cucore::cpu::compiler {

class Overtaking {
 public:
  /// Nobody overtakes.
  Overtaking() = default;
  /// At the polls where others could change something in memory (polls.hpp). `masked`: strides of the masked version.
  Overtaking(const ControlFlow& flow, const StrideAnalysis& masked);

  /// Of a block that ends an iteration in which lanes may have polled: the last block that the others do not run
  /// meanwhile. Null elsewhere.
  llvm::BasicBlock* last_not_passed(const llvm::BasicBlock* latch) const { return ends_.lookup(latch); }
  bool covers(const llvm::BasicBlock* poll) const { return polls_.contains(poll); }
  const BlockSet& passed_twice() const { return passed_twice_; }

 private:
  llvm::DenseSet<const llvm::BasicBlock*> polls_;
  llvm::DenseMap<const llvm::BasicBlock*, llvm::BasicBlock*> ends_;
  BlockSet passed_twice_;
};

/// The loop whose lanes a warp operation names: all at first, then those for which a vote in each iteration found true
/// what keeps them in the loop. Null if it names others.
const llvm::Loop* loop_of_members(const llvm::Instruction& operation, const ControlFlow& flow);

}  // namespace cucore::cpu::compiler
