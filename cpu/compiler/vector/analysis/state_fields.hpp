// Which field of the run-time's state a pointer in a scalar form addresses.
#pragma once

#include <cstdint>
#include <optional>

#include "cpu/compiler/ir/llvm.hpp"

namespace cucore::cpu::compiler {

/// Offset of a field of the ThreadState that `pointer` addresses, if it is one.
std::optional<std::uint64_t> thread_field(const llvm::Value* pointer, const llvm::Function& scalar);
/// The same of the thread's BlockState.
std::optional<std::uint64_t> block_field(const llvm::Value* pointer, const llvm::Function& scalar);

}  // namespace cucore::cpu::compiler
