// Checks in the full version that extending a strided index does not wrap around inside the group or a chunk, as the
// stride analysis assumes. Where one fails, the block restarts in the masked version, which assumes nothing.
#pragma once

#include "cpu/compiler/vector/state/transitions.hpp"
#include "cpu/error/result.hpp"

namespace cucore::cpu::compiler {

class IndexChecks {
 public:
  IndexChecks(EmissionContext& context, VectorValues& values, Transitions& transitions)
      : c_(context), values_(values), transitions_(transitions), b(context.b) {}

  void begin_block();
  /// Whether nothing in the block so far has had an effect.
  bool can_restart() const { return can_restart_; }
  void note_effect() { can_restart_ = false; }

  /// Checks an extension; nothing is done about it before the next flush.
  void add(llvm::Instruction& extension);
  /// Emits an extension where only active lanes count: from the lowest of them, and checked against the highest.
  void extend_under_mask(llvm::Instruction& extension);
  /// Goes to the masked version if a check failed. Comes before every access.
  Result<void> flush();

 private:
  EmissionContext& c_;
  VectorValues& values_;
  Transitions& transitions_;
  llvm::IRBuilder<>& b;
  llvm::Value* pending_ = nullptr;  ///< whether a check failed that nothing has acted on yet
  bool can_restart_ = true;
};

}  // namespace cucore::cpu::compiler
