// Atomic operations in the vector form, lane by lane.
#pragma once

#include "cpu/compiler/vector/operations/block_checks.hpp"
#include "cpu/compiler/vector/operations/lane_loop.hpp"

namespace cucore::cpu::compiler {

class Atomics {
 public:
  Atomics(EmissionContext& context, BlockChecks& checks, LaneLoop& lanes)
      : checks_(checks), lanes_(lanes), b(context.b) {}

  Result<void> emit(llvm::Instruction& instruction);

 private:
  VectorValue updated(llvm::Instruction& instruction);

  BlockChecks& checks_;
  LaneLoop& lanes_;
  llvm::IRBuilder<>& b;
};

}  // namespace cucore::cpu::compiler
