// A pass for masks that LLVM's instruction selection must not look through, since it would not end, or not in any
// useful time.
#pragma once

#include <llvm/IR/PassManager.h>

namespace cucore::cpu::compiler {

/// Both are faults of LLVM 19, on processors with mask registers (AVX-512) and without:
/// - Of lanes made of the combined bits of two masks, of which there are lanes too, one rule of selection combines the
///   lanes and another one the bits again, without an end, once a type in the block was too wide for a register. So it
///   does of combined lanes that were made of bits, which are combined as bits for it.
/// - Whether the bits of combined lanes can be had with one instruction is looked up along all ways through what they
///   are combined of, and the number of ways doubles with each step that uses both results of the step before.
/// So bits are hidden before they are expanded to lanes, and lanes where too many paths lead to them. The last of all
/// passes.
class OpaqueMasksPass : public llvm::PassInfoMixin<OpaqueMasksPass> {
 public:
  explicit OpaqueMasksPass(bool has_mask_registers) : has_mask_registers_(has_mask_registers) {}
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager&) const;
  static bool isRequired() { return true; }

 private:
  bool has_mask_registers_;
};

}  // namespace cucore::cpu::compiler
