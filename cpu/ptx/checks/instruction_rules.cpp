// The rules of instruction_rules.def as data: see instruction_rules.hpp.
#include "cpu/ptx/checks/instruction_rules.hpp"

#include <optional>

#include "cpu/ptx/tree/words.hpp"

namespace cucore::cpu::ptx {

namespace {

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

InstructionRule make_rule(std::string_view operands, std::string_view types, std::string_view modifiers) {
  InstructionRule rule;
  rule.operands = split(operands, '|');
  rule.any_type = types == "*";
  rule.any_modifier = modifiers == "*";
  for (std::string_view word : split(types, ' ')) {
    if (const auto type = find_type(word)) rule.types.set(static_cast<std::size_t>(*type));
  }
  for (std::string_view word : split(modifiers, ' ')) {
    const auto meaning = find_dot_word(word);
    if (meaning && meaning->kind == DotWordMeaning::Kind::Modifier) {
      rule.modifiers.set(static_cast<std::size_t>(meaning->modifier));
    }
  }
  return rule;
}

using RuleTable = std::vector<std::optional<InstructionRule>>;

RuleTable make_table() {
  constexpr std::size_t opcodes = 0
#define PTX_OPCODE(enumerator, spelling) +1
#include "cpu/ptx/tree/opcodes.def"
#undef PTX_OPCODE
      ;
  RuleTable table(opcodes);
#define PTX_RULE(opcode, operands, types, modifiers) \
  table[static_cast<std::size_t>(Opcode::opcode)] = make_rule(operands, types, modifiers);
#include "cpu/ptx/checks/instruction_rules.def"
#undef PTX_RULE
  return table;
}

}  // namespace

const InstructionRule* find_rule(Opcode opcode) {
  // Never destroyed: a thread may still load code when the process ends.
  static const auto& table = *new RuleTable(make_table());
  const auto& rule = table[static_cast<std::size_t>(opcode)];
  return rule ? &*rule : nullptr;
}

}  // namespace cucore::cpu::ptx
