// A vector register and a list in braces are two spellings of the same values.
#pragma once

#include <vector>

#include "cpu/ptx/tree/ast.hpp"

namespace cucore::cpu::ptx {

/// The elements of a `{...}` operand, or of a whole vector register; any other operand is its only element.
std::vector<Operand> vector_elements(const Operand& operand, const std::vector<Register>& registers);

}  // namespace cucore::cpu::ptx
