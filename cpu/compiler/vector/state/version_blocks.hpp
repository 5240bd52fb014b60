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
  /// What is after the last block of the masked version, if there is one.
  void emit_end();

  /// Where the masked version looks for waiting lanes after `block`: behind it, or at the head of a loop it goes back
  /// to.
  llvm::BasicBlock* next_dispatch(llvm::BasicBlock* block, llvm::ArrayRef<llvm::BasicBlock*> targets) const;
  /// Where the masked version of a block begins whose full version has given up: lanes that wait for it, all of them,
  /// do not return.
  llvm::BasicBlock* entry_after_full_version(llvm::BasicBlock* block) const;
  /// The part of a block's masked version that is behind the question whether lanes return.
  llvm::BasicBlock* behind_return(llvm::BasicBlock* block) const { return behind_returns_.lookup(block); }

  Parts waiting(llvm::BasicBlock* block);
  /// No lanes wait for a block any longer.
  void forget_waiting(llvm::BasicBlock* block);
  /// Has lanes wait for a block besides others.
  void add_waiting(llvm::BasicBlock* block, llvm::ArrayRef<llvm::Value*> lanes);
  /// Has these lanes alone wait for a block.
  void set_waiting(llvm::BasicBlock* block, unsigned chunk, llvm::Value* lanes);
  void end_lanes(llvm::ArrayRef<llvm::Value*> lanes);

  /// Once all is emitted: who waits and who is alive is in memory.
  void keep_masks_in_memory();

 private:
  void place_locals(llvm::BasicBlock* block);
  /// Of the first block from there on that has one.
  llvm::BasicBlock* dispatch_from(unsigned index) const;

  EmissionContext& c_;
  VectorValues& values_;
  Barriers& barriers_;
  llvm::IRBuilder<>& b;
  llvm::DenseMap<llvm::BasicBlock*, llvm::BasicBlock*> bodies_[2];
  llvm::DenseMap<llvm::BasicBlock*, llvm::BasicBlock*> dispatches_;
  llvm::DenseMap<llvm::BasicBlock*, llvm::BasicBlock*> behind_returns_;
  llvm::DenseMap<llvm::BasicBlock*, Slots> waiting_;  ///< lanes that wait to enter a block
  Slots alive_;                                       ///< lanes that have not returned
  llvm::BasicBlock* end_ = nullptr;
};

}  // namespace cucore::cpu::compiler
