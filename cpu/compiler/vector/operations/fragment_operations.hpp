// What a warp does with its fragments of matrices, in the vector form: registers of all lanes go to memory, register
// after register, and the device library is called once for the warp.
#pragma once

#include "cpu/compiler/vector/state/values.hpp"
#include "cpu/error/result.hpp"

namespace cucore::cpu::compiler {

class FragmentOperations {
 public:
  FragmentOperations(EmissionContext& context, VectorValues& values) : c_(context), values_(values), b(context.b) {}

  /// `{registers} cucpu_fragments_NAME.KIND(i64 form, i32 counts, registers...)`: a byte of `counts` is the number of
  /// registers that follow each other in one array. Calls `cucpu_fragments_NAME(form, lanes here, arrays..., results)`.
  Result<void> emit(llvm::CallInst& call);

 private:
  llvm::AllocaInst* array(unsigned number);

  EmissionContext& c_;
  VectorValues& values_;
  llvm::IRBuilder<>& b;
  llvm::SmallVector<llvm::AllocaInst*, 8> arrays_;  ///< which all instructions use, one after the other
};

}  // namespace cucore::cpu::compiler
