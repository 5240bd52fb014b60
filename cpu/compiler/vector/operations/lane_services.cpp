// Calls of services by each lane: see lane_services.hpp.
#include "cpu/compiler/vector/operations/lane_services.hpp"

#include <llvm/IR/Instructions.h>

#include <cstddef>

#include "cpu/abi/kernel_abi.hpp"

namespace cucore::cpu::compiler {

using llvm::Value;

LaneServices::LaneServices(EmissionContext& context, VectorValues& values, LaneLoop& lanes)
    : c_(context),
      values_(values),
      lanes_(lanes),
      b(context.b),
      state_(c_.slot(llvm::ArrayType::get(b.getInt8Ty(), sizeof(ThreadState)), "lane")) {
  state_->setAlignment(llvm::Align(alignof(ThreadState)));
}

void LaneServices::emit(llvm::CallInst& call) {
  llvm::SmallVector<Value*, 8> inputs;
  for (unsigned n = 1; n < call.arg_size(); ++n) inputs.push_back(call.getArgOperand(n));
  llvm::SmallVector<llvm::Type*, 1> results;
  if (!call.getType()->isVoidTy()) results.push_back(call.getType());
  auto field = [&](std::size_t offset) { return b.CreateConstGEP1_64(b.getInt8Ty(), state_, offset); };
  std::vector<VectorValue> wides =
      lanes_.for_each(inputs, results, [&](Value* lane, llvm::ArrayRef<Value*> own) -> Parts {
        Value* linear = b.CreateAdd(c_.first_thread(), lane);
        Value* row = b.CreateUDiv(linear, b.getInt32(c_.width.block[0]));
        b.CreateStore(c_.block_state(), field(offsetof(ThreadState, block)));
        b.CreateStore(b.CreateURem(linear, b.getInt32(c_.width.block[0])), field(offsetof(ThreadState, thread_id)));
        b.CreateStore(b.CreateURem(row, b.getInt32(c_.width.block[1])), field(offsetof(ThreadState, thread_id) + 4));
        b.CreateStore(b.CreateUDiv(row, b.getInt32(c_.width.block[1])), field(offsetof(ThreadState, thread_id) + 8));
        b.CreateStore(linear, field(offsetof(ThreadState, linear)));
        b.CreateStore(llvm::ConstantPointerNull::get(b.getPtrTy()), field(offsetof(ThreadState, runtime)));
        llvm::SmallVector<Value*, 8> arguments{state_};
        arguments.append(own.begin(), own.end());
        Value* made = b.CreateCall(call.getCalledFunction(), arguments);
        return results.empty() ? Parts{} : Parts{made};
      });
  if (!wides.empty()) values_.put(&call, wides[0]);
}

}  // namespace cucore::cpu::compiler
