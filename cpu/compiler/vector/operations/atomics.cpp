// Atomic operations: see atomics.hpp.
#include "cpu/compiler/vector/operations/atomics.hpp"

#include <llvm/IR/Instructions.h>
#include <llvm/Transforms/Utils/LowerAtomic.h>

#include "cpu/compiler/cost/cost_model.hpp"

namespace cucore::cpu::compiler {

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

using Update = llvm::AtomicRMWInst;

/// The operand that changes nothing, of an operation whose order among lanes changes nothing; null for others.
llvm::Constant* neutral(const Update& update) {
  auto* type = llvm::dyn_cast<llvm::IntegerType>(update.getType());
  if (type == nullptr) return nullptr;
  const unsigned bits = type->getBitWidth();
  switch (update.getOperation()) {
    case Update::Add:
    case Update::Sub:
    case Update::Or:
    case Update::Xor:
    case Update::UMax:
      return llvm::ConstantInt::get(type, 0);
    case Update::And:
    case Update::UMin:
      return llvm::ConstantInt::getAllOnesValue(type);
    case Update::Max:
      return llvm::ConstantInt::get(type, llvm::APInt::getSignedMinValue(bits));
    case Update::Min:
      return llvm::ConstantInt::get(type, llvm::APInt::getSignedMaxValue(bits));
    default:
      return nullptr;
  }
}

/// How two operands become one: what is subtracted in two steps adds up.
Update::BinOp joining(const Update& update) {
  return update.getOperation() == Update::Sub ? Update::Add : update.getOperation();
}

Value* reduced(llvm::IRBuilder<>& b, Update::BinOp operation, Value* vector) {
  switch (operation) {
    case Update::Add:
      return b.CreateAddReduce(vector);
    case Update::Or:
      return b.CreateOrReduce(vector);
    case Update::Xor:
      return b.CreateXorReduce(vector);
    case Update::And:
      return b.CreateAndReduce(vector);
    default:
      const bool is_signed = operation == Update::Max || operation == Update::Min;
      const bool is_largest = operation == Update::Max || operation == Update::UMax;
      return is_largest ? b.CreateIntMaxReduce(vector, is_signed) : b.CreateIntMinReduce(vector, is_signed);
  }
}

}  // namespace

/// Between the updates of one place by lanes that ask for nothing, others may see every value or none.
bool Atomics::is_of_all_lanes(const Instruction& instruction) {
  const auto* update = llvm::dyn_cast<Update>(&instruction);
  return update != nullptr && update->use_empty() && neutral(*update) != nullptr &&
         values_.get(const_cast<Value*>(update->getPointerOperand())).stride.is_uniform();
}

/// What all active lanes have as operand, joined.
Value* Atomics::combined_operand(const Update& update) {
  auto* operand = const_cast<Value*>(update.getValOperand());
  Value* none = b.CreateVectorSplat(c_.width.lanes, neutral(update));
  Value* whole = nullptr;
  for (unsigned k = 0; k < c_.width.chunks; ++k) {
    Value* part = values_.vector(operand, k);
    if (c_.active.is_partial()) part = b.CreateSelect(c_.active.vector(k), part, none);
    whole = whole == nullptr ? part : llvm::buildAtomicRMWValue(joining(update), b, whole, part);
  }
  return reduced(b, joining(update), whole);
}

void Atomics::update_once(const Update& update) {
  Value* operand = combined_operand(update);
  Value* place = values_.first_lane(const_cast<Value*>(update.getPointerOperand()), 0);
  llvm::BasicBlock* next = nullptr;
  if (c_.active.may_be_none()) {  // the place need not be one
    auto* some = c_.new_block("update");
    next = c_.new_block("updated");
    b.CreateCondBr(c_.active.any(), some, next);
    b.SetInsertPoint(some);
  }
  if (is_between_threads_of_block(update)) {
    Value* old = b.CreateAlignedLoad(update.getType(), place, update.getAlign());
    b.CreateAlignedStore(llvm::buildAtomicRMWValue(update.getOperation(), b, old, operand), place, update.getAlign());
  } else {
    Instruction* copy = update.clone();
    copy->setOperand(0, place);
    copy->setOperand(1, operand);
    b.Insert(copy);
  }
  if (next == nullptr) return;
  b.CreateBr(next);
  b.SetInsertPoint(next);
}

Result<void> Atomics::emit(Instruction& instruction) {
  if (Result<void> done = checks_.before_effect(); !done) return done;
  if (is_of_all_lanes(instruction)) {
    return checks_.lanes.emit_access(instruction, [&]() -> Result<VectorValue> {
      update_once(llvm::cast<Update>(instruction));
      return VectorValue{};
    });
  }
  return checks_.lanes.emit_access(instruction, [&]() -> Result<VectorValue> { return updated(instruction); });
}

VectorValue Atomics::updated(Instruction& instruction) {
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
  std::vector<VectorValue> wides =
      lanes_.for_each(inputs, results, body, is_plain ? cost_model::lanes_in_iteration : 1);
  if (wides.empty()) return {};
  VectorValue whole = wides[0];
  if (wides.size() == 2) whole.parts.append(wides[1].parts.begin(), wides[1].parts.end());
  return whole;
}

}  // namespace cucore::cpu::compiler
