// What a debugger has to know about generated code: functions and CUDA source lines from `.file` and `.loc`, and as
// variables of each function threadIdx, blockIdx, blockDim, gridDim, the parameters and the PTX registers. Scalar form
// only.
#pragma once

#include <llvm/IR/DIBuilder.h>

#include <cstdint>
#include <initializer_list>
#include <string_view>
#include <vector>

#include "cpu/compiler/ir/llvm.hpp"
#include "cpu/ptx/tree/ast.hpp"

namespace cucore::cpu::compiler {

/// For one LLVM module. Of a kernel without `.loc` it describes what it can: its name and variables.
class DebugInformation {
 public:
  DebugInformation(const ptx::Module& module, llvm::Module& ir);

  /// Must be called before the module is verified.
  void finish() { builder_.finalize(); }

  /// What is known of a function; to be called before anything of its body is emitted.
  llvm::DISubprogram* describe(const ptx::Function& function, llvm::Function& body);

  /// Where an instruction comes from, or the function as a whole for one without a `.loc`.
  llvm::DebugLoc place_of(llvm::DISubprogram* function, const ptx::Instruction* instruction);

  /// Variables that every function has, `state` being where it keeps its ThreadState*: threadIdx and the like.
  void declare_built_ins(llvm::DISubprogram* function, llvm::AllocaInst* state);

  /// A kernel's parameter, `offset` bytes into the parameter block.
  void declare_kernel_parameter(llvm::DISubprogram* function, llvm::AllocaInst* state, const ptx::Variable& parameter,
                                unsigned number, std::uint64_t offset);

  /// Another function's parameter, whose address `where` holds.
  void declare_parameter(llvm::DISubprogram* function, llvm::AllocaInst* where, const ptx::Variable& parameter,
                         unsigned number);

  /// A register, whose name loses the % that no debugger's expressions take.
  void declare_register(llvm::DISubprogram* function, llvm::AllocaInst* where, std::string_view name);

 private:
  using Path = std::initializer_list<std::uint64_t>;

  llvm::DIFile* file(std::uint32_t index);
  llvm::DIType* type_of(const ptx::Variable& variable);
  llvm::DIType* type_of(const llvm::Type& type);
  llvm::DIType* number(const char* name, std::uint64_t bits, unsigned encoding);
  llvm::DIType* three_numbers(const char* name);
  void declare(llvm::DISubprogram* function, llvm::AllocaInst* where, llvm::DILocalVariable* variable, Path path);

  const ptx::Module& module_;
  llvm::DIBuilder builder_;
  llvm::DICompileUnit* unit_ = nullptr;
  llvm::DIType* uint3_ = nullptr;
  llvm::DIType* dim3_ = nullptr;
  std::vector<llvm::DIFile*> files_;  ///< by index of `.file`; null if not asked for yet
};

}  // namespace cucore::cpu::compiler
