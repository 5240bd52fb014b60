// Goes through a body once: see register_uses.hpp.
#include "cpu/ptx/tree/register_uses.hpp"

#include <cstddef>

namespace cucore::cpu::ptx {

RegisterUses::RegisterUses(const Function& function)
    : writers(function.registers.size()), readers(function.registers.size()) {
  for (std::uint32_t i = 0; i < function.body.size(); ++i) {
    const Instruction& each = function.body[i];
    for (std::size_t n = 0; n < each.operands.size(); ++n) {
      auto& whose = n == 0 && writes_first_operand(each) ? writers : readers;
      for_each_register(each.operands[n], [&](RegisterId reg) { whose[reg].push_back(i); });
    }
  }
}

}  // namespace cucore::cpu::ptx
