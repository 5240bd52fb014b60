// The steps that put checks where the emission wants them. After both no check that restarts its block (an index that
// may wrap around) stands behind an effect, and all checks of accesses that can stand before the first effect of their
// block do.
#pragma once

#include "cpu/compiler/vector/analysis/stride_analysis.hpp"

namespace cucore::cpu::compiler {

/// Splits blocks in which a check that restarts its block must stand behind an effect. Whether it split any; what is
/// known of the control flow is then out of date.
bool split_before_checks(llvm::Function& scalar, const StrideAnalysis& strides);

/// Brings checks of accesses together before the first effect of their block, where one question answers for all.
void gather_checks(llvm::Function& scalar, const StrideAnalysis& strides);

}  // namespace cucore::cpu::compiler
