// Before the vector form is made: values that are cheaper to compute again behind a barrier than to keep across it.
#pragma once

#include "cpu/compiler/vector/shapes.hpp"

namespace cucore::cpu::codegen {

/// Computes what takes few operations on the thread's indices and on what is the same in all lanes again where it is
/// used behind a barrier. Whether it changed anything; the flow and the shapes are then out of date.
bool recompute_behind_barriers(const VectorFlow& flow, const Shapes& shapes);

}  // namespace cucore::cpu::codegen
