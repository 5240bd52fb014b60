// The step after which no two accesses to neighbouring words are left that lanes would make one by one: they are one
// access to both words, which takes half as many steps.
#pragma once

#include "cpu/compiler/vector/analysis/stride_analysis.hpp"

namespace cucore::cpu::compiler {

/// Whether it changed anything; what is known of the kernel is then out of date.
bool join_pairs(const ControlFlow& flow, const StrideAnalysis& strides);

}  // namespace cucore::cpu::compiler
