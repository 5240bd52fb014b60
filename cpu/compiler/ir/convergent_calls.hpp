// Convergent operations, by the services that are called for them: who takes part executes them together, so code must
// not be copied or moved around them.
#pragma once

#include "cpu/compiler/ir/llvm.hpp"

namespace cucore::cpu::compiler {

/// How the names begin of what a warp does with its fragments of matrices, in code that is to get a vector form: each
/// lane's registers are arguments and results there, so that they can become vectors.
inline constexpr llvm::StringLiteral of_fragments("cucpu_fragments_");

/// The vector form gives each a block of its own.
bool is_convergent(const llvm::Instruction& instruction);
bool is_convergent(llvm::StringRef built_in);
bool is_block_barrier(const llvm::Instruction& instruction);
/// A barrier that tells all threads of the block for how many of them something is true.
bool is_reducing_barrier(const llvm::Instruction& instruction);
/// The back edge of a loop that waits for other threads: who is not here must be able to go on meanwhile.
bool is_poll(const llvm::Instruction& instruction);

}  // namespace cucore::cpu::compiler
