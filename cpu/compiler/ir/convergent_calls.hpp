// Calls in which threads meet: who takes part must arrive together, so code must not be copied or moved around them.
#pragma once

#include "cpu/compiler/ir/llvm.hpp"

namespace cucore::cpu::codegen {

/// A call in which lanes of a block or warp meet. The vector form gives each a block of its own.
bool is_meeting(const llvm::Instruction& instruction);
bool is_meeting(llvm::StringRef built_in);
bool is_block_barrier(const llvm::Instruction& instruction);

}  // namespace cucore::cpu::codegen
