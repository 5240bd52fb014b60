// What a compile may cost. LLVM's back end cannot be interrupted, so its work is estimated before it runs; passes
// before it stop when the time is up. Past the budget a kernel gets the next simpler form: the scalar one, and that one
// not optimised by the back end.
#pragma once

#include <llvm/IR/Module.h>

namespace cucore::cpu::compiler {

/// Why a kernel gets a simpler form, in the words of CompiledKernel::refusal.
inline constexpr const char* vector_form_too_long = "the time that its vector form takes to compile";
inline constexpr const char* scalar_form_too_long = "the time that its scalar form takes to optimise";

/// Processor time of the thread that makes one form of a kernel, from here on.
class CompileTime {
 public:
  /// `patience`: times the usual limits.
  explicit CompileTime(double patience = 1);
  bool is_up() const;
  double seconds() const;

  /// Whether the back end would take too long for this module, or making the module already did.
  bool is_not_enough_for(const llvm::Module& ir) const;

 private:
  double patience_;
  double since_;
};

}  // namespace cucore::cpu::compiler
