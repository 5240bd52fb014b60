// A loop over the lanes of a group: see lane_loop.hpp.
#include "cpu/compiler/vector/operations/lane_loop.hpp"

#include <llvm/IR/Instructions.h>

#include <algorithm>
#include <utility>

#include "cpu/compiler/cost/cost_model.hpp"

namespace cucore::cpu::compiler {

using llvm::Instruction;
using llvm::Value;

namespace {

/// In memory a predicate takes a byte.
llvm::Type* in_memory(llvm::Type* type) {
  return type->isIntegerTy(1) ? llvm::Type::getInt8Ty(type->getContext()) : type;
}

unsigned bits_of(const Value* value) {
  const llvm::Type* type = value->getType();
  return type->isPointerTy() ? 64 : static_cast<unsigned>(type->getPrimitiveSizeInBits().getFixedValue());
}

}  // namespace

LaneLoop::Input LaneLoop::input_of(Value* input) {
  Input best{input, {}};
  llvm::SmallVector<Instruction*, 4> operations;
  for (Value* at = input; operations.size() < cost_model::most_lane_operations;) {
    auto* operation = llvm::dyn_cast<Instruction>(at);
    if (operation == nullptr || operation->getParent() != c_.block || c_.strides().checks(operation)) break;
    if (!llvm::isa<llvm::BinaryOperator, llvm::CastInst, llvm::GetElementPtrInst>(operation)) break;
    if (operation->isIntDivRem() || operation->getType()->isFPOrFPVectorTy()) break;
    auto differs = [&](const llvm::Use& use) { return !values_.get(use).stride.is_uniform(); };
    if (llvm::count_if(operation->operands(), differs) != 1) break;
    operations.push_back(operation);
    at = *llvm::find_if(operation->operands(), differs);
    if (bits_of(at) < bits_of(best.source)) best = {at, operations};
  }
  return best;
}

Value* LaneLoop::made_of(Value* source, const Input& input) {
  Value* value = source;
  const Value* before = input.source;
  for (Instruction* operation : llvm::reverse(input.operations)) {
    Instruction* copy = operation->clone();
    for (llvm::Use& operand : copy->operands())
      operand.set(operand.get() == before ? value : values_.first_lane(operand.get(), 0));
    before = operation;
    value = b.Insert(copy);
  }
  return value;
}

/// One lane or several after the other.
LaneLoop::Iteration LaneLoop::begin_all(unsigned at_once) {
  auto* before = b.GetInsertBlock();
  auto* loop = c_.new_block("lane");
  b.CreateBr(loop);
  b.SetInsertPoint(loop);
  auto* lane = b.CreatePHI(b.getInt32Ty(), 2, "lane");
  lane->addIncoming(b.getInt32(0), before);
  return {lane, [this, lane, loop, at_once] {
            auto* done = c_.new_block("lanes.done");
            Value* following = b.CreateAdd(lane, b.getInt32(at_once));
            lane->addIncoming(following, b.GetInsertBlock());
            b.CreateCondBr(b.CreateICmpULT(following, b.getInt32(c_.width.group())), loop, done);
            b.SetInsertPoint(done);
          }};
}

/// From one bit of the masks that is set to the next, a word of them at a time.
LaneLoop::Iteration LaneLoop::begin_active() {
  const unsigned in_word = std::min(64U, c_.width.group());
  llvm::Type* word = b.getIntNTy(in_word);
  auto* masks = c_.slot(llvm::ArrayType::get(c_.mask_type(), c_.width.chunks), "active");
  for (unsigned k = 0; k < c_.width.chunks; ++k)
    b.CreateAlignedStore(c_.active.bits(k), b.CreateConstGEP1_32(c_.mask_type(), masks, k), llvm::Align(1));
  auto* before = b.GetInsertBlock();
  auto* begin = c_.new_block("lanes.of.word");
  auto* look = c_.new_block("look.for.lane");
  auto* active = c_.new_block("active.lane");
  auto* next = c_.new_block("next.word");
  b.CreateBr(begin);
  b.SetInsertPoint(begin);
  auto* number = b.CreatePHI(b.getInt32Ty(), 2, "word");
  number->addIncoming(b.getInt32(0), before);
  Value* all = b.CreateAlignedLoad(word, b.CreateGEP(word, masks, number), llvm::Align(1));
  b.CreateBr(look);
  b.SetInsertPoint(look);
  auto* left = b.CreatePHI(word, 2, "left");
  left->addIncoming(all, begin);
  b.CreateCondBr(b.CreateIsNotNull(left), active, next);
  b.SetInsertPoint(active);
  Value* bit = b.CreateZExtOrTrunc(b.CreateBinaryIntrinsic(llvm::Intrinsic::cttz, left, b.getTrue()), b.getInt32Ty());
  Value* lane = b.CreateAdd(b.CreateMul(number, b.getInt32(in_word)), bit, "lane");
  return {lane, [=, this] {
            left->addIncoming(b.CreateAnd(left, b.CreateSub(left, llvm::ConstantInt::get(word, 1))),
                              b.GetInsertBlock());
            b.CreateBr(look);
            b.SetInsertPoint(next);
            auto* done = c_.new_block("lanes.done");
            Value* following = b.CreateAdd(number, b.getInt32(1));
            number->addIncoming(following, next);
            b.CreateCondBr(b.CreateICmpULT(following, b.getInt32(c_.width.group() / in_word)), begin, done);
            b.SetInsertPoint(done);
          }};
}

std::vector<VectorValue> LaneLoop::for_each(llvm::ArrayRef<Value*> inputs, llvm::ArrayRef<llvm::Type*> results,
                                            const Body& body, unsigned lanes_in_iteration) {
  // Inputs that differ go through memory, so that a loop can pick its lane's.
  std::vector<Input> sources;
  std::vector<Value*> arrays;
  for (Value* input : inputs) {
    sources.push_back({input, {}});
    arrays.push_back(nullptr);
    if (values_.get(input).stride.is_uniform()) continue;
    sources.back() = input_of(input);
    Value* source = sources.back().source;
    llvm::Type* type = in_memory(source->getType());
    arrays.back() = c_.slot(llvm::ArrayType::get(type, c_.width.group()), "lanes");
    for (unsigned k = 0; k < c_.width.chunks; ++k) {
      Value* part = values_.vector(source, k);
      if (type != source->getType()) part = b.CreateZExt(part, c_.widened(type));
      b.CreateAlignedStore(part, b.CreateConstGEP1_32(type, arrays.back(), k * c_.width.lanes), llvm::Align(1));
    }
  }
  std::vector<llvm::AllocaInst*> outputs;
  for (llvm::Type* type : results) {
    outputs.push_back(c_.slot(llvm::ArrayType::get(in_memory(type), c_.width.group()), "results"));
  }
  const unsigned at_once = c_.active.is_partial() ? 1 : std::min(lanes_in_iteration, c_.width.lanes);
  const Iteration iteration = c_.active.is_partial() ? begin_active() : begin_all(at_once);
  Value* const first = iteration.lane;
  for (unsigned i = 0; i < at_once; ++i) {
    Value* lane = i == 0 ? first : b.CreateNUWAdd(first, b.getInt32(i));
    Parts own;
    for (std::size_t n = 0; n < inputs.size(); ++n) {
      if (arrays[n] == nullptr) {
        own.push_back(values_.first_lane(inputs[n], 0));
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
  iteration.end();

  std::vector<VectorValue> wides;
  for (std::size_t n = 0; n < results.size(); ++n) {
    llvm::Type* type = in_memory(results[n]);
    VectorValue wide{Stride::varying(), {}};
    for (unsigned k = 0; k < c_.width.chunks; ++k) {
      Value* at = b.CreateConstGEP1_32(type, outputs[n], k * c_.width.lanes);
      Value* part = b.CreateAlignedLoad(c_.widened(type), at, llvm::Align(1));
      wide.parts.push_back(type == results[n] ? part : b.CreateTrunc(part, c_.widened(results[n])));
    }
    wides.push_back(std::move(wide));
  }
  return wides;
}

}  // namespace cucore::cpu::compiler
