// Vector registers in `mov`, spelt out: afterwards each `mov` moves one value, or packs or unpacks a list in braces.
#pragma once

#include <vector>

#include "cpu/ptx/tree/ast.hpp"
#include "cpu/ptx/tree/diagnostic.hpp"

namespace cucore::cpu::ptx {

/// Those whose operands have another number of values than they say go into `diagnostics`.
void spell_out_vector_moves(Module& module, std::vector<Diagnostic>& diagnostics);

}  // namespace cucore::cpu::ptx
