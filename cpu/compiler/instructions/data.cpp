// mov in all its forms, and conversions between the generic address space and the others.
#include "cpu/analysis/instructions/memory_accesses.hpp"
#include "cpu/compiler/emitters/function_emitter.hpp"
#include "cpu/compiler/emitters/generic_addresses.hpp"
#include "cpu/compiler/instructions/generators.hpp"

namespace cucore::cpu::compiler {

using analysis::has_short_local_addresses;
using llvm::Value;
using ptx::Instruction;
using ptx::Operand;
using ptx::Space;
using ptx::Type;

namespace {

Type untyped(std::size_t bytes) { return ptx::untyped_of(bytes).value_or(Type::B64); }

/// mov.b64 d, {a, b}: the first element is the least significant.
Value* pack(FunctionEmitter& f, const std::vector<Operand>& elements, Type whole) {
  const Type part = untyped(size_in_bytes(whole) / elements.size());
  Value* packed = f.b.getInt(llvm::APInt(f.bits_of(whole)->getBitWidth(), 0));
  for (std::size_t i = 0; i < elements.size(); ++i) {
    Value* element = f.b.CreateZExt(f.source(elements[i], part), packed->getType());
    packed = f.b.CreateOr(packed, f.b.CreateShl(element, 8 * size_in_bytes(part) * i));
  }
  return packed;
}

void unpack(FunctionEmitter& f, const std::vector<Operand>& elements, Value* whole) {
  const std::size_t width = whole->getType()->getScalarSizeInBits() / elements.size();
  const Type part = untyped(width / 8);
  for (std::size_t i = 0; i < elements.size(); ++i) {
    f.define(elements[i], f.b.CreateTrunc(f.b.CreateLShr(whole, width * i), f.bits_of(part)), part);
  }
}

}  // namespace

void emit_mov(FunctionEmitter& f, const Instruction& i) {
  const std::vector<Operand> to = f.elements(i.operands[0]);
  const std::vector<Operand> from = f.elements(i.operands[1]);
  const Type whole = i.type() == Type::Pred ? Type::Pred : untyped(size_in_bytes(i.type()));
  if (to.size() == 1 && from.size() == 1) {
    f.define(to[0], f.source(from[0], i.type()), i.type());
  } else if (to.size() == 1) {
    f.define(to[0], pack(f, from, whole), whole);
  } else if (from.size() == 1) {
    unpack(f, to, f.source(from[0], whole));
  } else {
    for (std::size_t e = 0; e < std::min(to.size(), from.size()); ++e)
      f.define(to[e], f.source(from[e], i.type()), i.type());
  }
}

// ---- address spaces ------------------------------------------------------------------------------------------------
// Addresses of every space but .shared are host addresses, as generic ones are; a .shared address is an offset from the
// block's window.

void emit_cvta(FunctionEmitter& f, const Instruction& i) {
  Value* address = f.source(i.operands[1], Type::U64);
  if (i.space() == Space::Shared) {
    Value* base = f.b.CreatePtrToInt(f.shared_base(), f.b.getInt64Ty());
    address = i.has(ptx::Modifier::To) ? f.b.CreateSub(address, base) : f.b.CreateAdd(address, base);
  }
  if (i.space() == Space::Local && !i.has(ptx::Modifier::To) && has_short_local_addresses(f.function))
    address = f.local_address(f.b.CreateTrunc(address, f.b.getInt32Ty()));
  f.define(i.operands[0], address, Type::U64);
}

/// alloca d, bytes, alignment: local memory of this call of the function. Far more than any stack has runs into the
/// page below it, as a smaller overflow does (functions probe their stacks).
void emit_alloca(FunctionEmitter& f, const Instruction& i) {
  constexpr std::uint64_t least_alignment = 16, most_bytes = std::uint64_t{1} << 40;
  const std::uint64_t alignment = i.operands.size() > 2 ? i.operands[2].integer : 0;
  Value* bytes = f.source(i.operands[1], Type::U64);
  bytes = f.intrinsic(llvm::Intrinsic::umin, {bytes->getType()}, {bytes, f.b.getInt64(most_bytes)});
  llvm::AllocaInst* memory = f.b.CreateAlloca(f.b.getInt8Ty(), bytes);
  memory->setAlignment(llvm::Align(std::max(alignment, least_alignment)));
  f.define(i.operands[0], f.b.CreatePtrToInt(memory, f.b.getInt64Ty()), Type::U64);
}

/// stacksave d; stackrestore a
void emit_stack_pointer(FunctionEmitter& f, const Instruction& i) {
  if (i.opcode == ptx::Opcode::Stacksave)
    return f.define(i.operands[0], f.b.CreatePtrToInt(f.b.CreateStackSave(), f.b.getInt64Ty()), Type::U64);
  f.b.CreateStackRestore(f.b.CreateIntToPtr(f.source(i.operands[0], Type::U64), f.b.getPtrTy()));
}

void emit_isspacep(FunctionEmitter& f, const Instruction& i) {
  Value* address = f.source(i.operands[1], Type::U64);
  const bool any_block = i.subspaces[0] == ptx::SubSpace::Cluster;
  f.define(i.operands[0], any_block ? is_in_cluster(f, address) : is_in_space(f, address, i.space()), Type::Pred);
}

}  // namespace cucore::cpu::compiler
