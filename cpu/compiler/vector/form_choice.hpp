// Which form of code is worth more for a kernel: what the automatic choice goes by. It looks at the scalar form, never
// at a clock, so that a kernel gets the same form everywhere.
#pragma once

#include <string>

#include "cpu/compiler/vector/flow.hpp"
#include "cpu/compiler/vector/shapes.hpp"

namespace cucore::cpu::codegen {

/// Why the scalar form of a kernel is taken to be the faster one, in words; empty if it is not. `shapes` are those of
/// the full version.
std::string prefer_scalar_form(const VectorFlow& flow, const Shapes& shapes);

}  // namespace cucore::cpu::codegen
