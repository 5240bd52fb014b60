// All checks of a block, which must be made before anything that has an effect.
#pragma once

#include "cpu/compiler/vector/operations/index_checks.hpp"
#include "cpu/compiler/vector/operations/lane_checks.hpp"

namespace cucore::cpu::compiler {

class BlockChecks {
 public:
  BlockChecks(EmissionContext& context, VectorValues& values, Transitions& transitions)
      : index(context, values, transitions), lanes(context, values), c_(context) {}

  IndexChecks index;
  LaneChecks lanes;

  Result<void> flush();
  /// The same, and what follows has an effect: the block can no longer be started again.
  Result<void> before_effect();
  /// A check of an access (checks/marks.hpp).
  Result<void> emit_mark(llvm::CallInst& check);

 private:
  EmissionContext& c_;
};

}  // namespace cucore::cpu::compiler
