// Functions of floats with a stated error, as arithmetic that runs on vectors as it does on numbers: the same bits.
#pragma once

#include "cpu/compiler/emitters/function_emitter.hpp"

namespace cucore::cpu::compiler {

/// 2^a within 0.9 ulp, exact for whole numbers.
llvm::Value* power_of_two(FunctionEmitter& f, llvm::Value* a);

/// log2 a within 2 ulp, exact for powers of two; NaN below zero.
llvm::Value* base_two_logarithm(FunctionEmitter& f, llvm::Value* a);

/// Within 2 ulp up to 2^45, NaN of infinities. Beyond, where floats lie millions of turns apart, the sine is 0 or 1
/// rather than a guess of the angle.
llvm::Value* sine(FunctionEmitter& f, llvm::Value* a);
llvm::Value* cosine(FunctionEmitter& f, llvm::Value* a);

/// Within 2 ulp.
llvm::Value* hyperbolic_tangent(FunctionEmitter& f, llvm::Value* a);

}  // namespace cucore::cpu::compiler
