// The step after which a kernel whose arrays have strides that only the launch knows is there twice: once for strides
// that put the elements of neighbouring lanes side by side, as those of most arrays do, where accesses are of whole
// rows, and once for any others.
#pragma once

#include <llvm/IR/BasicBlock.h>
#include <llvm/IR/Function.h>

#include "cpu/compiler/vector/analysis/stride_analysis.hpp"

namespace cucore::cpu::compiler {

/// Whether it changed anything; what is known of the kernel is then out of date, and it wants to be normalised.
bool assume_rows(llvm::Function& scalar, const StrideAnalysis& strides);

}  // namespace cucore::cpu::compiler
