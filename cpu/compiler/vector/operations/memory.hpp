// Loads and stores in the vector form: one access for all lanes, one for a chunk, one of contiguous elements, or one
// for each lane. Idle lanes access nothing, or memory of their own.
#pragma once

#include "cpu/compiler/vector/operations/arithmetic.hpp"
#include "cpu/compiler/vector/operations/block_checks.hpp"
#include "cpu/compiler/vector/operations/lane_loop.hpp"
#include "cpu/compiler/vector/operations/prefetching.hpp"
#include "cpu/compiler/vector/state/idle_memory.hpp"

namespace cucore::cpu::compiler {

class VectorMemory {
 public:
  VectorMemory(EmissionContext& context, VectorValues& values, BlockChecks& checks, IdleMemory& idle,
               Arithmetic& arithmetic, LaneLoop& lanes, Prefetching& prefetching)
      : c_(context),
        values_(values),
        checks_(checks),
        idle_(idle),
        arithmetic_(arithmetic),
        lanes_(lanes),
        prefetching_(prefetching),
        b(context.b) {}

  Result<void> emit_load(llvm::LoadInst& load);
  Result<void> emit_store(llvm::StoreInst& store);

 private:
  VectorValue thread_register(llvm::LoadInst& load, std::uint64_t field);
  VectorValue loaded(llvm::LoadInst& load);
  llvm::Value* load_chunk(llvm::LoadInst& load, const Stride& address, unsigned chunk);
  llvm::Value* load_elements(llvm::LoadInst& load, const Stride& address, unsigned chunk);
  /// Lanes of a chunk that lie apart.
  llvm::Value* lane_pointers(llvm::Value* pointer, const Stride& address, unsigned chunk);
  llvm::Value* pointer_in_lane(llvm::Value* pointers, llvm::Value* pointer, const Stride& address, unsigned chunk,
                               unsigned lane);
  llvm::Value* load_lanes(llvm::LoadInst& load, llvm::Type* vector_type, const Stride& address, unsigned chunk);
  /// Whether lanes under a mask are speculated to access contiguous elements, as they do in the full version: where
  /// lanes come and go an index might wrap around, so its stride is lost; in the full version it is checked.
  bool is_probably_contiguous(llvm::Value* pointer, std::int64_t size) const;
  bool can_load_row(std::int64_t size) const;
  static bool is_of_division(llvm::Value* pointer);
  llvm::Value* load_speculated(llvm::LoadInst& load, llvm::Type* vector_type, unsigned chunk, bool are_same_perhaps);
  Result<void> store_all(llvm::StoreInst& store);
  void store_chunk(llvm::StoreInst& store, const Stride& address, unsigned chunk);

  EmissionContext& c_;
  VectorValues& values_;
  BlockChecks& checks_;
  IdleMemory& idle_;
  Arithmetic& arithmetic_;
  LaneLoop& lanes_;
  Prefetching& prefetching_;
  llvm::IRBuilder<>& b;
};

}  // namespace cucore::cpu::compiler
