// From spellings back to enumerators: mnemonics, what follows them after a dot, and special registers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "cpu/ptx/tree/ast.hpp"

namespace cucore::cpu::ptx {

/// What a word after a dot means on an instruction.
struct DotWordMeaning {
  enum class Kind : std::uint8_t { Modifier, Type, Space, VectorWidth };
  Kind kind = Kind::Modifier;
  Modifier modifier{};
  Type type{};
  Space space{};
  SubSpace subspace = SubSpace::None;
  std::uint8_t vector_width = 1;
};

inline constexpr std::size_t opcode_count = 0
#define PTX_OPCODE(enumerator, spelling) +1
#include "cpu/ptx/tree/opcodes.def"
#undef PTX_OPCODE
    ;

std::optional<Opcode> find_opcode(std::string_view spelling);
std::optional<DotWordMeaning> find_dot_word(std::string_view spelling);  ///< without the dot
std::optional<Type> find_type(std::string_view spelling);                ///< without the dot

/// `%laneid`, `%envreg7`, `%tid` ... as spelt, without a component; `axis` is left 0.
std::optional<SpecialRegister> find_special_register(std::string_view spelling);

}  // namespace cucore::cpu::ptx
