// The ways between blocks that carry values. Where lanes diverge the full version hands what is live to the masked one;
// where all have reconverged, the masked one goes back. Phis merge by lane.
#pragma once

#include <llvm/ADT/DenseSet.h>

#include <vector>

#include "cpu/compiler/vector/state/version_blocks.hpp"

namespace cucore::cpu::compiler {

class Transitions {
 public:
  Transitions(EmissionContext& context, VectorValues& values, VersionBlocks& blocks);

  /// Gives the phis of a version of `to` their values for lanes that come from `from`.
  void write_phis(llvm::BasicBlock* from, llvm::BasicBlock* to, Version version, llvm::ArrayRef<llvm::Value*> mask);
  /// From the full version into the masked one: phis and live values take their form there.
  void leave_full_version(const Divergence& divergence);
  /// From the full version of a block, of which nothing has had an effect yet, to the start of its masked version.
  void bail_out(llvm::BasicBlock* block);
  /// At the start of the masked version of a block: on in the full version if it is a reconvergence point, all lanes
  /// are here, and what is live has the stride that it has there.
  void return_to_full_version(llvm::BasicBlock* block);

 private:
  void move_to_masked_version(llvm::Instruction* value);
  std::vector<llvm::Instruction*> live_at(llvm::BasicBlock* block) const;
  bool may_return(llvm::BasicBlock* block, llvm::ArrayRef<llvm::Instruction*> live) const;
  Parts claimed(llvm::Instruction* value, llvm::Value*& same);

  EmissionContext& c_;
  VectorValues& values_;
  VersionBlocks& blocks_;
  llvm::IRBuilder<>& b;
  llvm::DenseSet<llvm::BasicBlock*> reconvergence_points_;
};

}  // namespace cucore::cpu::compiler
