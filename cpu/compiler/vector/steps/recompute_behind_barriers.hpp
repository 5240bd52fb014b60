// The step after which nothing is kept across a barrier that is cheaper to compute again behind it.
#pragma once

#include "cpu/compiler/vector/analysis/stride_analysis.hpp"

namespace cucore::cpu::compiler {

/// Computes what takes few operations on the thread's indices and on what is the same in all lanes again where it is
/// used behind a barrier. Whether it changed anything; what is known of the kernel is then out of date.
bool recompute_behind_barriers(const ControlFlow& flow, const StrideAnalysis& strides);

}  // namespace cucore::cpu::compiler
