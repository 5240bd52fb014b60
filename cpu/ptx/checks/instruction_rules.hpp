// The rows of instruction_rules.def, ready to be asked.
#pragma once

#include <bitset>
#include <string_view>
#include <vector>

#include "cpu/ptx/tree/ast.hpp"

namespace cucore::cpu::ptx {

struct InstructionRule {
  static constexpr std::size_t most_words = 1024;

  std::vector<std::string_view> operands;  ///< one pattern for each alternative
  bool any_type = false;
  bool any_modifier = false;
  std::bitset<256> types;
  std::bitset<most_words> modifiers;

  bool allows(Type type) const { return any_type || types[static_cast<std::size_t>(type)]; }
  bool allows(Modifier modifier) const { return any_modifier || modifiers[static_cast<std::size_t>(modifier)]; }
};

/// nullptr: the instruction is not checked.
const InstructionRule* find_rule(Opcode opcode);

}  // namespace cucore::cpu::ptx
