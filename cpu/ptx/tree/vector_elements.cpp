// Takes a vector register apart: see vector_elements.hpp.
#include "cpu/ptx/tree/vector_elements.hpp"

#include <cstddef>
#include <cstdint>

namespace cucore::cpu::ptx {

std::vector<Operand> vector_elements(const Operand& operand, const std::vector<Register>& registers) {
  if (operand.kind == Operand::Kind::Vector) return operand.elements;
  if (operand.kind != Operand::Kind::Register || operand.component >= 0) return {operand};
  std::vector<Operand> components(registers[operand.reg].vector_width, operand);
  if (components.size() > 1) {
    for (std::size_t i = 0; i < components.size(); ++i) components[i].component = static_cast<std::int8_t>(i);
  }
  return components;
}

}  // namespace cucore::cpu::ptx
