// Loops in which a thread may wait for another one: `while (flag == 0);`, a lock, a look-back. On a GPU the other
// thread runs meanwhile; here the waiting thread must let it, so the back edges of such loops yield. Where one thread
// of a block reads memory and tells the others at a barrier, the block must let other blocks run: the back edges count
// iterations (laps).
#pragma once

#include <set>
#include <utility>
#include <vector>

#include "cpu/analysis/flow/control_flow.hpp"
#include "cpu/analysis/flow/reach.hpp"

namespace cucore::cpu::analysis {

using Edge = std::pair<BlockId, BlockId>;

/// Back edges (from, to) of loops that may keep running because of what other threads write.
struct WaitingEdges {
  /// A branch out of the loop counts if its guard depends, through registers in any order and through what the sides of
  /// other branches write, on a volatile, relaxed or acquiring load, on
  /// an atomic, or on any load of a loop with a fence; where the loop has no barrier of the block, through its local
  /// and shared variables too. Compare-and-swap loops that retry with the value just seen until it was still there
  /// are lock-free, not waiting, and do not count.
  std::set<Edge> yielding;
  /// Of other loops that have a barrier of the block, or may have one in a function that they call: one counts if what
  /// is read from memory decides whether it is left. Threads of the block wait for each other at the barrier.
  std::set<Edge> lapping;
};
WaitingEdges find_waiting_edges(const ptx::Module& module, ptx::FunctionId function, const Reach& reach);

/// The blocks of these loops.
std::set<BlockId> find_waiting_blocks(const ptx::Module& module, ptx::FunctionId function, const Reach& reach);

/// Every back edge of a function, with the blocks of its loop.
std::vector<std::pair<Edge, std::vector<BlockId>>> find_loops(const ControlFlow& flow);

}  // namespace cucore::cpu::analysis
