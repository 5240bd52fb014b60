// The LLVM blocks of both versions of every block of the scalar form. The full version runs while all lanes of the
// group go the same way; its branches are scalar. The masked version keeps for each block the lanes that wait to enter
// it, and always runs the first such block (analysis/control_flow.hpp).
#pragma once

#include <llvm/ADT/DenseMap.h>

#include "cpu/compiler/vector/state/barriers.hpp"

namespace cucore::cpu::compiler {

class VersionBlocks {
 public:
  /// Makes the blocks, and finds room for masks and for local variables.
  VersionBlocks(EmissionContext& context, VectorValues& values, Barriers& barriers);

  llvm::BasicBlock* body(llvm::BasicBlock* block, Version version) const { return bodies_[version].lookup(block); }
  const Slots& alive() const { return alive_; }

  /// Into the full version if the block of threads fills the group, else into the masked one.
  void emit_entry();
  /// Enters the masked version of a block if lanes wait for it; at a barrier or where they poll together, once all have
  /// come that have not ended.
  void emit_dispatch(llvm::BasicBlock* block);
  /// What is after the last block of the masked version.
  void emit_end();

  /// Where the masked version looks for waiting lanes after `block`: behind it, or at the head of a loop it goes back
  /// to.
  llvm::BasicBlock* next_dispatch(llvm::BasicBlock* block, llvm::ArrayRef<llvm::BasicBlock*> targets) const;
  llvm::BasicBlock* dispatch(llvm::BasicBlock* block) const { return dispatches_.lookup(block); }

  /// The lanes that wait for a block, which wait no longer.
  Parts take_waiting(llvm::BasicBlock* block);
  /// Has lanes wait for a block besides others.
  void add_waiting(llvm::BasicBlock* block, llvm::ArrayRef<llvm::Value*> lanes);
  /// Has these lanes alone wait for a block.
  void set_waiting(llvm::BasicBlock* block, unsigned chunk, llvm::Value* lanes);
  void end_lanes(llvm::ArrayRef<llvm::Value*> lanes);

  /// Once all is emitted: who waits and who is alive is in memory.
  void keep_masks_in_memory();

 private:
  void place_locals(llvm::BasicBlock* block);

  EmissionContext& c_;
  VectorValues& values_;
  Barriers& barriers_;
  llvm::IRBuilder<>& b;
  llvm::DenseMap<llvm::BasicBlock*, llvm::BasicBlock*> bodies_[2];
  llvm::DenseMap<llvm::BasicBlock*, llvm::BasicBlock*> dispatches_;
  llvm::DenseMap<llvm::BasicBlock*, Slots> waiting_;  ///< lanes that wait to enter a block
  Slots alive_;                                       ///< lanes that have not returned
  llvm::BasicBlock* end_ = nullptr;
};

}  // namespace cucore::cpu::compiler
