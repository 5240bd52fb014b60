// What the processor has that generators use directly, and how wide its vectors are.
#pragma once

#include <algorithm>

namespace cucore::cpu::compiler {

struct HostFeatures {
  // x86-64
  bool f16c = false;     ///< conversion of halves
  bool avx2 = false;     ///< words of a vector in the order that numbers in another one say
  bool avx512f = false;  ///< a rounding mode in the instruction, gathers and mask registers
  bool fpclass = false;  ///< classes of numbers in vectors of any width
  // 64-bit Arm
  bool neon = false;  ///< conversion of halves, to the nearest
  // as LLVM's description of the processor has them
  unsigned vector_bits = 128;
  unsigned vector_registers = 16;

  /// Of 32 bits, in a vector; at least eight, so that masks are integers that the host has.
  unsigned native_lanes() const { return std::max(8U, vector_bits / 32); }
  /// That all registers together hold.
  unsigned native_vectors() const { return vector_registers * vector_bits / (32 * native_lanes()); }
};

}  // namespace cucore::cpu::compiler
