// Where lanes poll what other threads are to write (is_poll), in the vector form: a warp is on a fiber, so other warps
// go on meanwhile; but lanes of the same warp do not, and nobody may wait for those.
#pragma once

#include "cpu/compiler/vector/analysis/stride_analysis.hpp"

namespace cucore::cpu::compiler {

/// Memory that other threads see.
bool may_change_memory(const llvm::Instruction& instruction);

/// Then each warp runs on a fiber.
bool has_polls(const llvm::Function& scalar);

/// Whether all lanes of a warp come to polls, and to what they do together, at the same time, but for those that can no
/// longer come to any, which have to end first. `masked`: strides of the masked version.
bool poll_together(const ControlFlow& flow, const StrideAnalysis& masked);

/// Else, of the poll that `block` begins with: lanes that poll without others of their warp, as the first thread of a
/// block that waits for other blocks between two barriers: whether all that the others could do meanwhile, up to a
/// barrier of the block, at which they wait for those that poll, changes nothing in memory. Then nobody waits for them.
bool others_change_nothing(llvm::BasicBlock* block, const ControlFlow& flow, const StrideAnalysis& masked);

}  // namespace cucore::cpu::compiler
