// Calls in the vector form: of intrinsics, which have vector forms or are made lane by lane, and of the run-time's
// services. Those that it does not take are refused before (legality.hpp).
#pragma once

#include <cstdint>

#include "cpu/compiler/vector/operations/arithmetic.hpp"
#include "cpu/compiler/vector/operations/block_checks.hpp"
#include "cpu/compiler/vector/operations/convergent_operations.hpp"
#include "cpu/compiler/vector/operations/lane_loop.hpp"
#include "cpu/compiler/vector/operations/lane_services.hpp"
#include "cpu/compiler/vector/operations/number_questions.hpp"

namespace cucore::cpu::compiler {

class Calls {
 public:
  Calls(EmissionContext& context, VectorValues& values, BlockChecks& checks, Arithmetic& arithmetic, LaneLoop& lanes,
        LaneServices& services, ConvergentOperations& convergent, NumberQuestions& numbers)
      : c_(context),
        values_(values),
        checks_(checks),
        arithmetic_(arithmetic),
        lanes_(lanes),
        services_(services),
        convergent_(convergent),
        numbers_(numbers),
        b(context.b) {}

  Result<void> emit(llvm::CallInst& call);

 private:
  Result<void> emit_vectors(llvm::CallInst& call);
  Result<void> emit_lane_by_lane(llvm::CallInst& call);
  /// Null if what is called has no vector form.
  llvm::Value* vector_of_chunk(llvm::CallInst& call, unsigned chunk);
  llvm::Value* narrowed_to_halves(llvm::CallInst& call, unsigned chunk);
  llvm::Value* narrowed_by_fours(llvm::CallInst& call, unsigned chunk);
  llvm::Value* directed_vector(llvm::CallInst& call, llvm::Intrinsic::ID on_vectors, std::uint32_t mode,
                               unsigned chunk);
  llvm::Value* saturating_conversion(llvm::CallInst& call, unsigned chunk);

  EmissionContext& c_;
  VectorValues& values_;
  BlockChecks& checks_;
  Arithmetic& arithmetic_;
  LaneLoop& lanes_;
  LaneServices& services_;
  ConvergentOperations& convergent_;
  NumberQuestions& numbers_;
  llvm::IRBuilder<>& b;
};

}  // namespace cucore::cpu::compiler
