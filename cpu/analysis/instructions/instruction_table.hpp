// Which generator emits an instruction, and which spellings it accepts. What no row accepts is reported as unsupported
// and never compiled: every modifier, type and space of an instruction must be named by its row.
#pragma once

#include <cstdint>
#include <span>

#include "cpu/error/result.hpp"
#include "cpu/ptx/tree/ast.hpp"
#include "cpu/ptx/tree/enum_set.hpp"

namespace cucore::cpu::analysis {

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
  ptx::TypeSet types;          ///< each type of the instruction must be one of these
  ptx::ModifierSet modifiers;  ///< each modifier too
  Requirement requirement = nullptr;
  bool accesses_memory = false;  ///< may name state spaces and a vector width (the requirement says which)
};

/// The row that emits an instruction. A failure names what the closest row does not accept.
Result<const Form*> find_form(const ptx::Instruction& instruction);

/// Every row, a family after the other.
std::span<const Form> instruction_table();

/// The numbers of an opcode's rows, in the table's order: it has rows in several families.
std::span<const std::uint16_t> rows_of(ptx::Opcode opcode);

}  // namespace cucore::cpu::analysis
