// Fields of the thread's state and its block's: see state_fields.hpp.
#include "cpu/compiler/vector/analysis/state_fields.hpp"

#include <llvm/IR/Instructions.h>

#include <cstddef>

#include "cpu/abi/kernel_abi.hpp"

namespace cucore::cpu::compiler {

using llvm::Value;

std::optional<std::uint64_t> thread_field(const Value* pointer, const llvm::Function& scalar) {
  const llvm::DataLayout& layout = scalar.getDataLayout();
  llvm::APInt offset(64, 0);
  if (pointer->stripAndAccumulateConstantOffsets(layout, offset, true) != scalar.getArg(0)) return {};
  return offset.getZExtValue();
}

std::optional<std::uint64_t> block_field(const Value* pointer, const llvm::Function& scalar) {
  llvm::APInt offset(64, 0);
  const auto* block =
      llvm::dyn_cast<llvm::LoadInst>(pointer->stripAndAccumulateConstantOffsets(scalar.getDataLayout(), offset, true));
  if (block == nullptr || thread_field(block->getPointerOperand(), scalar) != offsetof(ThreadState, block)) return {};
  return offset.getZExtValue();
}

}  // namespace cucore::cpu::compiler
