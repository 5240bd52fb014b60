// The uniformity and stride analysis: what is known at compile time about every value across the lanes (stride.hpp),
// and which branches diverge.
#pragma once

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/DenseSet.h>

#include "cpu/compiler/vector/analysis/control_flow.hpp"
#include "cpu/compiler/vector/analysis/stride.hpp"

namespace cucore::cpu::compiler {

/// Strides of all values of a kernel in one version of it. The full version runs while all lanes go the same way; it
/// takes it that extending a strided value does not wrap around inside a chunk, which the code checks where that is not
/// known (`checks`). In the masked version lanes come and go: what joins where they reconverge varies.
class StrideAnalysis {
 public:
  /// `passed_twice`: blocks that some lanes pass before others do (overtaking.hpp).
  StrideAnalysis(const ControlFlow& flow, llvm::Function& scalar, const VectorWidth& width, bool masked,
                 BlockSet passed_twice = {});

  Stride of(const llvm::Value* value) const;
  /// Blocks that end in a branch whose condition is not the same for all lanes.
  const Blocks& divergent_branches() const { return divergent_branches_; }
  /// Those of them at which the lanes of one warp may diverge.
  const Blocks& divergent_in_warps() const { return divergent_in_warps_; }
  bool checks(const llvm::Instruction* extension) const {
    return checks_.contains(extension) && of(extension).is_strided();
  }

 private:
  void settle();
  Stride transfer(llvm::Instruction& instruction);
  bool may_differ_later(const llvm::Instruction& instruction) const;
  Stride transfer_load(llvm::Instruction& instruction);
  Stride transfer_binary(llvm::Instruction& instruction);
  Stride transfer_extension(llvm::Instruction& instruction);
  Stride transfer_comparison(llvm::Instruction& instruction);
  Stride transfer_address(llvm::Instruction& instruction);
  Stride transfer_call(llvm::Instruction& instruction);
  Stride of_operands(llvm::Instruction& instruction) const;

  const ControlFlow& flow_;
  llvm::Function& scalar_;
  VectorWidth width_;
  bool masked_;
  BlockSet passed_twice_;
  llvm::DenseMap<const llvm::Value*, Stride> strides_;
  llvm::DenseSet<const llvm::BasicBlock*> merges_;        ///< blocks whose phis vary
  llvm::DenseSet<const llvm::BasicBlock*> chunk_merges_;  ///< blocks to which each chunk comes as a whole
  llvm::DenseSet<const llvm::BasicBlock*> warp_splits_;   ///< of those: not each warp
  llvm::DenseSet<const llvm::Instruction*> checks_;
  Blocks divergent_branches_;
  Blocks divergent_in_warps_;
};

}  // namespace cucore::cpu::compiler
