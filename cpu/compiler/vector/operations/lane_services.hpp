// printf, assert and trap: each active lane calls with a state of its own.
#pragma once

#include "cpu/compiler/vector/operations/lane_loop.hpp"

namespace cucore::cpu::compiler {

class LaneServices {
 public:
  LaneServices(EmissionContext& context, VectorValues& values, LaneLoop& lanes);

  void emit(llvm::CallInst& call);

 private:
  EmissionContext& c_;
  VectorValues& values_;
  LaneLoop& lanes_;
  llvm::IRBuilder<>& b;
  llvm::AllocaInst* const state_;  ///< the ThreadState of one lane
};

}  // namespace cucore::cpu::compiler
