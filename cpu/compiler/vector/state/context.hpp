// What all parts of the vector form's emission share: the scalar form and its analyses, the function that is being
// made, and the block that is being emitted.
#pragma once

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/SmallVector.h>

#include <utility>

#include "cpu/compiler/emitters/module_emitter.hpp"
#include "cpu/compiler/vector/analysis/chains.hpp"
#include "cpu/compiler/vector/analysis/control_flow.hpp"
#include "cpu/compiler/vector/analysis/masked_blocks.hpp"
#include "cpu/compiler/vector/analysis/overtaking.hpp"
#include "cpu/compiler/vector/state/active_lanes.hpp"

namespace cucore::cpu::compiler {

enum Version { Full, Masked };

using Slots = llvm::SmallVector<llvm::AllocaInst*, 8>;

/// A value in all lanes: one part if its stride spans the group, the value of the group's first lane; else one for each
/// chunk: its first lane's value if strided, or a vector.
struct VectorValue {
  Stride stride;
  Parts parts;

  static VectorValue uniform(llvm::Value* value) { return {Stride::uniform(), {value}}; }
};

/// A branch of the full version at which lanes diverge, and which lanes go where.
struct Divergence {
  llvm::BasicBlock* from;
  llvm::BasicBlock* targets[2];
  Parts masks[2];
};

/// What is known in the current LLVM block; to be set back where another way starts from the same point.
struct Known {
  llvm::DenseMap<llvm::Value*, VectorValue> values;
  llvm::DenseMap<std::pair<llvm::Value*, unsigned>, llvm::Value*> vectors;
  /// By first address, bytes beyond and alignment: the interval in which all lanes were looked for, and whether they
  /// are there.
  llvm::DenseMap<std::pair<llvm::Value*, std::pair<std::uint64_t, std::uint64_t>>,
                 std::pair<llvm::Value*, llvm::Value*>>
      inside;
};

class EmissionContext {
 public:
  /// With `masks_only` there is the masked version alone.
  EmissionContext(llvm::Function& scalar_form, const ControlFlow& control_flow, const VectorWidth& vector_width,
                  HostFeatures features, StrideAnalysis full_strides, StrideAnalysis masked_strides,
                  Overtaking overtaking_lanes, bool masks_only);

  llvm::Function& scalar;
  const ControlFlow& flow;
  const VectorWidth width;
  const HostFeatures host;
  const StrideAnalysis full;
  const StrideAnalysis masked;
  const Overtaking overtaking;
  const bool has_full_version;
  const MaskedBlocks masked_blocks;
  const Chains chains[2];  ///< by version
  llvm::IRBuilder<> b;

  // `i32 group(ptr block, i32 first thread, i32 point, ptr frame, i32 %ctaid.x)`
  llvm::Function* const group;
  llvm::Value* block_state() const { return group->getArg(0); }
  llvm::Value* first_thread() const { return group->getArg(1); }
  llvm::Value* point() const { return group->getArg(2); }
  llvm::Value* frame() const { return group->getArg(3); }
  llvm::Value* fiber() const { return group->getArg(3); }  ///< if the group runs on one: its first thread's state
  llvm::Value* block_index_on_x() const { return group->getArg(4); }
  llvm::BasicBlock* new_block(const llvm::Twine& name);
  /// A stack slot; LLVM's SROA makes registers of most.
  llvm::AllocaInst* slot(llvm::Type* type, const llvm::Twine& name);

  // The block being emitted
  Version version = Full;
  llvm::BasicBlock* block = nullptr;
  const Divergence* divergence = nullptr;  ///< whose side it is, if the full version runs it under a mask
  ActiveLanes active;
  Known known;
  const StrideAnalysis& strides() const { return version == Full ? full : masked; }
  void forget();  ///< nothing is known where ways join
  /// Has a slot stay in memory.
  static void keep_in_memory(llvm::AllocaInst* slot);

  unsigned parts_of(const Stride& stride) const { return stride.spans_group() ? 1 : width.chunks; }
  llvm::Type* widened(llvm::Type* scalar_type) const;
  llvm::IntegerType* mask_type() { return b.getIntNTy(width.lanes); }
  llvm::Value* all_lanes() { return llvm::Constant::getAllOnesValue(mask_type()); }

 private:
  Chains chains_of(Version chained) const;
};

}  // namespace cucore::cpu::compiler
