// Barriers of a block that several groups make up: a group returns at a barrier and goes on from there when it is
// called again. What lives across the barrier waits in the group's frame, where values that never wait together share
// memory. Between barriers LLVM sees straight code: what a stretch does not use is not fetched.
#pragma once

#include <llvm/ADT/DenseMap.h>
#include <llvm/Support/Alignment.h>

#include <vector>

#include "cpu/compiler/vector/state/values.hpp"

namespace cucore::cpu::compiler {

// Points that the group's function is called with, to go on from, and that it returns.
constexpr std::uint32_t point_ended = 0;
constexpr std::uint32_t point_start = 1;

constexpr std::uint64_t frame_alignment = 64;  ///< the best alignment for the widest loads and stores

class Barriers {
 public:
  Barriers(EmissionContext& context, VectorValues& values);

  bool groups_wait() const { return !barriers_.empty(); }
  /// Memory of a group that waits; none if groups never do.
  std::uint64_t frame_bytes() const { return llvm::alignTo(frame_bytes_, frame_alignment); }
  /// Memory in the frame for a local variable of all lanes.
  llvm::Value* place_local(std::uint64_t bytes);

  /// The choice of the point to go on from, at the beginning; where it begins.
  llvm::BasicBlock* emit_resumption();
  /// Returns at a barrier, and goes on behind it when called again with its point. `alive`: where the masked version
  /// keeps which lanes have not ended.
  void suspend(llvm::BasicBlock* barrier, const Slots& alive);

 private:
  static constexpr std::uint32_t first_barrier_point = 2;  ///< two for each barrier: it may wait in either version

  void lay_out_frame();
  std::vector<llvm::Instruction*> alive_after(llvm::BasicBlock* barrier, Version version) const;
  llvm::Value* in_frame(std::uint64_t offset);

  EmissionContext& c_;
  VectorValues& values_;
  llvm::IRBuilder<>& b;
  Blocks barriers_;
  llvm::DenseMap<llvm::Instruction*, std::uint64_t> places_[2];  ///< in the frame
  std::uint64_t frame_bytes_ = 0;
  llvm::SwitchInst* resumption_ = nullptr;
};

}  // namespace cucore::cpu::compiler
