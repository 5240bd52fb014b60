// Marks: checks as they are emitted before loops are known, as calls of functions that exist only in IR. They ask
// whether an access lies in the interval that its instruction found last, and say where a variable's lifetime begins
// and ends. The optimiser moves marks like any instruction; then they become code, outside of a loop where one check
// can answer for all iterations.
#pragma once

#include "cpu/compiler/ir/llvm.hpp"

namespace cucore::cpu::compiler {

/// Whether the CheckInterval that is pointed at has the byte at `first`, a multiple of `alignment`, and `beyond` bytes
/// more.
llvm::Value* mark_range(llvm::IRBuilder<>& b, llvm::Value* interval, llvm::Value* first, std::uint64_t beyond,
                        std::uint64_t alignment);
/// The same as code, for places that are executed rarely.
llvm::Value* look_at_range(llvm::IRBuilder<>& b, llvm::Value* interval, llvm::Value* first, std::uint64_t beyond,
                           std::uint64_t alignment);

/// An access of the vector form, whose lanes are looked at together: bytes, flags and line as the service has them.
struct LaneAccess {
  llvm::Value* interval;
  llvm::Value* first;  ///< of what the mark asks for, as in mark_range
  std::uint64_t beyond;
  std::uint64_t alignment;
  llvm::Value* address;
  llvm::Value* service;  ///< CheckTable::lanes
  std::uint32_t bytes, word, line;
};

/// The address of an access, by which only lanes go that may.
llvm::Value* mark_lanes(llvm::IRBuilder<>& b, const LaneAccess& access);

/// The thread's own `variable` begins, or ends, to live: `service` is told so, once for all threads of a plain loop,
/// whose variables share a place.
void mark_life(llvm::IRBuilder<>& b, llvm::Value* service, llvm::Value* variable, std::uint64_t bytes, bool begins);

/// Makes code of all marks, where they stand.
void expand_check_marks(llvm::Module& ir);

}  // namespace cucore::cpu::compiler
