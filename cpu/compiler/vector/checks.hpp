// Checks in what the vector form is made of: see checks.cpp.
#pragma once

#include <vector>

#include "cpu/abi/compiler.hpp"
#include "cpu/compiler/vector/shapes.hpp"

namespace cucore::cpu::codegen {

/// The optimiser may have moved loads to where their results are used, behind a loop: back to where they were asked
/// for.
void bring_loads_to_checks(llvm::Function& scalar);

/// Whether each access by an address with a check can be told from the code alone.
bool checks_stay_with_accesses(const llvm::Function& scalar);

/// Whether an instruction is a mark, or only marks use it; not an address, which its access needs too.
bool is_for_checks(const llvm::Instruction& instruction);

/// Instructions that are not: what the form is chosen by, with checks and without.
unsigned size_without_checks(const llvm::BasicBlock& block);
unsigned size_without_checks(const llvm::Function& scalar);

/// Takes away the checks of what no thread of such a block can miss: places in the static `shared` variables that are
/// computed from its index.
void drop_needless_checks(llvm::Function& scalar, const VectorWidth& width, const std::vector<SharedVariable>& shared);

}  // namespace cucore::cpu::codegen
