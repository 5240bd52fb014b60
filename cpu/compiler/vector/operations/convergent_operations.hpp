// Convergent operations in the vector form. Every participating lane is active (legality.hpp), so a barrier within a
// group is a no-op, a vote is arithmetic on masks, and a shuffle by a constant is a fixed permutation, another
// one that the processor has an instruction for.
#pragma once

#include "cpu/compiler/vector/operations/fragment_operations.hpp"
#include "cpu/compiler/vector/state/version_blocks.hpp"
#include "cpu/error/result.hpp"

namespace cucore::cpu::compiler {

class ConvergentOperations {
 public:
  ConvergentOperations(EmissionContext& context, VectorValues& values, Barriers& barriers, VersionBlocks& blocks)
      : c_(context), values_(values), barriers_(barriers), blocks_(blocks), fragments_(context, values), b(context.b) {}

  Result<void> emit(llvm::CallInst& call);

 private:
  Result<void> emit_shuffle(llvm::CallInst& call);
  llvm::Value* permuted(llvm::Value* words, llvm::Value* from);
  llvm::Value* piece_of(llvm::Value* warp, unsigned start);
  llvm::Value* permuted_in_memory(llvm::Value* words, llvm::Value* from);
  Result<void> emit_reducing_barrier(llvm::CallInst& call);
  Result<void> emit_vote(llvm::CallInst& call);
  llvm::Value* bits_where_true(llvm::Value* predicate, unsigned chunk);
  Result<void> emit_together(llvm::CallInst& call);
  std::vector<llvm::Value*> values_here(llvm::Value* operand, unsigned warp);
  llvm::Value* truths_of(llvm::Value* bits, std::size_t part);
  llvm::Value* reduction(llvm::StringRef operation, llvm::ArrayRef<llvm::Value*> values, llvm::Value* members);
  Parts equal_lanes(llvm::ArrayRef<llvm::Value*> values, llvm::Value* members);
  llvm::Value* all_if_equal(llvm::ArrayRef<llvm::Value*> values, llvm::Value* members);

  EmissionContext& c_;
  VectorValues& values_;
  Barriers& barriers_;
  VersionBlocks& blocks_;
  FragmentOperations fragments_;
  llvm::IRBuilder<>& b;
};

}  // namespace cucore::cpu::compiler
