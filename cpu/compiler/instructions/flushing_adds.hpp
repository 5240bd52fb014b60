// Atomic additions of f32 in global memory, which take subnormal operands and results for zeros of their sign.
#pragma once

#include "cpu/compiler/ir/llvm.hpp"

namespace cucore::cpu::compiler {

/// Adds `operand`, a float, to what is at `address`, with flushing; returns the old value. One instruction until the
/// end, so that the vector form and the optimiser see no loop; volatile, so that LLVM, which knows no flushing, leaves
/// it alone (adding -0.0 is more than a load here).
llvm::Value* flushing_add(llvm::IRBuilder<>& b, llvm::Value* address, llvm::Value* operand,
                          llvm::AtomicOrdering ordering);

/// Makes loops around compare-and-swap of all of them.
void expand_flushing_adds(llvm::Module& ir);

}  // namespace cucore::cpu::compiler
