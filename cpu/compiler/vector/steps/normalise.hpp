// The step that gives a kernel the control flow that the vector form knows. After it loops are simplified and in closed
// form, all branches are plain ones, and there is one return.
#pragma once

#include "cpu/compiler/ir/llvm.hpp"

namespace cucore::cpu::compiler {

void normalise(llvm::Function& scalar);

}  // namespace cucore::cpu::compiler
