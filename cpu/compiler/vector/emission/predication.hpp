// Short branches over some lanes in the full version: rather than leave it, it runs the block that they take under a
// mask, and goes on with all lanes.
#pragma once

#include "cpu/compiler/vector/operations/block_body.hpp"

namespace cucore::cpu::compiler {

class Predication {
 public:
  Predication(EmissionContext& context, VectorValues& values, VersionBlocks& blocks, BlockBody& body)
      : c_(context), values_(values), blocks_(blocks), body_(body), b(context.b) {}

  /// `side`: what predicated_side gave (analysis/versions.hpp).
  Result<void> emit(const Divergence& divergence, llvm::BasicBlock* side);

 private:
  void merge(const Divergence& divergence, llvm::BasicBlock* side);

  EmissionContext& c_;
  VectorValues& values_;
  VersionBlocks& blocks_;
  BlockBody& body_;
  llvm::IRBuilder<>& b;
};

}  // namespace cucore::cpu::compiler
