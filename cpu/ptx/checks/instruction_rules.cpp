// The rules of instruction_rules.def as data: see instruction_rules.hpp. The compiler reads them.
#include "cpu/ptx/checks/instruction_rules.hpp"

#include <array>
#include <cstdint>
#include <iterator>
#include <optional>

#include "cpu/ptx/tree/word_table.hpp"

namespace cucore::cpu::ptx {

namespace {

using Kind = DotWordMeaning::Kind;

/// Calls `use` with what each word of the list means, which must be of that kind.
template <class F>
consteval void for_each_word(std::string_view list, Kind kind, F&& use) {
  if (list.empty() || list == "*") return;
  for_each_part(list, ' ', [&](std::string_view spelling) {
    const std::optional<DotWordMeaning> meaning = meaning_of_dot_word(spelling);
    if (!meaning || meaning->kind != kind) throw "a rule names a type or modifier that is none";
    use(*meaning);
  });
}

consteval InstructionRule make_rule(Opcode opcode, std::string_view operands, std::string_view types,
                                    std::string_view modifiers) {
  InstructionRule rule{opcode, operands, types == "*", modifiers == "*", {}, {}};
  for_each_word(types, Kind::Type, [&](const DotWordMeaning& meaning) { rule.types.insert(meaning.type); });
  for_each_word(modifiers, Kind::Modifier,
                [&](const DotWordMeaning& meaning) { rule.modifiers.insert(meaning.modifier); });
  return rule;
}

constexpr InstructionRule rules[] = {
#define PTX_RULE(opcode, operands, types, modifiers) make_rule(Opcode::opcode, operands, types, modifiers),
#include "cpu/ptx/checks/instruction_rules.def"
#undef PTX_RULE
};

/// An opcode's rule by its number and one; 0: it has none.
constexpr auto rule_numbers = [] {
  std::array<std::uint8_t, opcode_count> numbers{};
  for (std::size_t i = 0; i < std::size(rules); ++i)
    numbers[static_cast<std::size_t>(rules[i].opcode)] = static_cast<std::uint8_t>(i + 1);
  return numbers;
}();
static_assert(std::size(rules) < 256);

}  // namespace

const InstructionRule* find_rule(Opcode opcode) {
  const std::uint8_t number = rule_numbers[static_cast<std::size_t>(opcode)];
  return number == 0 ? nullptr : &rules[number - 1u];
}

}  // namespace cucore::cpu::ptx
