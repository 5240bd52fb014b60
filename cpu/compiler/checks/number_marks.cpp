// Marks of numbers, and the code that they become in the scalar form: see number_marks.hpp.
#include "cpu/compiler/checks/number_marks.hpp"

#include <llvm/IR/Instructions.h>
#include <llvm/IR/MDBuilder.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>

#include <bit>
#include <cstddef>
#include <string>
#include <vector>

#include "cpu/abi/checks.hpp"
#include "cpu/abi/kernel_abi.hpp"
#include "cpu/analysis/flow/synchronization.hpp"
#include "cpu/compiler/cost/cost_model.hpp"

namespace cucore::cpu::compiler {
namespace {

using analysis::NumberCheck;
using analysis::NumberOperation;
using analysis::NumberTest;
using llvm::Value;
using ptx::Instruction;
using ptx::Operand;

constexpr const char* number_mark = "cucpu.check.number";
constexpr unsigned first_value = 5;

/// Emits the marks of one instruction.
class Marker {
 public:
  Marker(FunctionEmitter& f, const Instruction& i) : f_(f), b_(f.b), instruction_(i) {}

  void mark(const NumberTest& test, Value* chosen, llvm::ArrayRef<Value*> values) {
    const bool is_scalar = f_.module.block_shape == nullptr;
    llvm::SmallVector<Value*, 8> arguments;
    arguments.push_back(is_scalar ? f_.block_state() : llvm::ConstantPointerNull::get(b_.getPtrTy()));
    arguments.push_back(is_scalar ? f_.thread_field(b_.getInt32Ty(), offsetof(ThreadState, linear)) : b_.getInt32(0));
    arguments.push_back(chosen);
    arguments.push_back(b_.getInt64(test.bits()));
    arguments.push_back(b_.getInt64(std::uint64_t{instruction_.position.column} << 32 | instruction_.position.line));
    arguments.append(values.begin(), values.end());
    llvm::SmallVector<llvm::Type*, 8> types;
    std::string name = number_mark;
    for (Value* const argument : arguments) {
      types.push_back(argument->getType());
      name += argument->getType()->isFloatTy()    ? ".f"
              : argument->getType()->isDoubleTy() ? ".d"
                                                  : "." + std::to_string(argument->getType()->getScalarSizeInBits());
    }
    auto* const type = llvm::FunctionType::get(b_.getVoidTy(), types, false);
    llvm::CallInst* const call =
        b_.CreateCall(b_.GetInsertBlock()->getModule()->getOrInsertFunction(name, type), arguments);
    call->setDoesNotThrow();
    call->addFnAttr(llvm::Attribute::WillReturn);
    call->setMemoryEffects(llvm::MemoryEffects::inaccessibleMemOnly());
  }

  llvm::SmallVector<Value*, 4> sources(const NumberCheck& check) {
    llvm::SmallVector<Value*, 4> values;
    for (const std::uint8_t n : check.operands) values.push_back(f_.source(instruction_.operands[n], check.source));
    return values;
  }

  /// The result, when it is there, with the operands from before.
  void mark_result(const NumberCheck& check, Value* chosen, llvm::ArrayRef<Value*> before) {
    if (instruction_.operands[0].kind != Operand::Kind::Register) return;
    llvm::SmallVector<Value*, 4> values{f_.source(instruction_.operands[0], check.result)};
    values.append(before.begin(), before.end());
    mark(check.test, chosen, values);
  }

  /// What a load brought or a store takes away, with the address.
  void mark_memory(const analysis::NumberChecks& checks, NumberOperation operation) {
    const bool loads = operation == NumberOperation::Load;
    const Operand& address = instruction_.operands[loads ? 1 : 0];
    Value* base = nullptr;
    std::uint64_t offset = 0;
    for (const Operand& each : f_.elements(instruction_.operands[loads ? 0 : 1])) {
      const std::size_t bytes = size_in_bytes(instruction_.type());
      const auto known = each.kind == Operand::Kind::Register ? checks.format_of(each.reg) : std::nullopt;
      if (known && bytes * 8 == std::size_t{bits_of(known->result)} * known->elements) {
        NumberTest test = *known;
        test.operation = operation;
        if (base == nullptr) base = b_.CreatePtrToInt(address_, b_.getInt64Ty());
        mark(test, b_.getTrue(), {f_.source(each, *ptx::untyped_of(bytes)), b_.CreateAdd(base, b_.getInt64(offset))});
      }
      offset += bytes;
    }
    static_cast<void>(address);
  }

  /// A load may change the register that its address is in.
  void remember_address(const Operand& address) { address_ = f_.pointer(address, instruction_.space()); }

 private:
  FunctionEmitter& f_;
  llvm::IRBuilder<>& b_;
  const Instruction& instruction_;
  Value* address_ = nullptr;
};

bool is_plain_access(const Instruction& i) {
  return (i.opcode == ptx::Opcode::Ld || i.opcode == ptx::Opcode::Ldu || i.opcode == ptx::Opcode::St) &&
         !i.spaces.empty() && i.space() != ptx::Space::Param;
}

}  // namespace

void emit_with_number_marks(FunctionEmitter& f, const Instruction& i, Generate generate) {
  const analysis::NumberChecks& checks = f.number_checks();
  const auto index = static_cast<std::uint32_t>(&i - f.function.body.data());
  Marker marker(f, i);
  if (const auto* const choices = checks.chosen_at(index)) {
    for (const analysis::ChosenLater& each : *choices) {
      const Instruction& made = f.function.body[each.producer];
      const NumberCheck& check = *checks.any_at(each.producer);
      Marker of_producer(f, made);
      Value* const predicate = f.predicate(i.operands[3]);
      of_producer.mark_result(check, each.if_true ? predicate : f.b.CreateNot(predicate), of_producer.sources(check));
    }
  }
  if (const NumberCheck* const check = checks.at(index)) {
    const llvm::SmallVector<Value*, 4> before = marker.sources(*check);
    generate(f, i);
    marker.mark_result(*check, f.b.getTrue(), before);
    return;
  }
  if (analysis::is_warp_wide(i.opcode) && f.module.block_shape == nullptr)
    f.b.CreateStore(f.b.getInt32(i.position.line | aligned_place),
                    f.b.CreateConstInBoundsGEP1_64(f.b.getInt8Ty(), f.thread(), offsetof(ThreadState, place)));
  if (!is_plain_access(i)) return generate(f, i);
  const bool stores = i.opcode == ptx::Opcode::St;
  marker.remember_address(i.operands[stores ? 0 : 1]);
  generate(f, i);
  marker.mark_memory(checks, stores ? NumberOperation::Store : NumberOperation::Load);
}

bool is_number_mark(const llvm::Instruction& i) {
  const auto* const call = llvm::dyn_cast<llvm::CallInst>(&i);
  return call != nullptr && call->getCalledFunction() != nullptr &&
         call->getCalledFunction()->getName().starts_with(number_mark);
}

NumberMark::NumberMark(const llvm::CallInst& call)
    : block(call.getArgOperand(0)),
      linear(call.getArgOperand(1)),
      chosen(call.getArgOperand(2)),
      test(std::bit_cast<NumberTest>(llvm::cast<llvm::ConstantInt>(call.getArgOperand(3))->getZExtValue())),
      place(call.getArgOperand(4)) {
  for (unsigned n = first_value; n < call.arg_size(); ++n) values.push_back(call.getArgOperand(n));
}

std::uint32_t NumberMark::sizes() const {
  std::uint32_t all = 0;
  for (unsigned n = 0; n < values.size(); ++n)
    all |= static_cast<std::uint32_t>(std::countr_zero(values[n]->getType()->getScalarSizeInBits() / 8)) << 4 * n;
  return all;
}

void call_number_service(llvm::IRBuilder<>& b, const NumberReport& report) {
  const auto field = [&](Value* base, std::size_t offset) {
    return b.CreateLoad(b.getPtrTy(), b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), base, offset));
  };
  Value* const table = field(field(report.block, offsetof(BlockState, launch)), offsetof(LaunchState, checks));
  Value* const service = field(table, offsetof(CheckTable, numbers));
  Value* const arguments[] = {report.block,
                              report.place,
                              report.first,
                              report.lanes,
                              report.values,
                              b.getInt32(report.lane_count),
                              b.getInt32(report.sizes)};
  llvm::SmallVector<llvm::Type*, 8> types;
  for (Value* const argument : arguments) types.push_back(argument->getType());
  b.CreateCall(llvm::FunctionType::get(b.getVoidTy(), types, false), service, arguments)->setDoesNotThrow();
}

namespace {

/// The questions of `marks`, which stand in one block, at the last of them.
void expand_together(llvm::ArrayRef<llvm::CallInst*> marks, llvm::AllocaInst* room) {
  llvm::CallInst* const last = marks.back();
  llvm::IRBuilder<> b(last);
  Value* any = nullptr;
  for (const llvm::CallInst* const call : marks) {
    const NumberMark mark(*call);
    Value* const one = b.CreateAnd(may_be_exceptional(b, mark.test, mark.values), mark.chosen);
    any = any == nullptr ? one : b.CreateOr(any, one);
  }
  llvm::MDNode* const rarely = llvm::MDBuilder(b.getContext()).createUnlikelyBranchWeights();
  llvm::Instruction* at = llvm::SplitBlockAndInsertIfThen(any, last, false, rarely);
  for (const llvm::CallInst* const call : marks) {
    const NumberMark mark(*call);
    b.SetInsertPoint(at);
    Value* const told = b.CreateAnd(is_exceptional(b, mark.test, mark.values), mark.chosen);
    llvm::Instruction* const tells = llvm::SplitBlockAndInsertIfThen(told, at, false);
    b.SetInsertPoint(tells);
    for (unsigned n = 0; n < mark.values.size(); ++n)
      b.CreateStore(mark.values[n], b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), room, std::uint64_t{8} * n));
    call_number_service(b, {.block = mark.block,
                            .place = mark.place,
                            .first = mark.linear,
                            .lanes = b.getInt32(1),
                            .values = room,
                            .lane_count = 1,
                            .sizes = mark.sizes()});
  }
  for (llvm::CallInst* const call : marks) call->eraseFromParent();
}

/// A call may not come back.
bool ends_group(const llvm::Instruction& i) {
  const auto* const call = llvm::dyn_cast<llvm::CallInst>(&i);
  return call != nullptr && call->getIntrinsicID() == llvm::Intrinsic::not_intrinsic && !is_number_mark(i);
}

}  // namespace

void expand_number_marks(llvm::Module& ir) {
  for (llvm::Function& function : ir) {
    std::vector<std::vector<llvm::CallInst*>> groups;
    for (llvm::BasicBlock& block : function) {
      groups.emplace_back();
      for (llvm::Instruction& i : block) {
        if (ends_group(i) || groups.back().size() == cost_model::most_marks_together) groups.emplace_back();
        if (is_number_mark(i)) groups.back().push_back(llvm::cast<llvm::CallInst>(&i));
      }
    }
    llvm::AllocaInst* room = nullptr;
    for (const auto& group : groups) {
      if (group.empty()) continue;
      if (room == nullptr) {
        llvm::IRBuilder<> entry(&function.getEntryBlock(), function.getEntryBlock().begin());
        room = entry.CreateAlloca(entry.getInt64Ty(), entry.getInt32(most_values_of_mark), "numbers");
      }
      expand_together(group, room);
    }
  }
}

}  // namespace cucore::cpu::compiler
