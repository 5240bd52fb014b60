// Asks the checker's shadow of memory, and its services where that does not answer: see access_checks.hpp.
#include "cpu/compiler/checks/access_checks.hpp"

#include <algorithm>
#include <bit>

#include "cpu/abi/kernel_abi.hpp"
#include "cpu/compiler/checks/marks.hpp"

namespace cucore::cpu::compiler {

using analysis::MemoryAccess;
using llvm::Value;
using ptx::Instruction;
using ptx::Opcode;
using ptx::Operand;
using ptx::Space;

namespace {

using Extent = MemoryAccess::Extent;

CheckedSpace checked_space(Space space) {
  switch (space) {
    case Space::Global:
      return CheckedSpace::Global;
    case Space::Shared:
      return CheckedSpace::Shared;
    case Space::Local:
      return CheckedSpace::Local;
    case Space::Const:
      return CheckedSpace::Const;
    default:
      return CheckedSpace::Generic;
  }
}

}  // namespace

llvm::CallInst* call_service(FunctionEmitter& f, Value* table, std::size_t field, llvm::Type* result,
                             llvm::ArrayRef<Value*> arguments) {
  std::vector<llvm::Type*> types;
  for (Value* argument : arguments) types.push_back(argument->getType());
  Value* service = f.invariant_field(f.b.getPtrTy(), table, field);
  return f.b.CreateCall(llvm::FunctionType::get(result, types, false), service, arguments);
}

AccessChecks::AccessChecks(FunctionEmitter& f, const Instruction& i, const MemoryAccess& access)
    : f_(f), b_(f.b), instruction_(i), access_(access), checks_(f.module.checks) {
  table_ = at_entry([&] { return f.invariant_field(b_.getPtrTy(), f.launch_state(), offsetof(LaunchState, checks)); });
  address_ = number_of(f.pointer(*access.address, access.space));
  bytes_ = byte_count();
  word_ = access.flags | static_cast<std::uint32_t>(checked_space(access.space)) << check_access::space_shift |
          static_cast<std::uint32_t>(std::countr_zero(access.alignment)) << check_access::align_shift;
  if (only_carries()) word_ |= check_access::carries;
  if (f.is_exchange_in_lockstep(i)) word_ |= check_access::is_in_lockstep;
}

void AccessChecks::check_memory(llvm::BasicBlock* refused) {
  if ((checks_ & check_class::memory_checks) == 0 || is_within_variable()) return;
  auto* asks = f_.new_block("asks");
  auto* next = f_.new_block("allowed");
  Value* interval = llvm::ConstantPointerNull::get(b_.getPtrTy());
  const bool remembers = access_.extent == Extent::Fixed && access_.bytes <= 16 && access_.space != Space::Local;
  if (remembers) {
    interval = interval_of_instruction();
    auto* looks = f_.new_block("looks");
    if (CheckGroup* group = f_.check_group(instruction_)) {
      if (group->is_inside == nullptr) group->is_inside = mark_group(interval, *group);
      auto* alone = f_.new_block("alone");
      branch(group->is_inside, next, alone);
      b_.SetInsertPoint(alone);
      branch(look_at_range(b_, interval, address_, access_.bytes - 1, access_.alignment), next, looks);
    } else {
      branch(mark_range(b_, interval, address_, access_.bytes - 1, access_.alignment), next, looks);
    }
    b_.SetInsertPoint(looks);
    Value* begin = b_.CreateLoad(b_.getInt64Ty(), field(interval, offsetof(CheckInterval, begin)));
    branch(b_.CreateAnd(is_plainly_allowed(), b_.CreateICmpNE(begin, b_.getInt64(0))), next, asks);
  } else if (access_.extent == Extent::Fixed) {
    if (Value* inside = is_in_only_local_variable()) {
      auto* looks = f_.new_block("looks");
      branch(inside, next, looks);
      b_.SetInsertPoint(looks);
    }
    branch(is_plainly_allowed(), next, asks);
  } else {
    b_.CreateBr(asks);
  }
  b_.SetInsertPoint(asks);
  llvm::CallInst* answer = call(offsetof(CheckTable, memory), b_.getInt32Ty(),
                                {f_.thread(), interval, address_, bytes_, b_.getInt32(word_), line()});
  does_not_change_the_program(*answer);
  answer->addParamAttr(1, llvm::Attribute::NoCapture);
  if ((access_.flags & check_access::as_is) != 0) {
    b_.CreateBr(next);
  } else {
    b_.CreateCondBr(b_.CreateICmpNE(answer, b_.getInt32(0)), next, refused);
  }
  b_.SetInsertPoint(next);
  offset_ = nullptr;  // computed on some ways here only
}

Value* AccessChecks::address_of_lanes() {
  if (is_within_variable()) return nullptr;
  LaneAccess lanes{.interval = interval_of_instruction(),
                   .first = address_,
                   .beyond = access_.bytes - 1,
                   .alignment = access_.alignment,
                   .address = f_.pointer(*access_.address, access_.space),
                   .service = table_field(b_.getPtrTy(), offsetof(CheckTable, lanes)),
                   .bytes = access_.bytes,
                   .word = word_,
                   .line = instruction_.position.line};
  // An address outside a thread's only local variable is in no other one.
  if (const auto only = analysis::only_local_variable(f_.function); only && access_.space == Space::Local) {
    lanes.interval = interval_of_offsets(f_.function.variables[*only].size);
    lanes.first = offset_in_variable(*only);
  }
  if (CheckGroup* group = f_.check_group(instruction_)) {
    if (group->first == nullptr) {
      group->interval = lanes.interval;
      group->first = first_of(*group);
    }
    lanes.interval = group->interval;
    lanes.first = group->first;
    lanes.beyond = beyond_first(*group);
  }
  return mark_lanes(b_, lanes);
}

void AccessChecks::check_written() {
  const bool is_row = access_.extent == Extent::Rows;
  if (!has_written_shadow() || !access_.reads() || (access_.extent != Extent::Fixed && !is_row)) return;
  Value* unwritten = b_.getFalse();
  llvm::Type* element = b_.getIntNTy(8 * access_.element);
  Value* shadow = written_shadow();
  for (std::uint32_t at = 0; at < access_.bytes; at += access_.element) {
    Value* marks = b_.CreateAlignedLoad(element, b_.CreateConstGEP1_64(b_.getInt8Ty(), shadow, at), llvm::Align(1));
    unwritten = b_.CreateOr(unwritten, b_.CreateICmpEQ(marks, llvm::ConstantInt::get(element, 0)));
  }
  if (is_row) unwritten = b_.CreateAnd(unwritten, b_.CreateICmpNE(bytes_, b_.getInt32(0)));
  auto* asks = f_.new_block("unwritten");
  auto* next = f_.new_block("written");
  b_.CreateCondBr(unwritten, asks, next, llvm::MDBuilder(f_.module.context).createBranchWeights(1, 1u << 20));
  b_.SetInsertPoint(asks);
  does_not_change_the_program(*call(offsetof(CheckTable, unwritten), b_.getVoidTy(),
                                    {f_.thread(), address_, bytes_, b_.getInt32(word_), line()}));
  b_.CreateBr(next);
  b_.SetInsertPoint(next);
}

void AccessChecks::check_race() {
  if ((checks_ & check_class::race_checks) == 0 || access_.space == Space::Local || access_.space == Space::Const)
    return;
  Value* word = b_.getInt32(word_);
  if (instruction_.opcode == Opcode::St && access_.extent == Extent::Fixed &&
      (access_.flags & check_access::is_strong) == 0)
    word = b_.CreateOr(word,
                       b_.CreateSelect(stores_what_is_there(), b_.getInt32(check_access::unchanged), b_.getInt32(0)));
  does_not_change_the_program(
      *call(offsetof(CheckTable, race), b_.getVoidTy(), {f_.thread(), address_, bytes_, word, line()}));
}

void AccessChecks::note_written() {
  if (!has_written_shadow() || !access_.writes()) return;
  if (access_.extent != Extent::Fixed) {
    call(offsetof(CheckTable, wrote), b_.getVoidTy(), {address_, bytes_});
    return;
  }
  llvm::APInt marks = llvm::APInt::getSplat(8 * access_.bytes, llvm::APInt(8, 1));
  b_.CreateAlignedStore(b_.getInt(marks), written_shadow(), llvm::Align(1));
}

bool AccessChecks::only_carries() const {
  if (instruction_.opcode != Opcode::Ld) return false;
  const std::vector<Operand> results = f_.elements(instruction_.operands[0]);
  return std::all_of(results.begin(), results.end(), [&](const Operand& each) { return f_.only_carries(each); });
}

bool AccessChecks::is_within_variable() const {
  const Operand& base = access_.address->elements[0];
  if (access_.extent != Extent::Fixed || base.kind != Operand::Kind::Variable) return false;
  const ptx::Variable& variable = f_.variable(base);
  const std::int64_t offset = base.offset + access_.address->offset;
  return offset >= 0 && variable.size >= access_.bytes &&
         static_cast<std::uint64_t>(offset) <= variable.size - access_.bytes && offset % access_.alignment == 0 &&
         variable.alignment % access_.alignment == 0;
}

Value* AccessChecks::number_of(Value* pointer) {
  llvm::APInt offset(64, 0);
  Value* base = pointer->stripAndAccumulateConstantOffsets(f_.module.ir.getDataLayout(), offset, true);
  auto* const made = llvm::dyn_cast<llvm::IntToPtrInst>(base);
  if (made == nullptr) return b_.CreatePtrToInt(pointer, b_.getInt64Ty());
  return b_.CreateAdd(made->getOperand(0), b_.getInt(offset));
}

Value* AccessChecks::byte_count() {
  switch (access_.extent) {
    case Extent::Operand:
      return f_.source(instruction_.operands[access_.count], ptx::Type::U32);
    case Extent::CopyLimit: {
      const Operand& limit = instruction_.operands[3];
      Value* all = b_.getInt32(access_.bytes);
      const bool ignores =
          limit.kind == Operand::Kind::Register && f_.function.registers[limit.reg].type == ptx::Type::Pred;
      if (ignores) return b_.CreateSelect(f_.predicate(limit), b_.getInt32(0), all);
      return b_.CreateBinaryIntrinsic(llvm::Intrinsic::umin, f_.source(limit, ptx::Type::U32), all);
    }
    case Extent::Rows: {
      Value* lane = b_.CreateAnd(f_.thread_field(b_.getInt32Ty(), offsetof(ThreadState, linear)), 31);
      return b_.CreateSelect(b_.CreateICmpULT(lane, b_.getInt32(access_.count)), b_.getInt32(access_.bytes),
                             b_.getInt32(0));
    }
    default:
      return b_.getInt32(access_.bytes);
  }
}

void AccessChecks::branch(Value* likely, llvm::BasicBlock* then, llvm::BasicBlock* otherwise) {
  b_.CreateCondBr(likely, then, otherwise, llvm::MDBuilder(f_.module.context).createBranchWeights(1u << 20, 1));
}

Value* AccessChecks::table_field(llvm::Type* type, std::size_t offset) {
  return at_entry([&] { return f_.invariant_field(type, table_, offset); });
}

void AccessChecks::does_not_change_the_program(llvm::CallInst& service) {
  service.setMemoryEffects(llvm::MemoryEffects::inaccessibleOrArgMemOnly());
  service.addParamAttr(0, llvm::Attribute::NoCapture);
  service.addParamAttr(0, llvm::Attribute::ReadOnly);
}

Value* AccessChecks::interval_of_instruction() {
  const auto number = static_cast<std::size_t>(&instruction_ - f_.function.body.data()) % CheckedBlock::interval_count;
  Value* block =
      at_entry([&] { return f_.invariant_field(b_.getPtrTy(), f_.block_state(), offsetof(BlockState, checks)); });
  return field(block, offsetof(CheckedBlock, intervals) + number * sizeof(CheckInterval));
}

Value* AccessChecks::first_of(const CheckGroup& group) {
  return b_.CreateAdd(address_, b_.getInt64(static_cast<std::uint64_t>(group.begin - access_.address->offset)));
}

Value* AccessChecks::mark_group(Value* interval, const CheckGroup& group) {
  return mark_range(b_, interval, first_of(group), beyond_first(group), group.alignment);
}

Value* AccessChecks::is_in_only_local_variable() {
  const auto only = analysis::only_local_variable(f_.function);
  if (access_.space != Space::Local || !only || f_.function.variables[*only].size < access_.bytes) return nullptr;
  Value* inside =
      b_.CreateICmpULE(offset_in_variable(*only), b_.getInt64(f_.function.variables[*only].size - access_.bytes));
  return b_.CreateAnd(inside, b_.CreateICmpEQ(b_.CreateAnd(address_, access_.alignment - 1), b_.getInt64(0)));
}

Value* AccessChecks::offset_in_variable(ptx::VariableId variable) {
  Operand base;
  base.kind = Operand::Kind::Variable;
  base.scope = Operand::Scope::Function;
  base.variable = variable;
  return b_.CreateSub(address_, b_.CreatePtrToInt(f_.variable_pointer(base), b_.getInt64Ty()));
}

Value* AccessChecks::interval_of_offsets(std::uint64_t bytes) {
  llvm::ArrayType* type = llvm::ArrayType::get(b_.getInt64Ty(), 2);
  llvm::Constant* bounds = llvm::ConstantArray::get(type, {b_.getInt64(0), b_.getInt64(bytes)});
  return new llvm::GlobalVariable(f_.module.ir, type, /*isConstant=*/true, llvm::GlobalValue::PrivateLinkage, bounds,
                                  "interval");
}

Value* AccessChecks::offset_in_range() {
  if (offset_ != nullptr) return offset_;
  Value* offset = b_.CreateSub(address_, table_field(b_.getInt64Ty(), offsetof(CheckTable, begin)));
  Value* is_inside = b_.CreateICmpULT(offset, table_field(b_.getInt64Ty(), offsetof(CheckTable, size)));
  return offset_ = b_.CreateSelect(is_inside, offset, b_.getInt64(0));
}

Value* AccessChecks::written_shadow() {
  return b_.CreateGEP(b_.getInt8Ty(), table_field(b_.getPtrTy(), offsetof(CheckTable, written)), offset_in_range());
}

Value* AccessChecks::is_plainly_allowed() {
  Value* offset = offset_in_range();
  Value* granule = b_.CreateLShr(offset, 3);
  Value* shadow = b_.CreateGEP(b_.getInt8Ty(), table_field(b_.getPtrTy(), offsetof(CheckTable, accessible)), granule);
  Value* is_aligned = b_.CreateICmpEQ(b_.CreateAnd(offset, access_.alignment - 1), b_.getInt64(0));
  Value* allowed = nullptr;
  if (access_.bytes <= 8) {
    Value* accessible = b_.CreateZExt(b_.CreateAlignedLoad(b_.getInt8Ty(), shadow, llvm::Align(1)), b_.getInt64Ty());
    Value* end = b_.CreateAdd(b_.CreateAnd(offset, 7), b_.getInt64(access_.bytes));
    allowed = b_.CreateICmpULE(end, accessible);
  } else {
    llvm::IntegerType* type = b_.getIntNTy(access_.bytes);  // a bit for each byte: a byte for each granule
    const llvm::APInt whole = llvm::APInt::getSplat(access_.bytes, llvm::APInt(8, 8));
    allowed = b_.CreateICmpEQ(b_.CreateAlignedLoad(type, shadow, llvm::Align(1)), b_.getInt(whole));
  }
  if (access_.alignment > 1 && access_.bytes != 8) allowed = b_.CreateAnd(allowed, is_aligned);
  if (access_.space != Space::Shared) return allowed;
  // Offsets far beyond the shared memory of the block, or of its cluster, may lead to what belongs to others.
  Value* in_window = b_.CreateSub(address_, b_.CreatePtrToInt(f_.shared_base(), b_.getInt64Ty()));
  Value* limit = at_entry([&] {
    const auto launch_field = [&](std::size_t of_field) {
      return b_.CreateZExt(f_.invariant_field(b_.getInt32Ty(), f_.launch_state(), of_field), b_.getInt64Ty());
    };
    Value* others = b_.CreateSub(launch_field(offsetof(LaunchState, cluster_size)), b_.getInt64(1));
    return b_.CreateAdd(launch_field(offsetof(LaunchState, total_shared)),
                        b_.CreateMul(others, launch_field(offsetof(LaunchState, cluster_stride))));
  });
  return b_.CreateAnd(allowed, b_.CreateICmpULT(in_window, limit));
}

Value* AccessChecks::stores_what_is_there() {
  const std::vector<Operand> elements = f_.elements(instruction_.operands[1]);
  Value* same = b_.getTrue();
  llvm::IntegerType* type = f_.bits_of(instruction_.type());
  Value* pointer = b_.CreateIntToPtr(address_, b_.getPtrTy());
  for (std::size_t e = 0; e < elements.size(); ++e) {
    Value* now =
        b_.CreateAlignedLoad(type, b_.CreateConstGEP1_64(b_.getInt8Ty(), pointer, e * access_.element), llvm::Align(1));
    Value* next = b_.CreateBitCast(f_.source(elements[e], instruction_.type()), type);
    same = b_.CreateAnd(same, b_.CreateICmpEQ(b_.CreateFreeze(now), next));
  }
  return same;
}

llvm::CallInst* AccessChecks::call(std::size_t field, llvm::Type* result, llvm::ArrayRef<Value*> arguments) {
  return call_service(f_, table_, field, result, arguments);
}

}  // namespace cucore::cpu::compiler
