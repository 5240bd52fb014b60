// The instructions of a block, but for its terminator, for the lanes that are active in it.
#pragma once

#include "cpu/compiler/vector/operations/atomics.hpp"
#include "cpu/compiler/vector/operations/calls.hpp"
#include "cpu/compiler/vector/operations/memory.hpp"

namespace cucore::cpu::compiler {

class BlockBody {
 public:
  BlockBody(EmissionContext& context, VectorValues& values, BlockChecks& checks, NumberQuestions& numbers,
            Prefetching& prefetching, Arithmetic& arithmetic, VectorMemory& memory, Atomics& atomics, Calls& calls)
      : c_(context),
        values_(values),
        checks_(checks),
        numbers_(numbers),
        prefetching_(prefetching),
        arithmetic_(arithmetic),
        memory_(memory),
        atomics_(atomics),
        calls_(calls),
        b(context.b) {}

  Result<void> emit(llvm::BasicBlock* block);

 private:
  Result<void> emit(llvm::Instruction& instruction);
  Result<void> emit_fence(llvm::Instruction& fence);
  Result<void> emit_extract(llvm::ExtractValueInst& extract);

  EmissionContext& c_;
  VectorValues& values_;
  BlockChecks& checks_;
  NumberQuestions& numbers_;
  Prefetching& prefetching_;
  Arithmetic& arithmetic_;
  VectorMemory& memory_;
  Atomics& atomics_;
  Calls& calls_;
  llvm::IRBuilder<>& b;
};

/// Whether all lanes are compared only where the ends of the group differ, behind the branch by them (branches.hpp).
bool is_compared_late(const llvm::Instruction& instruction, const EmissionContext& context);

}  // namespace cucore::cpu::compiler
