// Any text goes through the parser and verifier; every index in an accepted module is followed.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "cpu/ptx/parser.hpp"

namespace {

using namespace cucore::cpu::ptx;

void require(bool condition) {
  if (!condition) std::abort();
}

void follow(const Module& module, const Function& function, const Operand& operand) {
  switch (operand.kind) {
    case Operand::Kind::Register:
      require(operand.reg < function.registers.size());
      break;
    case Operand::Kind::Variable:
      require(operand.variable <
              (operand.scope == Operand::Scope::Module ? module.variables : function.variables).size());
      break;
    case Operand::Kind::Function:
      require(operand.function < module.functions.size());
      break;
    case Operand::Kind::Label:
      require(operand.label < function.labels.size());
      break;
    case Operand::Kind::Prototype:
      require(operand.integer < function.prototypes.size());
      break;
    case Operand::Kind::TargetList:
      require(operand.integer < function.target_lists.size());
      break;
    case Operand::Kind::Address:
      require(!operand.elements.empty());
      break;
    case Operand::Kind::RegisterPair:
      require(operand.elements.size() == 2);
      break;
    default:
      break;
  }
  for (const Operand& element : operand.elements) follow(module, function, element);
}

void follow(const Module& module) {
  for (const Variable& variable : module.variables) {
    require(variable.initial.empty() || variable.initial.size() == variable.size);
    for (const Relocation& relocation : variable.relocations) {
      require(relocation.offset + relocation.width <= variable.size);
      require(relocation.is_function ? relocation.function < module.functions.size()
                                     : relocation.variable < module.variables.size());
    }
  }
  for (const Function& function : module.functions) {
    if (function.alias_of) require(*function.alias_of < module.functions.size());
    for (const VariableId id : function.parameters) require(id < function.variables.size());
    for (const Label& label : function.labels) require(label.instruction <= function.body.size());
    for (const Instruction& instruction : function.body) {
      if (instruction.guard) require(instruction.guard->reg < function.registers.size());
      if (instruction.opcode == Opcode::Call) require(instruction.operands.size() >= 3);
      require(!spelling(instruction).empty());
      for (const Operand& operand : instruction.operands) follow(module, function, operand);
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const ParseResult result = parse({reinterpret_cast<const char*>(data), size});
  require((result.module == nullptr) == !result.diagnostics.empty());
  format(result.diagnostics);
  if (result.module != nullptr) follow(*result.module);
  return 0;
}
