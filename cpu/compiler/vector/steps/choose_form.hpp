// Which form of code is worth more for a kernel: what the automatic choice goes by. It looks at the scalar form, never
// at a clock, so that a kernel gets the same form everywhere.
#pragma once

#include "cpu/compiler/vector/analysis/control_flow.hpp"
#include "cpu/compiler/vector/analysis/stride_analysis.hpp"

namespace cucore::cpu::compiler {

/// Whether the scalar form of a kernel is taken to be the faster one, for its scattered accesses. `strides`: of the
/// full version.
bool is_scalar_form_faster(const ControlFlow& flow, const StrideAnalysis& strides);

}  // namespace cucore::cpu::compiler
