// Vector registers in `mov`, spelt out: afterwards each `mov` moves one value, or packs or unpacks a list in braces.
#include <algorithm>
#include <string>
#include <utility>

#include "cpu/ptx/syntax/module_parser.hpp"
#include "cpu/ptx/tree/vector_elements.hpp"

namespace cucore::cpu::ptx {

namespace {

/// `%v` as `{%v.x, %v.y}`; everything else as it is.
void spell_out(Operand& operand, const std::vector<Register>& registers) {
  std::vector<Operand> elements = vector_elements(operand, registers);
  if (operand.kind != Operand::Kind::Register || elements.size() == 1) return;
  Operand list;
  list.kind = Operand::Kind::Vector;
  list.elements = std::move(elements);
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

}  // namespace

void ModuleParser::add_move(Instruction move) {
  if (move.operands.size() != 2 || move.types.size() != 1) {  // the verifier's to refuse
    function_->body.push_back(std::move(move));
    return;
  }
  for (Operand& operand : move.operands) spell_out(operand, function_->registers);
  if (move.vector_width == 1) {
    function_->body.push_back(std::move(move));
    return;
  }
  std::vector<Operand> to = std::move(move.operands[0].elements);
  std::vector<Operand> from = std::move(move.operands[1].elements);
  if (to.size() != move.vector_width || from.size() != move.vector_width) {
    report(move.position, "'" + std::string(move.spelt.substr(0, 80)) + "' moves vectors of " +
                              std::to_string(move.vector_width) + " values");
    return;
  }
  if (has_hazard(to, from)) {
    for (Operand& value : from) value = computed(Opcode::Mov, move.types, {std::move(value)});
  }
  move.vector_width = 1;
  for (std::size_t i = 0; i < to.size(); ++i) {
    move.operands = {std::move(to[i]), std::move(from[i])};
    function_->body.push_back(move);
  }
}

}  // namespace cucore::cpu::ptx
