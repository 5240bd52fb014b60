// Which versions of its blocks a kernel needs: the full one alone, or the masked one, too; how far that goes:
// masked_blocks.hpp.
#pragma once

#include "cpu/compiler/vector/analysis/control_flow.hpp"
#include "cpu/compiler/vector/analysis/stride_analysis.hpp"

namespace cucore::cpu::compiler {

/// Whether groups return at barriers. A group that is the whole block need not: all its lanes that live arrive
/// together; and one on a fiber waits there.
inline bool groups_wait(const ControlFlow& flow, const VectorWidth& width) {
  return flow.has_barriers() && width.threads() > width.group() && !width.on_fibers;
}

/// The block that only some lanes execute before a branch's two ways join, if it is worth running under a mask in the
/// full version; null if the branch has no such form, or if values would lose their stride where the ways join.
/// `strides`: of the full version.
llvm::BasicBlock* predicated_side(const llvm::BranchInst& branch, const ControlFlow& flow,
                                  const StrideAnalysis& strides);

/// Whether lanes may run in the masked version: where groups are not full, an index may wrap around, or lanes diverge
/// for more than a predicated side. Else there is none. `strides`: of the full version.
bool may_leave_full_version(const ControlFlow& flow, const StrideAnalysis& strides, const VectorWidth& width);

/// The comparison that a branch depends on, if it is between something that spans the group, growing or falling from
/// lane to lane, and something that is the same for all: the first lane and the last then tell where all go.
llvm::ICmpInst* comparison_of_ends(const llvm::BranchInst& branch, const StrideAnalysis& strides);

}  // namespace cucore::cpu::compiler
