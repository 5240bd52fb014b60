// Which generator emits an instruction, and which spellings it accepts. What no row accepts is reported as unsupported
// and never compiled: every modifier, type and space of an instruction must be named by its row.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <vector>

#include "cpu/error/result.hpp"
#include "cpu/ptx/tree/ast.hpp"

namespace cucore::cpu::analysis {

/// A constant set of enumerators.
template <typename Enum, std::size_t Capacity>
class EnumSet {
 public:
  constexpr EnumSet(std::initializer_list<Enum> members) {
    for (Enum member : members) {
      const auto index = static_cast<std::size_t>(member);
      words_[index / 64] |= std::uint64_t{1} << index % 64;
    }
  }
  constexpr bool contains(Enum member) const {
    const auto index = static_cast<std::size_t>(member);
    return (words_[index / 64] >> index % 64 & 1) != 0;
  }
  constexpr bool empty() const { return words_ == std::array<std::uint64_t, Capacity / 64>{}; }
  friend constexpr EnumSet operator|(EnumSet a, const EnumSet& b) {
    for (std::size_t i = 0; i < a.words_.size(); ++i) a.words_[i] |= b.words_[i];
    return a;
  }

 private:
  std::array<std::uint64_t, Capacity / 64> words_{};
};

using TypeSet = EnumSet<ptx::Type, 128>;
using ModifierSet = EnumSet<ptx::Modifier, 1024>;

/// The function of the compiler that emits a family of instructions, by its name.
enum class Generator : std::uint8_t {
#define CUCPU_GENERATOR(name) name,
#include "cpu/analysis/instructions/generators.def"
#undef CUCPU_GENERATOR
};

/// What a generator requires of an otherwise acceptable instruction (requirements.hpp).
using Requirement = Result<void> (*)(const ptx::Instruction&);

/// One row: a family of spellings that one generator emits.
struct Form {
  ptx::Opcode opcode;
  Generator generator;
  std::uint8_t least_operands;
  std::uint8_t most_operands;
  TypeSet types;          ///< each type of the instruction must be one of these
  ModifierSet modifiers;  ///< each modifier too
  Requirement requirement = nullptr;
  bool accesses_memory = false;  ///< may name state spaces and a vector width (the requirement says which)
};

/// The row that emits an instruction. A failure names what is in the way of the row that comes closest.
Result<const Form*> find_form(const ptx::Instruction& instruction);

/// Every row, grouped by opcode.
const std::vector<Form>& instruction_table();

}  // namespace cucore::cpu::analysis
