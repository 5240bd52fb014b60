// Floating-point values as PTX treats them: flushing, saturation, rounding modes and the 16-bit formats.
#pragma once

#include <string>

#include "cpu/compiler/emitters/function_emitter.hpp"

namespace cucore::cpu::compiler {

/// Values are those of the built-ins' mode argument.
enum class Rounding : std::uint32_t { Nearest, Zero, Down, Up };

/// .rn .rz .rm .rp; to the nearest if none is spelt.
Rounding rounding_of(const ptx::Instruction& instruction);

/// Subnormal values (float or double) become zeros of their sign: what .ftz does to operands and results.
llvm::Value* flush_subnormal(llvm::IRBuilder<>& b, llvm::Value* value);

/// Likewise of an .f16 as i16.
llvm::Value* flush_half(FunctionEmitter& f, llvm::Value* half);

/// `rounded`, or zero where `exact` (wider) would be subnormal if `type` (f32 or f16) had no lower
/// bound on its exponent: hardware decides on flushing after rounding, but before the result is squeezed into the
/// subnormal format, which may round it up to the smallest normal number.
llvm::Value* flush_rounded(FunctionEmitter& f, llvm::Value* rounded, llvm::Value* exact, ptx::Type type);

/// .sat: [0, 1], and NaN becomes +0.
llvm::Value* saturate(FunctionEmitter& f, llvm::Value* value);

/// .f16 or .bf16 (as i16) to float: exact.
llvm::Value* widen_half(FunctionEmitter& f, llvm::Value* half, ptx::Type type);

/// float or double to a narrower floating-point type (halves as i16), rounded once.
llvm::Value* narrow(FunctionEmitter& f, llvm::Value* value, ptx::Type to, Rounding rounding);

/// min or max of two floats or doubles: the number if one is NaN, and -0 < +0.
llvm::Value* float_min_max(FunctionEmitter& f, bool is_min, llvm::Value* a, llvm::Value* b, bool propagate_nan);

/// .f16 or .bf16 of a scalar or packed half.
ptx::Type element_of(ptx::Type type);

/// Element `lane` of a scalar or packed half, as i16.
llvm::Value* half_element(FunctionEmitter& f, llvm::Value* packed, unsigned lane);

/// Builds a scalar or packed half from what `element(lane)` returns as i16.
template <typename Element>
llvm::Value* for_each_half(FunctionEmitter& f, ptx::Type type, const Element& element) {
  llvm::Value* result = f.b.getIntN(static_cast<unsigned>(8 * size_in_bytes(type)), 0);
  for (unsigned lane = 0; lane < (is_packed_half(type) ? 2U : 1U); ++lane) {
    llvm::Value* bits = f.b.CreateZExt(element(lane), result->getType());
    result = f.b.CreateOr(result, f.b.CreateShl(bits, 16 * lane));
  }
  return result;
}

/// Reads an operand as float or double: halves widened, f32 flushed if the instruction says .ftz.
llvm::Value* float_source(FunctionEmitter& f, const ptx::Instruction& instruction, std::size_t operand);

}  // namespace cucore::cpu::compiler
