// Which instructions of a module cannot be compiled, and which opcodes can.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cpu/ptx/tree/ast.hpp"

namespace cucore::cpu::analysis {

/// An instruction that parses but no row of the instruction table takes.
struct Unsupported {
  std::string function;     ///< the function that holds it
  std::string instruction;  ///< full spelling
  std::uint32_t line = 0;   ///< PTX line
  std::string reason;       ///< which part: opcode, type, modifier, operand
};

/// Every instruction of `module` that cannot be compiled. Cheap: a table look-up per instruction, no LLVM.
std::vector<Unsupported> find_unsupported(const ptx::Module& module);
/// Those of one function.
std::vector<Unsupported> find_unsupported_in(const ptx::Module& module, const ptx::Function& function);

/// For `cucore driver-status`: PTX opcodes with at least one generator, and all opcodes of the ISA known here.
std::vector<std::string_view> covered_opcodes();
std::vector<std::string_view> known_opcodes();

}  // namespace cucore::cpu::analysis
