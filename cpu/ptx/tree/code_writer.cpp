// Makes instructions: see code_writer.hpp.
#include "cpu/ptx/tree/code_writer.hpp"

#include <utility>

namespace cucore::cpu::ptx {

Operand CodeWriter::compute(Opcode opcode, std::vector<Type> types, std::vector<Operand> from) {
  Operand result;
  result.kind = Operand::Kind::Register;
  result.reg = static_cast<RegisterId>(function_.registers.size());
  function_.registers.push_back({.name = "a value between", .type = types.front(), .vector_width = 1});
  Instruction instruction;
  instruction.opcode = opcode;
  instruction.spelt = spelling(opcode);
  if (opcode == Opcode::Mad) instruction.modifiers.push_back(Modifier::Lo);
  instruction.types = std::move(types);
  instruction.operands = std::move(from);
  instruction.operands.insert(instruction.operands.begin(), result);
  instruction.position = position_;
  instruction.source = source_;
  function_.body.push_back(std::move(instruction));
  return result;
}

Operand CodeWriter::element_address(Type address, Operand variable, Operand index, std::uint64_t size,
                                    std::uint64_t constant) {
  const auto number = [](std::uint64_t value) {
    Operand operand;
    operand.kind = Operand::Kind::Integer;
    operand.integer = static_cast<std::uint32_t>(value);
    return operand;
  };
  Operand offset = compute(Opcode::Mad, {Type::U32}, {std::move(index), number(size), number(constant * size)});
  if (address == Type::U64) offset = compute(Opcode::Cvt, {Type::U64, Type::U32}, {std::move(offset)});
  Operand begin = compute(Opcode::Mov, {address}, {std::move(variable)});
  return compute(Opcode::Add, {address}, {std::move(begin), std::move(offset)});
}

}  // namespace cucore::cpu::ptx
