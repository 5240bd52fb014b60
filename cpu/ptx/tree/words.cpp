// Look-ups of words: mnemonics and what follows them in tables of word_table.hpp, special registers in a list.
#include "cpu/ptx/tree/words.hpp"

#include <charconv>

#include "cpu/ptx/tree/word_table.hpp"

namespace cucore::cpu::ptx {

namespace {

struct SpecialRegisterRow {
  std::string_view spelling;
  Type type;
  bool is_vector;
  std::uint16_t numbered;
};

constexpr SpecialRegisterRow special_registers[] = {
#define PTX_SPECIAL_REGISTER(spelling, type, is_vector, numbered) {spelling, Type::type, is_vector, numbered},
#include "cpu/ptx/tree/special_registers.def"
#undef PTX_SPECIAL_REGISTER
};

/// N of `%envregN`; none if `digits` is not a canonical number below `limit`.
std::optional<std::uint16_t> register_number(std::string_view digits, std::uint16_t limit) {
  std::uint16_t number = 0;
  const auto result = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  const bool canonical = !digits.empty() && (digits.size() == 1 || digits.front() != '0');
  if (!canonical || result.ec != std::errc() || result.ptr != digits.data() + digits.size() || number >= limit) {
    return std::nullopt;
  }
  return number;
}

const SpecialRegisterRow* find_row(std::string_view name) {
  for (const SpecialRegisterRow& row : special_registers) {
    if (row.spelling == name) return &row;
  }
  return nullptr;
}

}  // namespace

std::optional<Opcode> find_opcode(std::string_view spelling) {
  const std::size_t opcode = opcode_words.find(spelling);
  return opcode == opcode_count ? std::nullopt : std::optional(static_cast<Opcode>(opcode));
}

std::optional<DotWordMeaning> find_dot_word(std::string_view spelling) { return meaning_of_dot_word(spelling); }

std::optional<Type> find_type(std::string_view spelling) {
  const auto meaning = find_dot_word(spelling);
  if (!meaning || meaning->kind != DotWordMeaning::Kind::Type) return std::nullopt;
  return meaning->type;
}

std::optional<SpecialRegister> find_special_register(std::string_view spelling) {
  SpecialRegister result;
  if (const SpecialRegisterRow* row = find_row(spelling); row != nullptr && row->numbered == 0) {
    result.name = row->spelling;
    return result;
  }
  constexpr std::string_view wide = "_64";
  const bool is_wide = spelling.ends_with(wide);
  const std::string_view stem = is_wide ? spelling.substr(0, spelling.size() - wide.size()) : spelling;
  for (const SpecialRegisterRow& row : special_registers) {
    if (row.numbered == 0 || row.spelling.ends_with(wide) != is_wide) continue;
    const std::string_view row_stem =
        is_wide ? row.spelling.substr(0, row.spelling.size() - wide.size()) : row.spelling;
    if (!stem.starts_with(row_stem)) continue;
    if (const auto number = register_number(stem.substr(row_stem.size()), row.numbered)) {
      result.name = row.spelling;
      result.index = *number;
      return result;
    }
  }
  return std::nullopt;
}

Type type_of(const SpecialRegister& special) {
  const SpecialRegisterRow* row = find_row(special.name);
  return row == nullptr ? Type::None : row->type;
}

bool is_vector(const SpecialRegister& special) {
  const SpecialRegisterRow* row = find_row(special.name);
  return row != nullptr && row->is_vector;
}

}  // namespace cucore::cpu::ptx
