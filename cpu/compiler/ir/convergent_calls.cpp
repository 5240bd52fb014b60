// Which services these are, by name: see convergent_calls.hpp.
#include "cpu/compiler/ir/convergent_calls.hpp"

namespace cucore::cpu::compiler {

using llvm::Instruction;

bool is_convergent(llvm::StringRef built_in) {
  return built_in == "cucpu_barrier" || built_in == "cucpu_barrier_reduce" || built_in == "cucpu_warp_sync" ||
         built_in == "cucpu_shuffle" || built_in == "cucpu_vote" || built_in == "cucpu_activemask" ||
         built_in == "cucpu_elect" || built_in == "cucpu_match_any" || built_in == "cucpu_match_all" ||
         built_in.starts_with("cucpu_redux_") || built_in == "cucpu_yield" || built_in.starts_with(of_fragments);
}

bool is_convergent(const Instruction& instruction) {
  const auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
  return call != nullptr && call->getCalledFunction() != nullptr && is_convergent(call->getCalledFunction()->getName());
}

bool is_poll(const Instruction& instruction) {
  return is_convergent(instruction) &&
         llvm::cast<llvm::CallInst>(instruction).getCalledFunction()->getName() == "cucpu_yield";
}

bool is_block_barrier(const Instruction& instruction) {
  if (!is_convergent(instruction)) return false;
  const llvm::StringRef name = llvm::cast<llvm::CallInst>(instruction).getCalledFunction()->getName();
  return name == "cucpu_barrier" || is_reducing_barrier(instruction);
}

bool is_reducing_barrier(const Instruction& instruction) {
  return is_convergent(instruction) &&
         llvm::cast<llvm::CallInst>(instruction).getCalledFunction()->getName() == "cucpu_barrier_reduce";
}

}  // namespace cucore::cpu::compiler
