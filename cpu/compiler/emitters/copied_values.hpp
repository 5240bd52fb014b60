// Which registers only copy values from one place to another: then reading uninitialised memory is not an error, as C++
// may copy a structure that has padding or members without a value.
#pragma once

#include <vector>

#include "cpu/ptx/tree/ast.hpp"

namespace cucore::cpu::compiler {

/// By register: all that is done with its value is to store it where variables of the thread's own may lie, taken apart
/// and put together as compilers do with bytes and bit fields, or to give selp a choice, which is what they make of a
/// read under a condition.
std::vector<bool> registers_that_only_carry(const ptx::Function& function);

}  // namespace cucore::cpu::compiler
