// Registers, and operands as values: how they are stored, read and written.
#include <algorithm>
#include <cstddef>

#include "cpu/compiler/emitters/function_emitter.hpp"
#include "cpu/ptx/tree/vector_elements.hpp"

namespace cucore::cpu::compiler {

using analysis::Callee;
using analysis::resolve;
using llvm::Value;
using ptx::Operand;
using ptx::Space;

// ---- types and registers -------------------------------------------------------------------------------------------

llvm::IntegerType* FunctionEmitter::bits_of(ptx::Type type) {
  if (type == ptx::Type::Pred) return b.getInt1Ty();
  return b.getIntNTy(static_cast<unsigned>(8 * size_in_bytes(type)));
}

llvm::Type* FunctionEmitter::type_of(ptx::Type type) {
  if (type == ptx::Type::F32) return b.getFloatTy();
  if (type == ptx::Type::F64) return b.getDoubleTy();
  return bits_of(type);
}

llvm::Type* FunctionEmitter::storage_type(ptx::RegisterId id) const {
  const ptx::Type type = function.registers[id].type;
  llvm::LLVMContext& context = module.context;
  if (type == ptx::Type::Pred) return llvm::Type::getInt1Ty(context);
  const auto width = static_cast<unsigned>(8 * size_in_bytes(type));
  const bool is_float = ptx::is_float(type) || (is_bits(type) && float_uses_[id] > 0);
  if (is_float && width == 32 && !is_packed_half(type)) return llvm::Type::getFloatTy(context);
  if (is_float && width == 64) return llvm::Type::getDoubleTy(context);
  return llvm::Type::getIntNTy(context, width);
}

llvm::AllocaInst* FunctionEmitter::slot(llvm::Type* type, const llvm::Twine& name, unsigned alignment) {
  llvm::IRBuilder<>::InsertPointGuard guard(b);
  llvm::BasicBlock& entry = body_->getEntryBlock();
  b.SetInsertPoint(&entry, entry.getFirstInsertionPt());
  auto* storage = b.CreateAlloca(type, nullptr, name);
  if (alignment != 0) storage->setAlignment(llvm::Align(alignment));
  return storage;
}

llvm::AllocaInst* FunctionEmitter::carry_flag() {
  if (carry_flag_ == nullptr) {
    carry_flag_ = slot(b.getInt1Ty(), "cc");
    llvm::IRBuilder<>::InsertPointGuard guard(b);
    b.SetInsertPoint(carry_flag_->getNextNode());
    b.SetCurrentDebugLocation({});
    b.CreateStore(b.getFalse(), carry_flag_);
  }
  return carry_flag_;
}

const FunctionEmitter::Slot& FunctionEmitter::slot_of(const Operand& operand) {
  const auto& slots = registers_[operand.reg];
  const std::size_t component = operand.component < 0 ? 0 : static_cast<std::size_t>(operand.component);
  return slots[std::min(component, slots.size() - 1)];
}

// ---- operands ------------------------------------------------------------------------------------------------------

Value* FunctionEmitter::convert_bits(Value* value, llvm::Type* to, bool sign_extend) {
  if (value->getType() == to) return value;
  const unsigned from_width = value->getType()->getScalarSizeInBits();
  const unsigned to_width = to->getScalarSizeInBits();
  value = b.CreateBitCast(value, b.getIntNTy(from_width));
  if (from_width != to_width) {
    value = sign_extend ? b.CreateSExtOrTrunc(value, b.getIntNTy(to_width))
                        : b.CreateZExtOrTrunc(value, b.getIntNTy(to_width));
  }
  return b.CreateBitCast(value, to);
}

Value* FunctionEmitter::literal(const Operand& operand, ptx::Type type) {
  llvm::Type* to = type_of(type);
  if (operand.kind == Operand::Kind::Integer) {
    if (type == ptx::Type::Pred) return b.getInt1(operand.integer != 0);
    return b.CreateBitCast(b.getInt(llvm::APInt(64, operand.integer).zextOrTrunc(to->getScalarSizeInBits())), to);
  }
  const llvm::APInt pattern(operand.is_single ? 32 : 64, operand.float_bits);
  if (!is_float(type) || pattern.getBitWidth() == to->getScalarSizeInBits()) {
    return b.CreateBitCast(b.getInt(pattern.zextOrTrunc(to->getScalarSizeInBits())), to);
  }
  llvm::APFloat number(operand.is_single ? llvm::APFloat::IEEEsingle() : llvm::APFloat::IEEEdouble(), pattern);
  const llvm::fltSemantics& semantics = type == ptx::Type::F32    ? llvm::APFloat::IEEEsingle()
                                        : type == ptx::Type::F64  ? llvm::APFloat::IEEEdouble()
                                        : type == ptx::Type::Bf16 ? llvm::APFloat::BFloat()
                                                                  : llvm::APFloat::IEEEhalf();
  bool inexact = false;
  number.convert(semantics, llvm::APFloat::rmNearestTiesToEven, &inexact);
  return b.CreateBitCast(b.getInt(number.bitcastToAPInt().zextOrTrunc(to->getScalarSizeInBits())), to);
}

Value* FunctionEmitter::source(const Operand& operand, ptx::Type type) {
  llvm::Type* to = type_of(type);
  const bool is_signed = ptx::is_signed(type);
  switch (operand.kind) {
    case Operand::Kind::Register: {
      const Slot& from = slot_of(operand);
      Value* value = b.CreateLoad(from.type, from.storage);
      if (type == ptx::Type::Pred && !from.type->isIntegerTy(1)) {
        value = b.CreateICmpNE(convert_bits(value, b.getIntNTy(from.type->getScalarSizeInBits()), false),
                               b.getIntN(from.type->getScalarSizeInBits(), 0));
      }
      value = convert_bits(value, to, is_signed);
      return operand.negated ? b.CreateNot(value) : value;
    }
    case Operand::Kind::Special:
      return convert_bits(special(operand.special), to, is_signed);
    case Operand::Kind::Integer:
    case Operand::Kind::Float:
      return literal(operand, type);
    case Operand::Kind::Variable: {
      // A texture or surface reference is the handle that it holds.
      if (operand.scope == Operand::Scope::Module && ptx::is_opaque(variable(operand).type))
        return convert_bits(b.CreateLoad(b.getInt64Ty(), variable_pointer(operand)), to, false);
      Value* address = b.CreatePtrToInt(variable_pointer(operand), b.getInt64Ty());
      if (variable(operand).space == Space::Shared) {
        address = b.CreateSub(address, b.CreatePtrToInt(shared_base_, b.getInt64Ty()));
      } else if (size_in_bytes(type) < 8 && (variable(operand).space != Space::Local || size_in_bytes(type) < 4)) {
        module.fail("an address that does not fit the register", *current_instruction_);
      }
      return convert_bits(address, to, false);
    }
    case Operand::Kind::Function: {
      const Callee callee = resolve(module.module, operand.function);
      const bool is_kernel = module.module.functions[*callee.function].is_entry;
      Value* named = is_kernel ? module.kernel_address(*callee.function) : module.function(*callee.function);
      return convert_bits(b.CreatePtrToInt(named, b.getInt64Ty()), to, false);
    }
    default:
      module.fail("an operand that has no value", *current_instruction_);
      return llvm::Constant::getNullValue(to);
  }
}

void FunctionEmitter::define(const Operand& operand, Value* value, ptx::Type type) {
  if (operand.kind == Operand::Kind::Sink) return;
  if (operand.kind != Operand::Kind::Register) {
    module.fail("a result operand that is no register", *current_instruction_);
    return;
  }
  const Slot& to = slot_of(operand);
  b.CreateStore(convert_bits(value, to.type, is_signed(type)), to.storage);
}

std::vector<Operand> FunctionEmitter::elements(const Operand& operand) const {
  return vector_elements(operand, function.registers);
}

}  // namespace cucore::cpu::compiler
