// By all instructions that write a register: see flushed_values.hpp.
#include "cpu/compiler/emitters/flushed_values.hpp"

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace cucore::cpu::compiler {

namespace {

using ptx::Instruction;
using ptx::Opcode;
using ptx::Operand;
using ptx::Type;
using M = ptx::Modifier;

std::optional<float> literal(const Operand& operand) {
  if (operand.kind != Operand::Kind::Float || !operand.is_single) return std::nullopt;
  return std::bit_cast<float>(static_cast<std::uint32_t>(operand.float_bits));
}

/// A number that is not flushed.
bool is_at_least(std::optional<float> number, float least) { return number && std::fabs(*number) >= least; }

bool flushes_result(const Instruction& i) {
  return i.has(M::Ftz) && i.type() == Type::F32 && ptx::has_flushable_result(i.opcode);
}

bool makes_whole_number(const Instruction& i) {
  return i.opcode == Opcode::Cvt && i.types[0] == Type::F32 &&
         (is_integer(i.types[1]) || i.has(M::Rni) || i.has(M::Rzi) || i.has(M::Rmi) || i.has(M::Rpi));
}

/// How often registers are written, and by which instruction if by one only.
struct Writes {
  unsigned count = 0;
  const Instruction* by = nullptr;  ///< null if one of them wrote more than this register
};

void note_parts(const Operand& operand, std::vector<Writes>& writes) {
  for (const Operand& element : operand.elements) {
    if (element.kind == Operand::Kind::Register) writes[element.reg] = {.count = 2, .by = nullptr};
    note_parts(element, writes);
  }
}

}  // namespace

FlushedValues::FlushedValues(const ptx::Function& function)
    : is_flushed_(function.registers.size(), false), constants_(function.registers.size()) {
  if (!function.is_entry) return;
  // A register that is part of an operand counts as written, and so does every operand in a result's position.
  std::vector<Writes> writes(function.registers.size());
  for (const Instruction& i : function.body) {
    for (const Operand& operand : i.operands) note_parts(operand, writes);
    if (i.operands.empty() || i.operands[0].kind != Operand::Kind::Register) continue;
    Writes& mine = writes[i.operands[0].reg];
    mine.by = mine.count == 0 && i.operands[0].component < 0 ? &i : nullptr;
    ++mine.count;
  }
  for (std::size_t reg = 0; reg < writes.size(); ++reg) {
    const ptx::Register& declared = function.registers[reg];
    const Instruction* by = writes[reg].by;
    if (by == nullptr || declared.vector_width != 1 || size_in_bytes(declared.type) != sizeof(float)) continue;
    if (by->opcode == Opcode::Mov && !by->guard) constants_[reg] = literal(by->operands[1]);
    is_flushed_[reg] = flushes_result(*by) || makes_whole_number(*by) ||
                       is_at_least(constants_[reg], std::numeric_limits<float>::min());
  }
}

bool FlushedValues::is_flushed(const Operand& operand) const {
  if (operand.kind == Operand::Kind::Register) return operand.component < 0 && is_flushed_[operand.reg];
  return is_at_least(literal(operand), std::numeric_limits<float>::min());
}

std::optional<float> FlushedValues::constant(const Operand& operand) const {
  return operand.kind == Operand::Kind::Register && operand.component < 0 ? constants_[operand.reg] : literal(operand);
}

bool FlushedValues::is_never_subnormal(const Instruction& i) const {
  const auto at_least = [&](std::size_t operand, float least) {
    return is_at_least(constant(i.operands[operand]), least);
  };
  switch (i.opcode) {
    case Opcode::Mul:
      return at_least(1, 1) || at_least(2, 1);
    case Opcode::Add:
    case Opcode::Sub:  // what a term of at least half the other leaves is a multiple of 2^-124
      return at_least(1, 0x1p-100F) || at_least(2, 0x1p-100F);
    case Opcode::Fma:
    case Opcode::Mad:  // likewise of 2^-118: a product of at least 2^-71 has no finer bits
      return at_least(3, 0x1p-70F);
    default:
      return false;
  }
}

}  // namespace cucore::cpu::compiler
