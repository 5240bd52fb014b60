// Which PTX instruction a host instruction was made for: a line table in the object code, whose lines are the numbers
// of PTX instructions among all that the kernel reaches (not lines of a text: kernels that differ in those alone share
// object code). Faults are reported with it (line_table.hpp, Code::place_of).
#pragma once

#include <llvm/IR/DIBuilder.h>

#include <cstdint>

#include "cpu/compiler/ir/llvm.hpp"

namespace cucore::cpu::compiler {

/// Of one LLVM module.
class InstructionLines {
 public:
  explicit InstructionLines(llvm::Module& ir);

  /// To be called once for each function that has instructions or calls one that has, before its body is emitted.
  llvm::DISubprogram* describe(llvm::Function& body);

  /// Where instruction `number` stands; the first is 1, 0 stands for what no instruction needs.
  static llvm::DebugLoc place_of(llvm::DISubprogram* function, std::uint32_t number);

  /// For a function that is made of another: describes it too, and returns the place of what no instruction needs.
  static llvm::DebugLoc describe_like(const llvm::Function& other, llvm::Function& body);

 private:
  llvm::DIBuilder builder_;
  llvm::DIFile* file_;
  llvm::DICompileUnit* unit_;
};

}  // namespace cucore::cpu::compiler
