// The rows of instruction_rules.def, ready to be asked.
#pragma once

#include <cstddef>
#include <string_view>

#include "cpu/ptx/tree/enum_set.hpp"

namespace cucore::cpu::ptx {

struct InstructionRule {
  Opcode opcode;
  std::string_view operands;  ///< patterns, separated by `|`
  bool any_type;
  bool any_modifier;
  TypeSet types;
  ModifierSet modifiers;

  bool allows(Type type) const { return any_type || types.contains(type); }
  bool allows(Modifier modifier) const { return any_modifier || modifiers.contains(modifier); }
  bool needs_type() const { return any_type || !types.empty(); }
};

/// nullptr: the instruction is not checked.
const InstructionRule* find_rule(Opcode opcode);

/// Calls `use` with each part of `text` between separators.
template <class F>
constexpr void for_each_part(std::string_view text, char separator, F&& use) {
  for (;;) {
    const std::size_t end = text.find(separator);
    use(text.substr(0, end));
    if (end == std::string_view::npos) return;
    text.remove_prefix(end + 1);
  }
}

}  // namespace cucore::cpu::ptx
