// Checks of operands. What is wrong is said in words that follow "operand N:" or the instruction's name.
#pragma once

#include <cstddef>
#include <string>

#include "cpu/error/result.hpp"
#include "cpu/ptx/tree/ast.hpp"

namespace cucore::cpu::ptx {

/// The failure for what ptxas would refuse, too: InvalidPtx.
Failure invalid(std::string what);

/// Adds the operand's number to a failure.
Result<void> at_operand(std::size_t index, Result<void> checked);

/// One operand against one letter of instruction_rules.def.
Result<void> check_operand(const Function& function, const Instruction& instruction, const Operand& operand, char rule);

/// Whole instructions that have no row there: mov, cvt, cvta, ld, st, ldu, atom, red, bar, barrier, call.
Result<void> check_operands(const Module& module, const Function& function, const Instruction& instruction);

}  // namespace cucore::cpu::ptx
