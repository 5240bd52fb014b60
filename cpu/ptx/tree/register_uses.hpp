// Which instructions of a function write a register, and which read it.
#pragma once

#include <cstdint>
#include <vector>

#include "cpu/ptx/tree/ast.hpp"

namespace cucore::cpu::ptx {

/// By register, indices in the body in ascending order.
struct RegisterUses {
  explicit RegisterUses(const Function& function);

  std::vector<std::vector<std::uint32_t>> writers;  ///< what holds it is their first operand
  std::vector<std::vector<std::uint32_t>> readers;  ///< guards left out
};

}  // namespace cucore::cpu::ptx
