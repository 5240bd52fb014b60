// Reach, with where threads wait for each other or count on running in step.
#pragma once

#include "cpu/analysis/flow/block_shape.hpp"
#include "cpu/analysis/flow/reach.hpp"
#include "cpu/ptx/tree/ast.hpp"

namespace cucore::cpu::analysis {

/// find_reach, and what it leaves out of Reach. Only making code needs to know that: loads and launches of code that is
/// there would wait for it.
/// `shape`: shape_of_warps() of the blocks that the code is for.
Reach find_reach_and_waits(const ptx::Module& module, ptx::FunctionId kernel, const BlockShape& shape);

/// Threads wait for each other in the same places in blocks of both shapes, so that one scalar code serves both.
bool waits_alike(const ptx::Module& module, ptx::FunctionId kernel, const BlockShape& one, const BlockShape& other);

}  // namespace cucore::cpu::analysis
