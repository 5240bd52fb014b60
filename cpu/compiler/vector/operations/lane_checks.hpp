// The memory check in the vector form. A mark before an access (checks/marks.hpp) becomes one check for all lanes: are
// they in the interval that the access found last? If not, a service says for each chunk which of its lanes may access,
// and has reported the others. The access is there twice: as it is without checks, and under the mask of those that
// may, whose other lanes read zero.
//
// While nothing in a block of the full version has had an effect, one branch answers for all checks since the last
// access. Where lanes are outside, the block is started again on a slow path, and there each access asks for itself.
#pragma once

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/DenseSet.h>
#include <llvm/ADT/STLFunctionalExtras.h>

#include "cpu/compiler/vector/state/values.hpp"
#include "cpu/error/result.hpp"

namespace cucore::cpu::compiler {

struct RangeMark;

class LaneChecks {
 public:
  LaneChecks(EmissionContext& context, VectorValues& values);

  void begin_block() { passed_.clear(); }
  /// Leaves a check to the next flush, which must come before the first effect.
  void defer(llvm::CallInst& check);
  void flush();
  /// Checks at once, for the next access.
  void ask(llvm::CallInst& check);
  /// Emits an access of all lanes, which `access` does, and another one where some of them may not.
  Result<void> emit_access(llvm::Instruction& instruction, llvm::function_ref<Result<VectorValue>()> access);

  bool needs_slow_path() const { return slow_path_ != nullptr; }
  bool is_on_slow_path() const { return on_slow_path_; }
  /// The block's second copy follows, up to where both ways join before its end.
  llvm::BasicBlock* begin_slow_path();
  void end_slow_path(llvm::BasicBlock* end);

 private:
  /// Whether the intervals that accesses found last have what all lanes want; that of idle lanes may count, too.
  llvm::Value* is_inside(const RangeMark& range);
  llvm::Value* whether_inside(const RangeMark& range);
  /// Of a chunk: a bit for each lane, active or not.
  llvm::Value* lanes_inside(const RangeMark& range, unsigned chunk);
  /// Has the service look at all active lanes: those that may not access.
  Parts query_lanes(const llvm::CallInst& check);
  /// Accesses under the mask of the lanes that may. Others read zero; their compare-and-swap counts as done, or they
  /// would retry for ever.
  Result<VectorValue> accessed_by_rest(llvm::Instruction& instruction, llvm::ArrayRef<llvm::Value*> denied,
                                       llvm::function_ref<Result<VectorValue>()> access);
  /// Lanes of each chunk that may not access, and behind them whether there are any. One place for both versions: lanes
  /// may go from one to the other between a check and its access.
  Slots& denied_by(llvm::CallInst* check);

  EmissionContext& c_;
  VectorValues& values_;
  llvm::IRBuilder<>& b;
  llvm::AllocaInst* const addresses_;  ///< of a chunk, for the service
  llvm::DenseMap<llvm::CallInst*, Slots> denied_;
  llvm::SmallVector<llvm::CallInst*, 16> pending_;  ///< checks that nothing has acted on yet
  llvm::DenseSet<llvm::CallInst*> passed_;          ///< those of this block that all lanes have passed
  llvm::BasicBlock* slow_path_ = nullptr;           ///< where it begins, if the block has one
  bool on_slow_path_ = false;                       ///< it is this that is being emitted
};

}  // namespace cucore::cpu::compiler
