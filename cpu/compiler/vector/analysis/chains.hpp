// Chains: blocks each of which is entered by all lanes that leave the one before, at once, and by no others. Warp
// operations, each in a block of its own, make many of what was one. A chain is emitted as one block: its lanes are
// those that entered its first block, and what its blocks know of values they need not store for each other.
#pragma once

#include <llvm/ADT/DenseMap.h>

#include "cpu/compiler/vector/analysis/control_flow.hpp"

namespace cucore::cpu::compiler {

class Chains {
 public:
  /// `may_be_entered`: of a block that only one other leads to: whether lanes may begin there, or wait for others.
  Chains(const ControlFlow& flow, llvm::function_ref<bool(const llvm::BasicBlock&)> may_be_entered);

  /// Whether the block is not the first of its chain.
  bool continues(const llvm::BasicBlock* block) const { return first_.contains(block); }
  /// The block that follows in the chain; null at its end.
  llvm::BasicBlock* next(const llvm::BasicBlock* block) const { return next_.lookup(block); }
  /// Whether a value is used in another chain than its own.
  bool is_used_outside(const llvm::Instruction& value) const;

 private:
  const llvm::BasicBlock* first_of(const llvm::BasicBlock* block) const;

  llvm::DenseMap<const llvm::BasicBlock*, const llvm::BasicBlock*> first_;
  llvm::DenseMap<const llvm::BasicBlock*, llvm::BasicBlock*> next_;
};

}  // namespace cucore::cpu::compiler
