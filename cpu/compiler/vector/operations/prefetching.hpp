// Software prefetching of rows of elements in the vector form, where a hardware prefetcher cannot know what comes next.
//
// A block of several rows leaves each of them after a few cache lines, too soon for such a prefetcher, which also sees
// full groups and masked ones as separate streams. So the lines of a row that adjacent threads access are fetched for
// the next block on x, if its indices are the usual ones. In a loop over a grid an iteration begins a page or more
// behind the one before, where processors stop to look ahead, and goes on for more instructions than they hold: there
// the row is fetched for iterations to come, into the second cache, as steps of a power of two leave rows few places in
// the first. Once for places that differ by a constant.
#pragma once

#include <llvm/ADT/DenseSet.h>

#include "cpu/compiler/vector/state/values.hpp"

namespace cucore::cpu::compiler {

class Prefetching {
 public:
  Prefetching(EmissionContext& context, VectorValues& values) : c_(context), values_(values), b(context.b) {}

  void begin_block() { bases_.clear(); }
  void ahead_of(llvm::Instruction& access);

 private:
  /// What an address grows by in each iteration of the innermost loop, if it is the same in all lanes and only the
  /// launch tells how much, as the threads of a grid do: constants are short steps, which processors learn. Else null.
  llvm::Value* step_of_iteration(llvm::Value* address);

  EmissionContext& c_;
  VectorValues& values_;
  llvm::IRBuilder<>& b;
  llvm::DenseSet<llvm::Value*> bases_;  ///< of addresses that were fetched ahead in this block
};

}  // namespace cucore::cpu::compiler
