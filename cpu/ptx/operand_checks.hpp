// Checks of operands. Each returns what is wrong, in words that follow "operand N:" or the instruction's name; an empty
// string: nothing is.
#pragma once

#include <string>

#include "cpu/ptx/ast.hpp"

namespace cucore::cpu::ptx {

/// One operand against one letter of instruction_rules.def.
std::string check_operand(const Function& function, const Instruction& instruction, const Operand& operand, char rule);

/// Whole instructions that have no row there: mov, cvt, cvta, ld, st, ldu, atom, red, bar, barrier, call.
std::string check_operands(const Module& module, const Function& function, const Instruction& instruction);

}  // namespace cucore::cpu::ptx
