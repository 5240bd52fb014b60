// Before the vector form is made: accesses to neighbouring words that are not side by side across the lanes become one
// access to both, which takes half as many steps.
#pragma once

#include "cpu/compiler/vector/shapes.hpp"

namespace cucore::cpu::codegen {

/// Whether it changed anything; the flow and the shapes are then out of date.
bool join_pairs(const VectorFlow& flow, const Shapes& shapes);

/// Whether a type is that of a joined access: two words in a small vector.
bool is_pair(const llvm::Type* type);

}  // namespace cucore::cpu::codegen
