// Extended-precision integer arithmetic: add.cc addc sub.cc subc mad.cc madc, linked by the carry flag.
#include "cpu/compiler/emitters/function_emitter.hpp"
#include "cpu/compiler/instructions/generators.hpp"

namespace cucore::cpu::compiler {

using llvm::Value;
using ptx::Instruction;
using ptx::Opcode;
using M = ptx::Modifier;

namespace {

/// What the flag adds to a sum: 0 or 1 in the wide type.
Value* carry_in(FunctionEmitter& f, bool reads_flag, llvm::Type* wide) {
  if (!reads_flag) return llvm::Constant::getNullValue(wide);
  return f.b.CreateZExt(f.b.CreateLoad(f.b.getInt1Ty(), f.carry_flag()), wide);
}

/// Stores the low part of a wide sum and, if the instruction says .cc, bit `width` as the flag.
void define_with_carry(FunctionEmitter& f, const Instruction& i, Value* wide) {
  const unsigned width = f.bits_of(i.type())->getBitWidth();
  f.define(i.operands[0], f.b.CreateTrunc(wide, f.bits_of(i.type())), i.type());
  if (i.has(M::Cc)) f.b.CreateStore(f.b.CreateTrunc(f.b.CreateLShr(wide, width), f.b.getInt1Ty()), f.carry_flag());
}

llvm::Type* wider(FunctionEmitter& f, const Instruction& i) {
  return f.b.getIntNTy(2 * f.bits_of(i.type())->getBitWidth());
}

Value* wide_source(FunctionEmitter& f, const Instruction& i, std::size_t operand) {
  return f.b.CreateZExt(f.source(i.operands[operand], i.type()), wider(f, i));
}

}  // namespace

void emit_add_carry(FunctionEmitter& f, const Instruction& i) {
  Value* sum = f.b.CreateAdd(wide_source(f, i, 1), wide_source(f, i, 2));
  define_with_carry(f, i, f.b.CreateAdd(sum, carry_in(f, i.opcode == Opcode::Addc, wider(f, i))));
}

/// A difference is the sum a + ~b + 1, or + the flag for subc, and the flag is the carry of that sum: set where nothing
/// is borrowed. nvcc's division of 128-bit integers reads it by addc.
void emit_sub_borrow(FunctionEmitter& f, const Instruction& i) {
  llvm::Type* const wide = wider(f, i);
  Value* turned = f.b.CreateZExt(f.b.CreateNot(f.source(i.operands[2], i.type())), wide);
  Value* carry = i.opcode == Opcode::Subc ? carry_in(f, true, wide) : llvm::ConstantInt::get(wide, 1);
  define_with_carry(f, i, f.b.CreateAdd(f.b.CreateAdd(wide_source(f, i, 1), turned), carry));
}

void emit_mad_carry(FunctionEmitter& f, const Instruction& i) {
  const unsigned width = f.bits_of(i.type())->getBitWidth();
  auto factor = [&](std::size_t n) {
    Value* value = f.source(i.operands[n], i.type());
    return is_signed(i.type()) ? f.b.CreateSExt(value, wider(f, i)) : f.b.CreateZExt(value, wider(f, i));
  };
  Value* product = f.b.CreateMul(factor(1), factor(2));
  if (i.has(M::Hi)) product = f.b.CreateLShr(product, width);
  Value* half = f.b.CreateZExt(f.b.CreateTrunc(product, f.bits_of(i.type())), wider(f, i));
  Value* sum = f.b.CreateAdd(half, wide_source(f, i, 3));
  define_with_carry(f, i, f.b.CreateAdd(sum, carry_in(f, i.opcode == Opcode::Madc, wider(f, i))));
}

}  // namespace cucore::cpu::compiler
