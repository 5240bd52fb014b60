// One hash table for each kind of word, made once from the .def files.
#include "cpu/ptx/tree/words.hpp"

#include <charconv>
#include <unordered_map>

namespace cucore::cpu::ptx {

namespace {

using OpcodeTable = std::unordered_map<std::string_view, Opcode>;
using DotWordTable = std::unordered_map<std::string_view, DotWordMeaning>;

const OpcodeTable& opcode_table() {
  // Never destroyed: a thread may still load code when the process ends.
  static const auto& table = *new OpcodeTable{
#define PTX_OPCODE(enumerator, spelling) {spelling, Opcode::enumerator},
#include "cpu/ptx/tree/opcodes.def"
#undef PTX_OPCODE
  };
  return table;
}

DotWordMeaning modifier_word(Modifier modifier) {
  DotWordMeaning meaning;
  meaning.modifier = modifier;
  return meaning;
}

DotWordMeaning type_word(Type type) {
  DotWordMeaning meaning;
  meaning.kind = DotWordMeaning::Kind::Type;
  meaning.type = type;
  return meaning;
}

DotWordMeaning space_word(Space space, SubSpace subspace = SubSpace::None) {
  DotWordMeaning meaning;
  meaning.kind = DotWordMeaning::Kind::Space;
  meaning.space = space;
  meaning.subspace = subspace;
  return meaning;
}

DotWordMeaning vector_word(std::uint8_t width) {
  DotWordMeaning meaning;
  meaning.kind = DotWordMeaning::Kind::VectorWidth;
  meaning.vector_width = width;
  return meaning;
}

DotWordTable make_dot_word_table() {
  DotWordTable table = {
#define PTX_MODIFIER(enumerator, spelling) {spelling, modifier_word(Modifier::enumerator)},
#include "cpu/ptx/tree/modifiers.def"
#undef PTX_MODIFIER
#define PTX_TYPE(enumerator, spelling, bytes, kind) {spelling, type_word(Type::enumerator)},
#include "cpu/ptx/tree/types.def"
#undef PTX_TYPE
      {"const", space_word(Space::Const)},
      {"global", space_word(Space::Global)},
      {"local", space_word(Space::Local)},
      {"param", space_word(Space::Param)},
      {"param::entry", space_word(Space::Param, SubSpace::Entry)},
      {"param::func", space_word(Space::Param, SubSpace::Func)},
      {"shared", space_word(Space::Shared)},
      {"shared::cta", space_word(Space::Shared, SubSpace::Cta)},
      {"shared::cluster", space_word(Space::Shared, SubSpace::Cluster)},
      {"v2", vector_word(2)},
      {"v4", vector_word(4)},
      {"v8", vector_word(8)},
  };
  table.erase("");  // Type::None
  return table;
}

const DotWordTable& dot_word_table() {
  static const auto& table = *new DotWordTable(make_dot_word_table());
  return table;
}

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
  const auto found = opcode_table().find(spelling);
  if (found == opcode_table().end()) return std::nullopt;
  return found->second;
}

std::optional<DotWordMeaning> find_dot_word(std::string_view spelling) {
  const auto found = dot_word_table().find(spelling);
  if (found == dot_word_table().end()) return std::nullopt;
  return found->second;
}

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
