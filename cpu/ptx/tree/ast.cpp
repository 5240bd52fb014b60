// Spellings and look-ups of the module tree.
#include "cpu/ptx/tree/ast.hpp"

#include <algorithm>

#include "cpu/ptx/tree/word_table.hpp"

namespace cucore::cpu::ptx {

std::string_view spelling(Opcode opcode) { return opcode_spellings[static_cast<std::size_t>(opcode)]; }
std::string_view spelling(Modifier modifier) { return modifier_spellings[static_cast<std::size_t>(modifier)]; }

std::string_view spelling(Space space) {
  switch (space) {
    case Space::Generic:
      return "generic";
    case Space::Reg:
      return "reg";
    case Space::Sreg:
      return "sreg";
    case Space::Const:
      return "const";
    case Space::Global:
      return "global";
    case Space::Local:
      return "local";
    case Space::Param:
      return "param";
    case Space::Shared:
      return "shared";
    case Space::Tex:
      return "tex";
  }
  return "";
}

bool has_flushable_result(Opcode opcode) {
  switch (opcode) {
    case Opcode::Abs:
    case Opcode::Add:
    case Opcode::Cos:
    case Opcode::Div:
    case Opcode::Ex2:
    case Opcode::Fma:
    case Opcode::Lg2:
    case Opcode::Mad:
    case Opcode::Max:
    case Opcode::Min:
    case Opcode::Mul:
    case Opcode::Neg:
    case Opcode::Rcp:
    case Opcode::Rsqrt:
    case Opcode::Sin:
    case Opcode::Sqrt:
    case Opcode::Sub:
      return true;
    default:
      return false;
  }
}

bool Instruction::has(Modifier modifier) const {
  return std::find(modifiers.begin(), modifiers.end(), modifier) != modifiers.end();
}

Space Instruction::space() const { return spaces.empty() ? Space::Generic : spaces.front(); }
Type Instruction::type() const { return types.empty() ? Type::None : types.back(); }

std::string spelling(const Instruction& instruction) {
  std::string text;
  text.reserve(instruction.spelt.size());
  for (char c : instruction.spelt) {
    if (c != ' ' && c != '\t' && c != '\r' && c != '\n') text += c;
  }
  return text;
}

const Function* Module::find_function(std::string_view name) const {
  auto found = std::find_if(functions.begin(), functions.end(), [&](const Function& f) { return f.name == name; });
  return found == functions.end() ? nullptr : &*found;
}

const Variable* Module::find_variable(std::string_view name) const {
  auto found = std::find_if(variables.begin(), variables.end(), [&](const Variable& v) { return v.name == name; });
  return found == variables.end() ? nullptr : &*found;
}

}  // namespace cucore::cpu::ptx
