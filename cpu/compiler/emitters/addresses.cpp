// Variables and addresses as host pointers.
#include <cstdint>

#include "cpu/compiler/emitters/function_emitter.hpp"

namespace cucore::cpu::compiler {

using llvm::Value;
using ptx::Operand;
using ptx::Space;

const ptx::Variable& FunctionEmitter::variable(const Operand& operand) const {
  return operand.scope == Operand::Scope::Function ? function.variables[operand.variable]
                                                   : module.module.variables[operand.variable];
}

Value* FunctionEmitter::variable_pointer(const Operand& operand) {
  Value* base = nullptr;
  if (operand.scope == Operand::Scope::Function) {
    base = variables_[operand.variable];
  } else if (variable(operand).space == Space::Shared) {
    base = b.CreateConstGEP1_64(b.getInt8Ty(), own_shared_, module.layout.module_shared.at(operand.variable));
  } else {
    base = module.variable(operand.variable);
  }
  if (operand.offset == 0) return base;
  return b.CreateConstGEP1_64(b.getInt8Ty(), base, static_cast<std::uint64_t>(operand.offset));
}

Value* FunctionEmitter::local_address(Value* lowest) {
  // All local variables of a thread lie within 2 GiB of the running function's frame.
  Value* frame = b.CreatePtrToInt(b.CreateStackSave(), b.getInt64Ty());
  Value* distance = b.CreateSub(lowest, b.CreateTrunc(frame, b.getInt32Ty()));
  return b.CreateAdd(frame, b.CreateSExt(distance, b.getInt64Ty()));
}

Value* FunctionEmitter::pointer(const Operand& address, Space space) {
  if (checked_pointer_ != nullptr && &address == checked_address_) return checked_pointer_;
  if (address.kind != Operand::Kind::Address) {
    module.fail("an operand that is no address", *current_instruction_);
    return llvm::ConstantPointerNull::get(b.getPtrTy());
  }
  const Operand& base = address.elements[0];
  const auto offset = static_cast<std::uint64_t>(address.offset);
  if (base.kind == Operand::Kind::Variable) {
    Operand sum = base;
    sum.offset += address.offset;
    return variable_pointer(sum);
  }
  // A 32-bit register can only address shared memory, where addresses wrap at 32 bits, and local memory.
  const bool narrow = base.kind == Operand::Kind::Register && slot_of(base).type->getScalarSizeInBits() == 32;
  if (space == Space::Shared) {
    Value* at =
        narrow ? b.CreateZExt(b.CreateAdd(source(base, ptx::Type::U32), b.getInt32(static_cast<std::uint32_t>(offset))),
                              b.getInt64Ty())
               : b.CreateAdd(source(base, ptx::Type::U64), b.getInt64(offset));
    // A constant is an offset in the block's own window, as it is where addresses carry no rank.
    return b.CreateGEP(b.getInt8Ty(), base.kind == Operand::Kind::Integer ? own_shared_ : shared_base_, at);
  }
  Value* number =
      narrow && space == Space::Local ? local_address(source(base, ptx::Type::U32)) : source(base, ptx::Type::U64);
  Value* at = b.CreateIntToPtr(number, b.getPtrTy());
  return offset == 0 ? at : b.CreateConstGEP1_64(b.getInt8Ty(), at, offset);
}

}  // namespace cucore::cpu::compiler
