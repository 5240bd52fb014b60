// Operations that touch no memory: once if the operands are the same everywhere, on the first lane of each chunk if the
// result is strided, else on vectors.
#pragma once

#include "cpu/compiler/vector/operations/index_checks.hpp"

namespace cucore::cpu::compiler {

class Arithmetic {
 public:
  Arithmetic(EmissionContext& context, VectorValues& values, IndexChecks& checks)
      : c_(context), values_(values), checks_(checks), b(context.b) {}

  Result<void> emit(llvm::Instruction& instruction);
  Result<void> emit_vectors(llvm::Instruction& instruction);
  /// A copy of the instruction for the first lane of the group or of each chunk.
  VectorValue once(llvm::Instruction& instruction, unsigned parts);

 private:
  /// Null if the operation has no vector form.
  llvm::Value* vector_of_chunk(llvm::Instruction& instruction, unsigned chunk);
  llvm::Value* divided(llvm::BinaryOperator& division, unsigned chunk);
  /// As doubles, of integers of 32 bits at most.
  llvm::Value* quotient_of_lanes(llvm::Value* dividend, llvm::Value* divisor, bool is_signed);
  llvm::Value* quotient_by_one(llvm::Value* dividend, llvm::Value* divisor, bool is_signed);
  llvm::Value* element(llvm::Instruction& instruction, unsigned chunk);

  EmissionContext& c_;
  VectorValues& values_;
  IndexChecks& checks_;
  llvm::IRBuilder<>& b;
};

bool is_division(const llvm::Instruction& instruction);

/// A copy to give new operands: without the promises that the scalar form made about its own.
llvm::Instruction* copy_of(const llvm::Instruction& instruction);

}  // namespace cucore::cpu::compiler
