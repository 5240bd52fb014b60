// How many registers a function would take on a GPU: what CU_FUNC_ATTRIBUTE_NUM_REGS tells of a kernel.
#pragma once

#include <cstdint>

#include "cpu/ptx/tree/ast.hpp"

namespace cucore::cpu::analysis {

/// An estimate, in registers of 32 bits: the most that is live at once, if each register of the PTX lives from the
/// first instruction that names it to the last, and through the loops that it is used in after it was set before them.
/// Predicates have registers of their own and do not count. At least 1 for a function with a body.
std::uint32_t register_pressure(const ptx::Function& function);

}  // namespace cucore::cpu::analysis
