// Accesses and the checks that stand before them (checks/marks.hpp) in a scalar form.
#pragma once

#include "cpu/compiler/ir/llvm.hpp"

namespace cucore::cpu::compiler {

/// Null if the instruction is not an access.
llvm::Value* address_of_access(const llvm::Instruction& instruction);

/// The mark that an address comes from, if any.
llvm::CallInst* check_of(const llvm::Instruction& access);

/// Whether an address is used once, in the same block, and then by the access.
bool has_one_access(const llvm::Instruction& address);

/// Whether an address with a check is accessed in another block than `block`.
bool is_accessed_elsewhere(const llvm::Instruction& address, const llvm::BasicBlock& block);

/// Whether an instruction is a mark, or only marks use it; not an address, which its access needs too.
bool is_for_checks(const llvm::Instruction& instruction);

/// The number of the other instructions, so that checks do not change the choice of the form.
unsigned size_without_checks(const llvm::BasicBlock& block);
unsigned size_without_checks(const llvm::Function& scalar);

}  // namespace cucore::cpu::compiler
