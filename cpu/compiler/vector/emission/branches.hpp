// Branches in the vector form. In the full version all lanes go on together if the first lane and the last say so, or
// each of them; else they diverge: under a mask for a short side (predication.hpp), or into the masked version.
#pragma once

#include "cpu/compiler/vector/emission/predication.hpp"

namespace cucore::cpu::compiler {

class Branches {
 public:
  Branches(EmissionContext& context, VectorValues& values, VersionBlocks& blocks, Transitions& transitions,
           Arithmetic& arithmetic, Predication& predication)
      : c_(context),
        values_(values),
        blocks_(blocks),
        transitions_(transitions),
        arithmetic_(arithmetic),
        predication_(predication),
        b(context.b) {}

  Result<void> emit(llvm::BasicBlock* block, const llvm::BranchInst& branch);

 private:
  Result<void> emit_full(llvm::BasicBlock* block, const llvm::BranchInst& branch);
  void emit_masked(llvm::BasicBlock* block, const llvm::BranchInst& branch);
  /// Where the masked version looks for waiting lanes after a branch.
  llvm::BasicBlock* next_dispatch(llvm::BasicBlock* block, llvm::ArrayRef<llvm::BasicBlock*> targets) const;
  /// Goes where all lanes go if the first and the last go there and nothing wraps around between them.
  Result<void> branch_by_ends(const llvm::BranchInst& branch, llvm::ArrayRef<llvm::BasicBlock*> ways);

  EmissionContext& c_;
  VectorValues& values_;
  VersionBlocks& blocks_;
  Transitions& transitions_;
  Arithmetic& arithmetic_;
  Predication& predication_;
  llvm::IRBuilder<>& b;
};

}  // namespace cucore::cpu::compiler
