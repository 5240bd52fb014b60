// What the vector form does lane by lane: atomics, and calls of printf, assert and trap.
#include <llvm/IR/Instructions.h>
#include <llvm/Transforms/Utils/LowerAtomic.h>

#include <algorithm>

#include "cpu/abi/kernel_abi.hpp"
#include "cpu/compiler/emitters/module_emitter.hpp"
#include "cpu/compiler/vector/cost_model.hpp"
#include "cpu/compiler/vector/vector_emitter.hpp"

namespace cucore::cpu::codegen {

using llvm::Instruction;
using llvm::Value;

namespace {

/// Threads of one block share one host thread: between them no atomic instruction is needed.
bool is_between_threads_of_block(const Instruction& instruction) {
  if (const auto* update = llvm::dyn_cast<llvm::AtomicRMWInst>(&instruction))
    return update->getSyncScopeID() == llvm::SyncScope::SingleThread;
  const auto* swap = llvm::dyn_cast<llvm::AtomicCmpXchgInst>(&instruction);
  return swap != nullptr && swap->getSyncScopeID() == llvm::SyncScope::SingleThread;
}

/// In memory a predicate takes a byte.
llvm::Type* in_memory(llvm::Type* type) {
  return type->isIntegerTy(1) ? llvm::Type::getInt8Ty(type->getContext()) : type;
}

unsigned bits_of(const Value* value) {
  const llvm::Type* type = value->getType();
  return type->isPointerTy() ? 64 : static_cast<unsigned>(type->getPrimitiveSizeInBits().getFixedValue());
}

}  // namespace

void VectorEmitter::emit_atomic(Instruction& instruction) {
  flush_checks();
  can_restart_ = false;
  emit_access(instruction, [&] { return updated(instruction); });
}

Wide VectorEmitter::updated(Instruction& instruction) {
  llvm::SmallVector<Value*, 4> inputs(instruction.operands());
  llvm::SmallVector<llvm::Type*, 2> results{instruction.getType()};
  if (instruction.getType()->isStructTy()) results = {inputs[1]->getType(), b.getInt1Ty()};
  if (instruction.use_empty()) results.clear();
  const bool is_plain = is_between_threads_of_block(instruction);
  auto body = [&](Value*, llvm::ArrayRef<Value*> lane) -> Parts {
    if (auto* update = llvm::dyn_cast<llvm::AtomicRMWInst>(&instruction); is_plain && update != nullptr) {
      Value* old = b.CreateAlignedLoad(update->getType(), lane[0], update->getAlign());
      b.CreateAlignedStore(llvm::buildAtomicRMWValue(update->getOperation(), b, old, lane[1]), lane[0],
                           update->getAlign());
      return results.empty() ? Parts{} : Parts{old};
    }
    if (auto* swap = llvm::dyn_cast<llvm::AtomicCmpXchgInst>(&instruction); is_plain && swap != nullptr) {
      Value* old = b.CreateAlignedLoad(lane[1]->getType(), lane[0], swap->getAlign());
      Value* equal = b.CreateICmpEQ(old, lane[1]);
      b.CreateAlignedStore(b.CreateSelect(equal, lane[2], old), lane[0], swap->getAlign());
      return results.empty() ? Parts{} : Parts{old, equal};
    }
    Instruction* copy = instruction.clone();
    for (unsigned n = 0; n < lane.size(); ++n) copy->setOperand(n, lane[n]);
    Value* made = b.Insert(copy);
    if (results.empty()) return {};
    if (results.size() == 1) return {made};
    return {b.CreateExtractValue(made, 0), b.CreateExtractValue(made, 1)};
  };
  std::vector<Wide> wides = for_each_lane(inputs, results, body, is_plain ? cost_model::lanes_in_iteration : 1);
  if (wides.empty()) return {};
  Wide whole = wides[0];
  if (wides.size() == 2) whole.parts.append(wides[1].parts.begin(), wides[1].parts.end());
  return whole;
}

/// What a lane makes an input of: a value of the lanes, perhaps the input itself, and the operations from it to the
/// input. An address is often made of an index of fewer bits, which is less to store, and its load extends it.
VectorEmitter::LaneInput VectorEmitter::lane_input(Value* input) {
  LaneInput best{input, {}};
  llvm::SmallVector<Instruction*, 4> operations;
  for (Value* at = input; operations.size() < cost_model::most_lane_operations;) {
    auto* operation = llvm::dyn_cast<Instruction>(at);
    if (operation == nullptr || operation->getParent() != current_ || shapes().checks(operation)) break;
    if (!llvm::isa<llvm::BinaryOperator, llvm::CastInst, llvm::GetElementPtrInst>(operation)) break;
    if (operation->isIntDivRem() || operation->getType()->isFPOrFPVectorTy()) break;
    auto differs = [&](const llvm::Use& use) { return !get(use).shape.is_uniform(); };
    if (llvm::count_if(operation->operands(), differs) != 1) break;
    operations.push_back(operation);
    at = *llvm::find_if(operation->operands(), differs);
    if (bits_of(at) < bits_of(best.source)) best = {at, operations};
  }
  return best;
}

/// The input of one lane, of its source.
Value* VectorEmitter::made_of(Value* source, const LaneInput& input) {
  Value* value = source;
  const Value* before = input.source;
  for (Instruction* operation : llvm::reverse(input.operations)) {
    Instruction* copy = operation->clone();
    for (llvm::Use& operand : copy->operands())
      operand.set(operand.get() == before ? value : first_lane(operand.get(), 0));
    before = operation;
    value = b.Insert(copy);
  }
  return value;
}

std::vector<Wide> VectorEmitter::for_each_lane(llvm::ArrayRef<Value*> inputs, llvm::ArrayRef<llvm::Type*> results,
                                               const LaneBody& body, unsigned turn) {
  // Inputs that differ go through memory, so that a loop can pick its lane's.
  std::vector<LaneInput> sources;
  std::vector<Value*> arrays;
  for (Value* input : inputs) {
    sources.push_back({input, {}});
    arrays.push_back(nullptr);
    if (get(input).shape.is_uniform()) continue;
    sources.back() = lane_input(input);
    Value* source = sources.back().source;
    llvm::Type* type = in_memory(source->getType());
    arrays.back() = slot(llvm::ArrayType::get(type, width_.group()), "lanes");
    for (unsigned k = 0; k < width_.chunks; ++k) {
      Value* part = vector(source, k);
      if (type != source->getType()) part = b.CreateZExt(part, widened(type));
      b.CreateAlignedStore(part, b.CreateConstGEP1_32(type, arrays.back(), k * width_.lanes), llvm::Align(1));
    }
  }
  std::vector<llvm::AllocaInst*> outputs;
  for (llvm::Type* type : results) {
    outputs.push_back(slot(llvm::ArrayType::get(in_memory(type), width_.group()), "results"));
  }
  llvm::AllocaInst* masks = nullptr;
  if (is_masked()) {
    masks = slot(llvm::ArrayType::get(mask_type(), width_.chunks), "active");
    for (unsigned k = 0; k < width_.chunks; ++k)
      b.CreateAlignedStore(mask_[k], b.CreateConstGEP1_32(mask_type(), masks, k), llvm::Align(1));
  }
  auto* before = b.GetInsertBlock();
  auto* loop = new_block("lane");
  auto* next = new_block("next.lane");
  auto* done = new_block("lanes.done");
  b.CreateBr(loop);
  b.SetInsertPoint(loop);
  auto* first = b.CreatePHI(b.getInt32Ty(), 2, "lane");
  first->addIncoming(b.getInt32(0), before);
  turn = is_masked() ? 1 : std::min(turn, width_.lanes);
  if (is_masked()) {
    auto* active = new_block("active.lane");
    Value* chunk = b.CreateUDiv(first, b.getInt32(width_.lanes));
    Value* bits = b.CreateAlignedLoad(mask_type(), b.CreateGEP(mask_type(), masks, chunk), llvm::Align(1));
    Value* bit = b.CreateZExtOrTrunc(b.CreateURem(first, b.getInt32(width_.lanes)), mask_type());
    b.CreateCondBr(b.CreateTrunc(b.CreateLShr(bits, bit), b.getInt1Ty()), active, next);
    b.SetInsertPoint(active);
  }
  for (unsigned i = 0; i < turn; ++i) {
    Value* lane = i == 0 ? first : b.CreateNUWAdd(first, b.getInt32(i));
    Parts own;
    for (std::size_t n = 0; n < inputs.size(); ++n) {
      if (arrays[n] == nullptr) {
        own.push_back(first_lane(inputs[n], 0));
        continue;
      }
      llvm::Type* type = in_memory(sources[n].source->getType());
      Value* value = b.CreateLoad(type, b.CreateGEP(type, arrays[n], lane));
      if (type != sources[n].source->getType()) value = b.CreateTrunc(value, sources[n].source->getType());
      own.push_back(made_of(value, sources[n]));
    }
    const Parts made = body(lane, own);
    for (std::size_t n = 0; n < results.size(); ++n) {
      llvm::Type* type = in_memory(results[n]);
      Value* value = type == results[n] ? made[n] : b.CreateZExt(made[n], type);
      b.CreateStore(value, b.CreateGEP(type, outputs[n], lane));
    }
  }
  b.CreateBr(next);
  b.SetInsertPoint(next);
  Value* following = b.CreateAdd(first, b.getInt32(turn));
  first->addIncoming(following, next);
  b.CreateCondBr(b.CreateICmpULT(following, b.getInt32(width_.group())), loop, done);
  b.SetInsertPoint(done);

  std::vector<Wide> wides;
  for (std::size_t n = 0; n < results.size(); ++n) {
    llvm::Type* type = in_memory(results[n]);
    Wide wide{Shape::varying(), {}};
    for (unsigned k = 0; k < width_.chunks; ++k) {
      Value* at = b.CreateConstGEP1_32(type, outputs[n], k * width_.lanes);
      Value* part = b.CreateAlignedLoad(widened(type), at, llvm::Align(1));
      wide.parts.push_back(type == results[n] ? part : b.CreateTrunc(part, widened(results[n])));
    }
    wides.push_back(std::move(wide));
  }
  return wides;
}

/// printf, assert and trap: each active lane calls with a state of its own.
void VectorEmitter::emit_lane_service(llvm::CallInst& call) {
  flush_checks();
  can_restart_ = false;
  llvm::SmallVector<Value*, 8> inputs;
  for (unsigned n = 1; n < call.arg_size(); ++n) inputs.push_back(call.getArgOperand(n));
  llvm::SmallVector<llvm::Type*, 1> results;
  if (!call.getType()->isVoidTy()) results.push_back(call.getType());
  auto field = [&](std::size_t offset) { return b.CreateConstGEP1_64(b.getInt8Ty(), lane_state_, offset); };
  std::vector<Wide> wides = for_each_lane(inputs, results, [&](Value* lane, llvm::ArrayRef<Value*> own) -> Parts {
    Value* linear = b.CreateAdd(group_->getArg(1), lane);
    Value* row = b.CreateUDiv(linear, b.getInt32(width_.block[0]));
    b.CreateStore(group_->getArg(0), field(offsetof(ThreadState, block)));
    b.CreateStore(b.CreateURem(linear, b.getInt32(width_.block[0])), field(offsetof(ThreadState, thread_id)));
    b.CreateStore(b.CreateURem(row, b.getInt32(width_.block[1])), field(offsetof(ThreadState, thread_id) + 4));
    b.CreateStore(b.CreateUDiv(row, b.getInt32(width_.block[1])), field(offsetof(ThreadState, thread_id) + 8));
    b.CreateStore(linear, field(offsetof(ThreadState, linear)));
    b.CreateStore(llvm::ConstantPointerNull::get(b.getPtrTy()), field(offsetof(ThreadState, runtime)));
    llvm::SmallVector<Value*, 8> arguments{lane_state_};
    arguments.append(own.begin(), own.end());
    Value* made = b.CreateCall(call.getCalledFunction(), arguments);
    return results.empty() ? Parts{} : Parts{made};
  });
  if (!wides.empty()) put(&call, wides[0]);
}

}  // namespace cucore::cpu::codegen
