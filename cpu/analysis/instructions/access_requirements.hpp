// What all instructions that access memory are asked: their state space, their vector, their cache policy.
#pragma once

#include <algorithm>
#include <cstddef>
#include <initializer_list>

#include "cpu/analysis/instructions/not_supported.hpp"
#include "cpu/ptx/tree/ast.hpp"

namespace cucore::cpu::analysis::requirements {

inline Result<void> spaces_one_of(const ptx::Instruction& i, std::initializer_list<ptx::Space> allowed) {
  for (ptx::Space space : i.spaces) {
    if (std::find(allowed.begin(), allowed.end(), space) == allowed.end()) return not_supported("state space");
  }
  return require(i.spaces.size() <= 1, "several state spaces");
}

inline Result<void> cache_policy_operand(const ptx::Instruction& i, std::size_t operands) {
  return require(i.operands.size() == operands + (i.has(ptx::Modifier::L2CacheHint) ? 1 : 0), "operands");
}

inline Result<void> vector_access(const ptx::Instruction& i) {
  if (size_in_bytes(i.type()) * i.vector_width > 16) return not_supported("vector of more than 16 bytes");
  return require(i.vector_width != 3, "vector of three");
}

}  // namespace cucore::cpu::analysis::requirements
