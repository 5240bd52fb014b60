// Warp-synchronous code: volatile accesses of shared memory by which lanes of a warp exchange values with no barrier
// between them, counting on each other to run in step. `w[t] += w[t + 16]; w[t] += w[t + 8];` ends many a reduction
// written before Volta. GPUs keep lanes together that are converged, so it still works there.
//
// The vector form runs a warp's lanes in step anyway. In the scalar form, lanes wait for each other at the points found
// here (cucpu_lockstep). Only kernels that have such points pay for them.
//
// Plain accesses by which lanes exchange values (plain_exchanges.hpp) get the same. Around all of them, lanes also wait
// where an iteration of a loop ends, for those that are still in it, and before calls of functions that have such
// points.
#pragma once

#include "cpu/analysis/flow/reach.hpp"
#include "cpu/ptx/tree/ast.hpp"

namespace cucore::cpu::analysis {

/// A kernel has some if a volatile load of shared memory may follow a store there, or a volatile store follow a
/// volatile load, with no barrier of the block or warp on the way. Generic addresses count as shared ones where a
/// kernel has shared memory, but in loops that wait for others. Then every access that may touch what lanes exchange is
/// one, but for loads after loads.
/// `reach.exchanges` has been found.
LockstepPoints find_lockstep_points(const ptx::Module& module, const Reach& reach);

}  // namespace cucore::cpu::analysis
