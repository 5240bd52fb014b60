// Takes moves of vectors apart: see vector_moves.hpp.
#include "cpu/ptx/rewrites/vector_moves.hpp"

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>

#include "cpu/ptx/rewrites/rewrite_body.hpp"
#include "cpu/ptx/tree/code_writer.hpp"
#include "cpu/ptx/tree/vector_elements.hpp"

namespace cucore::cpu::ptx {

namespace {

bool is_vector_register(const Operand& operand, const std::vector<Register>& registers) {
  return operand.kind == Operand::Kind::Register && operand.component < 0 && registers[operand.reg].vector_width > 1;
}

/// The verifier refuses moves of another number of operands or types.
bool moves_vectors(const Instruction& move, const Function& function) {
  if (move.opcode != Opcode::Mov || move.operands.size() != 2 || move.types.size() != 1) return false;
  return move.vector_width > 1 || is_vector_register(move.operands[0], function.registers) ||
         is_vector_register(move.operands[1], function.registers);
}

/// `%v` as `{%v.x, %v.y}`; everything else as it is.
void spell_out(Operand& operand, const std::vector<Register>& registers) {
  if (!is_vector_register(operand, registers)) return;
  Operand list;
  list.kind = Operand::Kind::Vector;
  list.elements = vector_elements(operand, registers);
  operand = std::move(list);
}

bool is_same_register(const Operand& a, const Operand& b) {
  return a.kind == Operand::Kind::Register && b.kind == Operand::Kind::Register && a.reg == b.reg &&
         a.component == b.component;
}

/// Whether one value after the other would write what a later one reads.
bool has_hazard(const std::vector<Operand>& to, const std::vector<Operand>& from) {
  for (std::size_t read = 1; read < from.size(); ++read) {
    const auto before = to.begin() + static_cast<std::ptrdiff_t>(read);
    if (std::any_of(to.begin(), before, [&](const Operand& written) { return is_same_register(written, from[read]); }))
      return true;
  }
  return false;
}

/// A move of `vector_width` values, as so many moves.
void write_moves(Instruction move, Function& function, std::vector<Diagnostic>& diagnostics) {
  std::vector<Operand> to = std::move(move.operands[0].elements);
  std::vector<Operand> from = std::move(move.operands[1].elements);
  if (to.size() != move.vector_width || from.size() != move.vector_width) {
    diagnostics.push_back({Diagnostic::Kind::Semantic, move.position,
                           "'" + std::string(move.spelt.substr(0, 80)) + "' moves vectors of " +
                               std::to_string(move.vector_width) + " values"});
    return;
  }
  if (has_hazard(to, from)) {
    CodeWriter writer(function, move.position, move.source);
    for (Operand& value : from) value = writer.compute(Opcode::Mov, move.types, {std::move(value)});
  }
  move.vector_width = 1;
  for (std::size_t i = 0; i < to.size(); ++i) {
    move.operands = {std::move(to[i]), std::move(from[i])};
    function.body.push_back(move);
  }
}

}  // namespace

void spell_out_vector_moves(Module& module, std::vector<Diagnostic>& diagnostics) {
  for (Function& function : module.functions) {
    const auto is_one = [&](const Instruction& instruction) { return moves_vectors(instruction, function); };
    if (std::none_of(function.body.begin(), function.body.end(), is_one)) continue;
    rewrite_body(function, [&](Instruction&& instruction) {
      if (!is_one(instruction)) {
        function.body.push_back(std::move(instruction));
        return;
      }
      for (Operand& operand : instruction.operands) spell_out(operand, function.registers);
      if (instruction.vector_width > 1)
        write_moves(std::move(instruction), function, diagnostics);
      else
        function.body.push_back(std::move(instruction));
    });
  }
}

}  // namespace cucore::cpu::ptx
