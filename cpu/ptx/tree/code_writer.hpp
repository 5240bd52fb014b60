// Instructions that no text spells: what the value of a larger operand, or of a rewritten instruction, is computed by.
#pragma once

#include <cstdint>
#include <vector>

#include "cpu/ptx/tree/ast.hpp"

namespace cucore::cpu::ptx {

/// Appends to the body of a function, as of one place in the text.
class CodeWriter {
 public:
  CodeWriter(Function& function, Position position, SourceLine source)
      : function_(function), position_(position), source_(source) {}

  /// A register without a name, and the instruction that computes it. (It has no guard: it touches no memory.)
  Operand compute(Opcode opcode, std::vector<Type> types, std::vector<Operand> from);

  /// The address of an element of `size` bytes of a variable: of number `index`, a value of 32 bits, plus `constant`.
  /// `address`: the type of addresses in the module.
  Operand element_address(Type address, Operand variable, Operand index, std::uint64_t size, std::uint64_t constant);

  /// The instruction written last.
  Instruction& last() { return function_.body.back(); }

 private:
  Function& function_;
  Position position_;
  SourceLine source_;
};

/// The type of a module's addresses.
inline Type address_type(const Module& module) { return module.address_size == 64 ? Type::U64 : Type::U32; }

}  // namespace cucore::cpu::ptx
