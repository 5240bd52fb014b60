// Accesses that are checked together: those with one base register in one basic block, like the neighbours of a
// stencil. Where their whole span is known to be accessible, none of them is checked by itself.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>

#include "cpu/compiler/ir/llvm.hpp"
#include "cpu/ptx/tree/ast.hpp"

namespace cucore::cpu::compiler {

/// Bytes from `begin` to `end` around the register's value, all at multiples of `alignment` from one another.
struct CheckGroup {
  std::int64_t begin = 0, end = 0;
  std::uint32_t alignment = 1;
  std::uint32_t members = 0;
  ptx::Space space = ptx::Space::Generic;
  // Emitted with the first member:
  llvm::Value* is_inside = nullptr;  ///< for the scalar form
  llvm::Value* interval = nullptr;   ///< for the vector form: that of the first member, and the address of `begin`
  llvm::Value* first = nullptr;
};

using CheckGroups = std::unordered_map<const ptx::Instruction*, std::shared_ptr<CheckGroup>>;

/// Of the instructions of one basic block: groups of two members and more.
CheckGroups find_check_groups(std::span<const ptx::Instruction> block);

}  // namespace cucore::cpu::compiler
