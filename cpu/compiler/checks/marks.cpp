// Marks of checks and the code they become: see marks.hpp.
#include "cpu/compiler/checks/marks.hpp"

#include <llvm/IR/InstIterator.h>

#include <vector>

#include "cpu/abi/checks.hpp"
#include "cpu/compiler/checks/mark_calls.hpp"

namespace cucore::cpu::compiler {

using llvm::Value;

namespace {

llvm::CallInst* call_mark(llvm::IRBuilder<>& b, const char* name, llvm::Type* result,
                          llvm::ArrayRef<Value*> arguments) {
  std::vector<llvm::Type*> types;
  for (Value* argument : arguments) types.push_back(argument->getType());
  llvm::Module& ir = *b.GetInsertBlock()->getModule();
  auto callee = ir.getOrInsertFunction(name, llvm::FunctionType::get(result, types, false));
  llvm::CallInst* call = b.CreateCall(callee, arguments);
  call->setDoesNotThrow();
  call->addFnAttr(llvm::Attribute::WillReturn);
  return call;
}

}  // namespace

Value* mark_range(llvm::IRBuilder<>& b, Value* interval, Value* first, std::uint64_t beyond, std::uint64_t alignment) {
  llvm::CallInst* call =
      call_mark(b, range_mark, b.getInt1Ty(), {interval, first, b.getInt64(beyond), b.getInt64(alignment)});
  // An interval stays valid as long as the block runs, so an older answer is as good.
  call->setDoesNotAccessMemory();
  return call;
}

Value* mark_lanes(llvm::IRBuilder<>& b, const LaneAccess& access) {
  llvm::CallInst* call =
      call_mark(b, lanes_mark, b.getPtrTy(),
                {access.interval, access.first, b.getInt64(access.beyond), b.getInt64(access.alignment), access.address,
                 access.service, b.getInt32(access.bytes), b.getInt32(access.word), b.getInt32(access.line)});
  call->setMemoryEffects(llvm::MemoryEffects::inaccessibleMemOnly());
  return call;
}

void mark_life(llvm::IRBuilder<>& b, Value* service, Value* variable, std::uint64_t bytes, bool begins) {
  call_mark(b, begins ? begin_mark : end_mark, b.getVoidTy(),
            {service, variable, b.getInt32(static_cast<std::uint32_t>(bytes))});
}

bool is_mark(const llvm::Instruction& i, const char* name) {
  const auto* const call = llvm::dyn_cast<llvm::CallInst>(&i);
  return call != nullptr && call->getCalledFunction() != nullptr && call->getCalledFunction()->getName() == name;
}

RangeMark::RangeMark(const llvm::CallInst& call)
    : interval(call.getArgOperand(0)),
      first(call.getArgOperand(1)),
      beyond(llvm::cast<llvm::ConstantInt>(call.getArgOperand(2))->getZExtValue()),
      alignment(llvm::cast<llvm::ConstantInt>(call.getArgOperand(3))->getZExtValue()) {}

LaneMark::LaneMark(const llvm::CallInst& call)
    : RangeMark(call),
      address(call.getArgOperand(4)),
      service(call.getArgOperand(5)),
      bytes(call.getArgOperand(6)),
      word(call.getArgOperand(7)),
      line(call.getArgOperand(8)) {}

IntervalBounds load_bounds(llvm::IRBuilder<>& b, Value* interval, std::uint64_t beyond) {
  const auto field = [&](std::size_t offset) {
    return b.CreateLoad(b.getInt64Ty(), b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), interval, offset));
  };
  Value* begin = field(offsetof(CheckInterval, begin));
  Value* size = field(offsetof(CheckInterval, size));
  if (beyond != 0) size = b.CreateBinaryIntrinsic(llvm::Intrinsic::usub_sat, size, b.getInt64(beyond));
  return {begin, size};
}

Value* is_multiple(llvm::IRBuilder<>& b, Value* number, std::uint64_t alignment) {
  if (alignment == 1) return b.getTrue();
  return b.CreateICmpEQ(b.CreateAnd(number, alignment - 1), b.getInt64(0));
}

Value* is_in_range(llvm::IRBuilder<>& b, Value* first, const IntervalBounds& bounds) {
  return b.CreateICmpULT(b.CreateSub(first, bounds.begin), bounds.size);
}

Value* look_at_range(llvm::IRBuilder<>& b, Value* interval, Value* first, std::uint64_t beyond,
                     std::uint64_t alignment) {
  return b.CreateAnd(is_in_range(b, first, load_bounds(b, interval, beyond)), is_multiple(b, first, alignment));
}

Value* look_at(llvm::IRBuilder<>& b, const RangeMark& mark) {
  return look_at_range(b, mark.interval, mark.first, mark.beyond, mark.alignment);
}

void expand_life(llvm::CallInst& mark, llvm::Instruction* where) {
  llvm::IRBuilder<> b(where);
  Value* address = b.CreatePtrToInt(mark.getArgOperand(1), b.getInt64Ty());
  Value* bytes = mark.getArgOperand(2);
  auto* type = llvm::FunctionType::get(b.getVoidTy(), {address->getType(), bytes->getType()}, false);
  b.CreateCall(type, mark.getArgOperand(0), {address, bytes})->setDoesNotThrow();
}

void expand_check_marks(llvm::Module& ir) {
  for (llvm::Function& function : ir) {
    for (llvm::Instruction& i : llvm::make_early_inc_range(llvm::instructions(function))) {
      const bool is_life = is_mark(i, begin_mark) || is_mark(i, end_mark);
      if (!is_life && !is_mark(i, range_mark)) continue;
      auto& mark = llvm::cast<llvm::CallInst>(i);
      llvm::IRBuilder<> b(&mark);
      if (is_life)
        expand_life(mark, &mark);
      else
        mark.replaceAllUsesWith(look_at(b, RangeMark(mark)));
      mark.eraseFromParent();
    }
  }
}

}  // namespace cucore::cpu::compiler
