// When the checks of a block are made: see block_checks.hpp.
#include "cpu/compiler/vector/operations/block_checks.hpp"

namespace cucore::cpu::compiler {

Result<void> BlockChecks::flush() {
  Result<void> done = index.flush();
  if (done) lanes.flush();
  return done;
}

Result<void> BlockChecks::before_effect() {
  Result<void> done = flush();
  index.note_effect();
  return done;
}

Result<void> BlockChecks::emit_mark(llvm::CallInst& check) {
  if (c_.version == Full && c_.divergence == nullptr && index.can_restart() && !lanes.is_on_slow_path()) {
    lanes.defer(check);
    return {};
  }
  if (Result<void> done = before_effect(); !done) return done;  // what is reported is reported once
  lanes.ask(check);
  return {};
}

}  // namespace cucore::cpu::compiler
