// Arithmetic that does not round to the nearest: towards zero, down or up. In the instruction where the host has that;
// else floats go one step if the nearest lies on the wrong side of the exact result, which doubles tell.
#pragma once

#include <vector>

#include "cpu/compiler/emitters/float_values.hpp"

namespace cucore::cpu::compiler {

/// The float in the direction of `rounding` of a number, of which the nearest float is `nearest` and which lies above
/// that, below it, or is equal.
llvm::Value* step_from_nearest(FunctionEmitter& f, llvm::Value* nearest, llvm::Value* is_above, llvm::Value* is_below,
                               Rounding rounding);

/// add sub mul fma mad div rcp sqrt of floats or doubles; nothing is flushed.
llvm::Value* directed_arithmetic(FunctionEmitter& f, ptx::Opcode opcode, const std::vector<llvm::Value*>& operands,
                                 Rounding rounding);

}  // namespace cucore::cpu::compiler
