// The ways between blocks that carry values. Where lanes diverge the full version hands what is live to the masked one;
// where all have reconverged, the masked one goes back. Phis merge by lane.
#pragma once

#include "cpu/compiler/vector/state/version_blocks.hpp"

namespace cucore::cpu::compiler {

class Transitions {
 public:
  Transitions(EmissionContext& context, VectorValues& values, VersionBlocks& blocks)
      : c_(context), values_(values), blocks_(blocks), b(context.b) {}

  /// Gives the phis of a version of `to` their values for lanes that come from `from`.
  void write_phis(llvm::BasicBlock* from, llvm::BasicBlock* to, Version version, llvm::ArrayRef<llvm::Value*> mask);
  /// From the full version into the masked one: phis and live values take their form there.
  void leave_full_version(const Divergence& divergence);
  /// From the full version of a block, of which nothing has had an effect yet, to the start of its masked version.
  void bail_out(llvm::BasicBlock* block);
  /// Begins the masked version of a block, for the lanes that wait for it: all go on in the full version if they come
  /// together there and what they bring has the stride that it has in that version.
  void enter_masked_version(llvm::BasicBlock* block);

 private:
  void move_to_masked_version(llvm::Instruction* value);
  void return_to_full_version(llvm::BasicBlock* block, MaskedBlocks::Return returns);
  Parts claimed(llvm::Instruction* value, llvm::Value*& same);

  EmissionContext& c_;
  VectorValues& values_;
  VersionBlocks& blocks_;
  llvm::IRBuilder<>& b;
};

}  // namespace cucore::cpu::compiler
