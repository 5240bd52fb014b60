// Follows registers from moves to moves: see copied_values.hpp.
#include "cpu/compiler/emitters/copied_values.hpp"

#include <algorithm>

namespace cucore::cpu::compiler {
namespace {

using ptx::Instruction;
using ptx::Opcode;
using ptx::Operand;
using ptx::Space;

using Registers = std::vector<bool>;

bool all_of(const Operand& operand, const Registers& registers) {
  if (operand.kind == Operand::Kind::Register) return registers[operand.reg];
  return std::all_of(operand.elements.begin(), operand.elements.end(),
                     [&](const Operand& element) { return all_of(element, registers); });
}

void clear(const Operand& operand, Registers& registers) {
  for_each_register(operand, [&](ptx::RegisterId reg) { registers[reg] = false; });
}

bool moves_bits(Opcode opcode) {
  switch (opcode) {
    case Opcode::Mov:
    case Opcode::Cvt:
    case Opcode::Shl:
    case Opcode::Shr:
    case Opcode::Shf:
    case Opcode::And:
    case Opcode::Or:
    case Opcode::Lop3:
    case Opcode::Prmt:
    case Opcode::Bfe:
    case Opcode::Bfi:
      return true;
    default:
      return false;
  }
}

/// Stored where a local variable may lie. A number that is passed to a function, or returned, counts as used.
bool stores_a_copy(const ptx::Function& function, const Instruction& i) {
  if (i.space() != Space::Param) return i.space() == Space::Local || i.space() == Space::Generic;
  const Operand& base = i.operands[0].elements[0];
  return base.kind == Operand::Kind::Variable && base.scope == Operand::Scope::Function &&
         function.variables[base.variable].is_array;
}

/// The operand's value is not used here, provided that it goes only to `carriers`.
bool is_carried(const ptx::Function& function, const Instruction& i, std::size_t operand, const Registers& carriers) {
  switch (i.opcode) {
    case Opcode::Ld:
    case Opcode::Ldu:
      return operand == 0;
    case Opcode::Selp:
      return operand <= 2;
    case Opcode::St:
      return operand == 1 && stores_a_copy(function, i);
    default:
      return moves_bits(i.opcode) && (operand == 0 || all_of(i.operands[0], carriers));
  }
}

}  // namespace

std::vector<bool> registers_that_only_carry(const ptx::Function& function) {
  Registers carriers(function.registers.size(), true);
  Registers before;
  do {
    before = carriers;
    for (const Instruction& i : function.body) {
      if (i.guard) carriers[i.guard->reg] = false;
      for (std::size_t n = 0; n < i.operands.size(); ++n)
        if (!is_carried(function, i, n, carriers)) clear(i.operands[n], carriers);
    }
  } while (before != carriers);
  return carriers;
}

}  // namespace cucore::cpu::compiler
