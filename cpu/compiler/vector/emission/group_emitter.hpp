// Emits the vector form of a kernel: from its scalar form in SSA, a function that runs one group of threads, in chunks
// of SIMD lanes, in lockstep.
//
// There are two versions of blocks (version_blocks.hpp). The full one runs while all lanes of the group go the same
// way. Where lanes diverge, it hands what is live to the masked version; where all have reconverged, that goes back
// (transitions.hpp). So only blocks that lanes can come to while others are elsewhere have a masked version
// (analysis/masked_blocks.hpp). Values that other blocks use live in stack slots (values.hpp). A short side that some
// lanes take, the full version runs under a mask itself (predication.hpp).
//
// What steps evenly from lane to lane through the whole group is one number in the full version: a loop over a grid has
// one index for all its chunks, and the first lane and the last say whether all stay in it (branches.hpp).
//
// All lanes that live arrive at a barrier together, or the form refuses the kernel (legality.hpp). In a block of one
// group a barrier is then a no-op. In a block of several the group's function returns at a barrier, with the number of
// the point to go on from, and the entry point calls the groups in rounds (entry.hpp): a barrier costs a call that is
// inlined and a switch. What lives across it is saved in the group's frame (barriers.hpp); what is quickly made of the
// thread's index and of uniform values is made again instead (steps/recompute_behind_barriers.hpp).
#pragma once

#include <cstdint>

#include "cpu/compiler/emitters/module_emitter.hpp"
#include "cpu/compiler/vector/analysis/control_flow.hpp"
#include "cpu/compiler/vector/analysis/width.hpp"
#include "cpu/error/result.hpp"

namespace cucore::cpu::compiler {

struct EmittedGroup {
  /// `i32 group(ptr block, i32 first thread, i32 point, ptr frame, i32 %ctaid.x)`: from a point on, to the next barrier
  /// of the block, whose point it returns (barriers.hpp).
  llvm::Function* function;
  std::uint64_t frame_bytes;  ///< memory of a group that waits at barriers; none if a group never waits
};

/// With `masks_only` there is the masked version alone. A failure says what has no vector form.
Result<EmittedGroup> emit_group(llvm::Function& scalar, const ControlFlow& flow, const VectorWidth& width,
                                HostFeatures host, bool masks_only);

}  // namespace cucore::cpu::compiler
