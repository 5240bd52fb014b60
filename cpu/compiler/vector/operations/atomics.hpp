// Atomic operations in the vector form: lane by lane, or at once where all lanes update one place and want nothing
// back.
#pragma once

#include "cpu/compiler/vector/operations/block_checks.hpp"
#include "cpu/compiler/vector/operations/lane_loop.hpp"

namespace llvm {
class AtomicRMWInst;
}

namespace cucore::cpu::compiler {

class Atomics {
 public:
  Atomics(EmissionContext& context, VectorValues& values, BlockChecks& checks, LaneLoop& lanes)
      : c_(context), values_(values), checks_(checks), lanes_(lanes), b(context.b) {}

  Result<void> emit(llvm::Instruction& instruction);

 private:
  VectorValue updated(llvm::Instruction& instruction);
  bool is_of_all_lanes(const llvm::Instruction& instruction);
  llvm::Value* combined_operand(const llvm::AtomicRMWInst& update);
  void update_once(const llvm::AtomicRMWInst& update);

  EmissionContext& c_;
  VectorValues& values_;
  BlockChecks& checks_;
  LaneLoop& lanes_;
  llvm::IRBuilder<>& b;
};

}  // namespace cucore::cpu::compiler
