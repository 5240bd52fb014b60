// Checks a parsed module: each instruction's operands against the ISA's rules.
#pragma once

#include <vector>

#include "cpu/ptx/tree/ast.hpp"
#include "cpu/ptx/tree/diagnostic.hpp"

namespace cucore::cpu::ptx {

/// Appends a diagnostic for every instruction that ptxas would refuse too, fifty at most. A rule that is not certain is
/// not applied.
void verify(const Module& module, std::vector<Diagnostic>& diagnostics);

}  // namespace cucore::cpu::ptx
