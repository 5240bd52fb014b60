// The automatic choice of the form of a kernel's code. It looks at the scalar form, never
// at a clock, so that a kernel gets the same form everywhere.
#pragma once

#include "cpu/compiler/vector/analysis/control_flow.hpp"
#include "cpu/compiler/vector/analysis/stride_analysis.hpp"

namespace cucore::cpu::compiler {

/// Whether the scalar form of a kernel is expected to be faster, because of scattered accesses. `strides`: of the
/// full version.
bool is_scalar_form_faster(const ControlFlow& flow, const StrideAnalysis& strides);

}  // namespace cucore::cpu::compiler
