// How far the masked version goes. Lanes that diverge in the full version go on in the masked one, up to where all of
// them come together again; so it has blocks only as far as lanes can be apart, and is no second copy of the kernel.
#pragma once

#include <llvm/ADT/BitVector.h>
#include <llvm/ADT/DenseSet.h>
#include <llvm/ADT/STLFunctionalExtras.h>

#include <vector>

#include "cpu/compiler/vector/analysis/control_flow.hpp"
#include "cpu/compiler/vector/analysis/stride_analysis.hpp"

namespace cucore::cpu::compiler {

class MaskedBlocks {
 public:
  /// `full`, `masked`: strides of both versions. With `masks_only` there is no full version.
  MaskedBlocks(const ControlFlow& flow, const StrideAnalysis& full, const StrideAnalysis& masked,
               const VectorWidth& width, bool masks_only);

  /// Whether there are none: lanes never leave the full version.
  bool empty() const { return blocks_.none(); }
  std::size_t size() const { return blocks_.count(); }
  /// Whether a block has a masked version.
  bool has(const llvm::BasicBlock* block) const { return blocks_[flow_.index(block)]; }

  /// How lanes that come to a block in the masked version go on in the full one: all do, since all have come and their
  /// values are as they are there; or all do if that is found to be so.
  enum class Return : std::uint8_t { Never, IfSame, Always };
  Return return_at(const llvm::BasicBlock* block) const { return returns_[flow_.index(block)]; }
  /// What they bring with them there: what the full version does not know from before they left it.
  std::vector<llvm::Instruction*> brought_back(llvm::BasicBlock* block) const;

  /// Whether the masked version uses or brings back a value.
  bool needs(const llvm::Instruction* value) const { return needed_.contains(value); }

 private:
  /// A block in which lanes leave the full version: at its end, or at its beginning to do it again.
  struct Source {
    llvm::BasicBlock* block;
    bool is_at_end;
  };
  struct Region {
    llvm::BitVector blocks;
    llvm::BasicBlock* end;  ///< where all lanes come together; null if they may not
  };

  std::vector<Source> sources() const;
  void follow(const std::vector<Source>& all, bool has_waiting_groups);
  Region region_of(const Source& source, const llvm::BitVector& no_ends) const;
  llvm::BitVector reached_from(const Source& source, const llvm::BasicBlock* end) const;
  bool is_passed_by_some(const Source& source, const Region& region) const;
  bool is_tested(const llvm::Instruction* value) const;
  bool may_return(llvm::BasicBlock* block) const;
  void find_returns(const llvm::BitVector& ends);
  void find_needed();

  const ControlFlow& flow_;
  const StrideAnalysis& full_;
  const StrideAnalysis& masked_;
  llvm::BitVector blocks_;
  std::vector<llvm::BitVector> come_from_;  ///< by block, those that lanes which come to it may have run before
  std::vector<Return> returns_;
  bool keeps_full_values_ = true;  ///< while lanes are in the masked version
  llvm::DenseSet<const llvm::Instruction*> needed_;
};

}  // namespace cucore::cpu::compiler
