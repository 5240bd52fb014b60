// The step after which every convergent operation stands in a block of its own: lanes execute it when they enter the
// block.
#pragma once

#include "cpu/compiler/ir/llvm.hpp"

namespace cucore::cpu::compiler {

void isolate_convergent_operations(llvm::Function& scalar);

}  // namespace cucore::cpu::compiler
