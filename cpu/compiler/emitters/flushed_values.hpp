// What is known of floats in registers without running a kernel: which cannot be subnormal, so that .ftz flushes
// nothing, and which are constants. Most operations with .ftz then need no flushing.
#pragma once

#include <optional>
#include <vector>

#include "cpu/ptx/tree/ast.hpp"

namespace cucore::cpu::compiler {

class FlushedValues {
 public:
  /// Knows nothing of registers that callers may have set.
  explicit FlushedValues(const ptx::Function& function);

  /// Whether an operand that is read as .f32 is known not to be subnormal.
  bool is_flushed(const ptx::Operand& operand) const;
  /// Its number, if it is known.
  std::optional<float> constant(const ptx::Operand& operand) const;
  /// Whether the result of add, sub, mul, fma or mad with .ftz is so far from zero, or zero, that nothing is flushed.
  bool is_never_subnormal(const ptx::Instruction& instruction) const;

 private:
  std::vector<bool> is_flushed_;                 ///< by register
  std::vector<std::optional<float>> constants_;  ///< by register
};

}  // namespace cucore::cpu::compiler
