// Memory in the vector form: one access for all lanes, one for a chunk, a row of neighbouring elements, or one for each
// lane. Idle lanes access nothing, or a dummy.
#include <llvm/IR/Instructions.h>
#include <llvm/Transforms/Utils/LowerAtomic.h>

#include <algorithm>

#include "cpu/codegen/kernel_abi.hpp"
#include "cpu/codegen/module_emitter.hpp"
#include "cpu/codegen/vector_emitter.hpp"
#include "cpu/codegen/vector_pairs.hpp"

namespace cucore::cpu::codegen {

using llvm::Value;

namespace {

std::int64_t bytes_of(const llvm::Type* type) { return static_cast<std::int64_t>(type->getScalarSizeInBits() / 8); }

/// Elements that lie at most this many elements apart are fetched with what is between them.
constexpr std::int64_t widest_step = 4;

bool is_element(const llvm::Type* type) {
  return (type->isIntegerTy() && type->getScalarSizeInBits() % 8 == 0) || type->isFloatTy() || type->isDoubleTy() ||
         type->isPointerTy();
}

/// What is moved at once: a pair as a whole.
llvm::Type* element_of(llvm::Type* type) { return is_pair(type) ? llvm::Type::getInt64Ty(type->getContext()) : type; }

}  // namespace

/// The address, or that of a dummy for a chunk that has no active lane.
Value* VectorEmitter::dummy_if_idle(Value* address, unsigned chunk) {
  return is_masked() ? b.CreateSelect(is_chunk_active(chunk), address, dummy_) : address;
}

// ---- fields of the thread ------------------------------------------------------------------------------------------

Wide VectorEmitter::thread_register(llvm::LoadInst& load, std::uint64_t field) {
  if (field == offsetof(ThreadState, block)) return uniform(group_->getArg(0));
  if (field == offsetof(ThreadState, runtime)) {
    refuse("a use of the thread's own scheduler");
    return uniform(llvm::PoisonValue::get(load.getType()));
  }
  Wide result{shapes().of(&load), {}};
  const std::uint32_t* size = width_.block;
  const bool has_rows = !result.shape.is_varying();
  for (unsigned k = 0; k < width_.chunks; ++k) {
    Value* linear = b.CreateAdd(group_->getArg(1), b.getInt32(k * width_.lanes));
    llvm::Type* type = linear->getType();
    if (!has_rows) {
      linear = b.CreateAdd(splat(linear), lane_numbers(type, 1));
      type = linear->getType();
    }
    auto number = [&](std::uint32_t n) { return llvm::ConstantInt::get(type, n); };
    Value* part = linear;
    if (field == offsetof(ThreadState, thread_id) && !width_.is_line()) part = b.CreateURem(linear, number(size[0]));
    if (field == offsetof(ThreadState, thread_id) + 4)
      part = b.CreateURem(b.CreateUDiv(linear, number(size[0])), number(size[1]));
    if (field == offsetof(ThreadState, thread_id) + 8) part = b.CreateUDiv(linear, number(size[0] * size[1]));
    result.parts.push_back(part);
  }
  return result;
}

// ---- loads and stores ----------------------------------------------------------------------------------------------

/// A block of several rows leaves each of them after a few cache lines, too soon for a processor that learns from
/// addresses, and it learns for full groups and for those under a mask apart. So the lines of a row that adjacent
/// threads access are fetched for the next block on x, if its indices are the usual ones: once for places that differ
/// by a constant. Loops and barriers leave time for that anyway.
void VectorEmitter::prefetch_for_next_block(llvm::Instruction& access) {
  if (version_ == Masked || !width_.has_rows() || flow_.has_meetings() || flow_.loop_depth(current_) != 0) return;
  Value* pointer = llvm::getLoadStorePointerOperand(&access);
  llvm::Type* type = llvm::getLoadStoreType(&access);
  const Shape address = shapes().of(pointer);
  const std::int64_t size = bytes_of(type->isPointerTy() ? b.getInt64Ty() : type);
  if (!address.is_strided() || address.stride != size) return;
  llvm::APInt offset(64, 0);
  Value* base = pointer->stripAndAccumulateConstantOffsets(scalar_.getDataLayout(), offset, true);
  if (!prefetched_.insert(base).second) return;
  constexpr std::uint64_t cache_line = 64;
  const auto bytes = static_cast<std::uint64_t>(size);
  for (unsigned k = 0; k < width_.chunks; ++k) {
    for (std::uint64_t line = 0; line < bytes * width_.lanes; line += cache_line) {
      Value* ahead = b.CreateConstGEP1_64(b.getInt8Ty(), first_lane(pointer, k), bytes * width_.block[0] + line);
      const unsigned writes = llvm::isa<llvm::StoreInst>(access) ? 1 : 0;
      constexpr unsigned to_all_caches = 3, data = 1;
      b.CreateIntrinsic(llvm::Intrinsic::prefetch, {b.getPtrTy()},
                        {ahead, b.getInt32(writes), b.getInt32(to_all_caches), b.getInt32(data)});
    }
  }
}

void VectorEmitter::emit_load(llvm::LoadInst& load) {
  if (const auto field = thread_field(load.getPointerOperand(), scalar_))
    return put(&load, thread_register(load, *field));
  flush_checks();
  if (!load.isSimple()) can_restart_ = false;
  const Shape address = shapes().of(load.getPointerOperand());
  if (address.is_uniform()) return emit_once(load, 1);
  if (!load.isSimple()) {
    put(&load,
        for_each_lane({load.getPointerOperand()}, {load.getType()}, [&](Value*, llvm::ArrayRef<Value*> at) -> Parts {
          llvm::Instruction* copy = load.clone();
          copy->setOperand(0, at[0]);
          return {b.Insert(copy)};
        })[0]);
    return;
  }
  if (!is_element(load.getType()) && !is_pair(load.getType())) return refuse("a load of small vectors or bits");
  prefetch_for_next_block(load);
  Wide result{shapes().of(&load), {}};
  for (unsigned k = 0; k < width_.chunks; ++k) result.parts.push_back(load_chunk(load, address, k));
  put(&load, std::move(result));
}

Value* VectorEmitter::load_chunk(llvm::LoadInst& load, const Shape& address, unsigned chunk) {
  Value* pointer = load.getPointerOperand();
  if (address.is_same_in_chunk()) {
    return b.CreateAlignedLoad(load.getType(), dummy_if_idle(first_lane(pointer, chunk), chunk), load.getAlign());
  }
  return b.CreateBitCast(load_elements(load, address, chunk), widened(load.getType()));
}

Value* VectorEmitter::load_elements(llvm::LoadInst& load, const Shape& address, unsigned chunk) {
  Value* pointer = load.getPointerOperand();
  llvm::Type* type = element_of(load.getType());
  llvm::Type* vector_type = widened(type);
  const std::int64_t size = bytes_of(type->isPointerTy() ? b.getInt64Ty() : type);
  if (address.is_strided() && address.stride == size) {
    Value* first = first_lane(pointer, chunk);
    if (!is_masked()) return b.CreateAlignedLoad(vector_type, first, load.getAlign());
    return b.CreateMaskedLoad(vector_type, first, load.getAlign(), mask_vector(chunk));
  }
  const std::int64_t step = address.is_strided() && address.stride % size == 0 ? address.stride / size : 0;
  if (!is_masked() && step > 1 && step <= widest_step) {
    const unsigned count = static_cast<unsigned>(step) * (width_.lanes - 1) + 1;
    Value* row =
        b.CreateAlignedLoad(llvm::FixedVectorType::get(type, count), first_lane(pointer, chunk), load.getAlign());
    llvm::SmallVector<int, 16> picks;
    for (unsigned lane = 0; lane < width_.lanes; ++lane)
      picks.push_back(static_cast<int>(lane) * static_cast<int>(step));
    return b.CreateShuffleVector(row, picks);
  }
  const bool gathers = has_avx512_ && size >= 4 && !type->isPointerTy();
  if (gathers && !(address.is_strided() && !is_masked())) {
    Value* mask = is_masked() ? mask_vector(chunk) : nullptr;
    return b.CreateMaskedGather(vector_type, vector(pointer, chunk), load.getAlign(), mask);
  }
  Value* row = llvm::PoisonValue::get(vector_type);
  Value* pointers = nullptr;
  if (is_masked() || !address.is_strided()) {
    pointers = vector(pointer, chunk);
    if (is_masked()) pointers = b.CreateSelect(mask_vector(chunk), pointers, splat(dummy_));
  }
  for (unsigned lane = 0; lane < width_.lanes; ++lane) {
    Value* at = pointers != nullptr ? b.CreateExtractElement(pointers, lane)
                                    : b.CreateConstGEP1_64(b.getInt8Ty(), first_lane(pointer, chunk),
                                                           static_cast<std::uint64_t>(address.stride) * lane);
    row = b.CreateInsertElement(row, b.CreateAlignedLoad(type, at, load.getAlign()), lane);
  }
  return row;
}

void VectorEmitter::emit_store(llvm::StoreInst& store) {
  flush_checks();
  can_restart_ = false;
  Value* value = store.getValueOperand();
  Value* pointer = store.getPointerOperand();
  const Shape address = shapes().of(pointer);
  const Shape stored = get(value).shape;
  if (address.is_uniform() && stored.is_uniform()) return emit_once(store, 1);
  // To one address the highest lane writes last.
  const bool last_wins =
      address.is_same_in_chunk() && (stored.is_same_in_chunk() ? is_masked() && address.is_uniform() : is_masked());
  if (!store.isSimple() || last_wins || (!is_element(value->getType()) && !is_pair(value->getType()))) {
    if (value->getType()->isVectorTy()) return refuse("a store of small vectors");
    for_each_lane({value, pointer}, {}, [&](Value*, llvm::ArrayRef<Value*> inputs) -> Parts {
      llvm::Instruction* copy = store.clone();
      copy->setOperand(0, inputs[0]);
      copy->setOperand(1, inputs[1]);
      b.Insert(copy);
      return {};
    });
    return;
  }
  prefetch_for_next_block(store);
  for (unsigned k = address.is_uniform() ? width_.chunks - 1 : 0; k < width_.chunks; ++k)
    store_chunk(store, address, k);
}

void VectorEmitter::store_chunk(llvm::StoreInst& store, const Shape& address, unsigned chunk) {
  Value* value = store.getValueOperand();
  Value* pointer = store.getPointerOperand();
  llvm::Type* type = element_of(value->getType());
  const std::int64_t size = bytes_of(type->isPointerTy() ? b.getInt64Ty() : type);
  if (address.is_same_in_chunk()) {
    Value* last = get(value).shape.is_same_in_chunk() ? first_lane(value, chunk)
                                                      : b.CreateExtractElement(vector(value, chunk), width_.lanes - 1);
    b.CreateAlignedStore(last, dummy_if_idle(first_lane(pointer, chunk), chunk), store.getAlign());
    return;
  }
  Value* row = b.CreateBitCast(vector(value, chunk), widened(type));
  if (address.is_strided() && address.stride == size) {
    if (is_masked()) {
      b.CreateMaskedStore(row, first_lane(pointer, chunk), store.getAlign(), mask_vector(chunk));
    } else {
      b.CreateAlignedStore(row, first_lane(pointer, chunk), store.getAlign());
    }
    return;
  }
  const bool scatters = has_avx512_ && size >= 4 && !type->isPointerTy();
  if (scatters && !(address.is_strided() && !is_masked())) {
    b.CreateMaskedScatter(row, vector(pointer, chunk), store.getAlign(), is_masked() ? mask_vector(chunk) : nullptr);
    return;
  }
  Value* pointers = nullptr;
  if (is_masked() || !address.is_strided()) {
    pointers = vector(pointer, chunk);
    if (is_masked()) pointers = b.CreateSelect(mask_vector(chunk), pointers, splat(dummy_));
  }
  for (unsigned lane = 0; lane < width_.lanes; ++lane) {
    Value* at = pointers != nullptr ? b.CreateExtractElement(pointers, lane)
                                    : b.CreateConstGEP1_64(b.getInt8Ty(), first_lane(pointer, chunk),
                                                           static_cast<std::uint64_t>(address.stride) * lane);
    b.CreateAlignedStore(b.CreateExtractElement(row, lane), at, store.getAlign());
  }
}

void VectorEmitter::emit_atomic(llvm::Instruction& instruction) {
  flush_checks();
  can_restart_ = false;
  llvm::SmallVector<Value*, 4> inputs(instruction.operands());
  llvm::SmallVector<llvm::Type*, 2> results{instruction.getType()};
  if (instruction.getType()->isStructTy()) results = {inputs[1]->getType(), b.getInt1Ty()};
  if (instruction.use_empty()) results.clear();
  std::vector<Wide> wides = for_each_lane(inputs, results, [&](Value*, llvm::ArrayRef<Value*> lane) -> Parts {
    // Threads of one block share one host thread: between them no atomic instruction is needed.
    if (auto* update = llvm::dyn_cast<llvm::AtomicRMWInst>(&instruction);
        update != nullptr && update->getSyncScopeID() == llvm::SyncScope::SingleThread) {
      Value* old = b.CreateAlignedLoad(update->getType(), lane[0], update->getAlign());
      b.CreateAlignedStore(llvm::buildAtomicRMWValue(update->getOperation(), b, old, lane[1]), lane[0],
                           update->getAlign());
      return results.empty() ? Parts{} : Parts{old};
    }
    if (auto* swap = llvm::dyn_cast<llvm::AtomicCmpXchgInst>(&instruction);
        swap != nullptr && swap->getSyncScopeID() == llvm::SyncScope::SingleThread) {
      Value* old = b.CreateAlignedLoad(lane[1]->getType(), lane[0], swap->getAlign());
      Value* equal = b.CreateICmpEQ(old, lane[1]);
      b.CreateAlignedStore(b.CreateSelect(equal, lane[2], old), lane[0], swap->getAlign());
      return results.empty() ? Parts{} : Parts{old, equal};
    }
    llvm::Instruction* copy = instruction.clone();
    for (unsigned n = 0; n < lane.size(); ++n) copy->setOperand(n, lane[n]);
    Value* made = b.Insert(copy);
    if (results.empty()) return {};
    if (results.size() == 1) return {made};
    return {b.CreateExtractValue(made, 0), b.CreateExtractValue(made, 1)};
  });
  if (wides.empty()) return;
  Wide whole = wides[0];
  if (wides.size() == 2) whole.parts.append(wides[1].parts.begin(), wides[1].parts.end());
  put(&instruction, std::move(whole));
}

// ---- lane by lane --------------------------------------------------------------------------------------------------

std::vector<Wide> VectorEmitter::for_each_lane(llvm::ArrayRef<Value*> inputs, llvm::ArrayRef<llvm::Type*> results,
                                               const LaneBody& body) {
  // Inputs that differ go through memory, so that a loop can pick its lane's.
  auto in_memory = [&](llvm::Type* type) { return type->isIntegerTy(1) ? b.getInt8Ty() : type; };
  std::vector<Value*> arrays;
  for (Value* input : inputs) {
    arrays.push_back(nullptr);
    if (get(input).shape.is_uniform()) continue;
    llvm::Type* type = in_memory(input->getType());
    arrays.back() = slot(llvm::ArrayType::get(type, width_.group()), "lanes");
    for (unsigned k = 0; k < width_.chunks; ++k) {
      Value* part = vector(input, k);
      if (type != input->getType()) part = b.CreateZExt(part, widened(type));
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
  auto* lane = b.CreatePHI(b.getInt32Ty(), 2, "lane");
  lane->addIncoming(b.getInt32(0), before);
  if (is_masked()) {
    auto* active = new_block("active.lane");
    Value* chunk = b.CreateUDiv(lane, b.getInt32(width_.lanes));
    Value* bits = b.CreateAlignedLoad(mask_type(), b.CreateGEP(mask_type(), masks, chunk), llvm::Align(1));
    Value* bit = b.CreateZExtOrTrunc(b.CreateURem(lane, b.getInt32(width_.lanes)), mask_type());
    b.CreateCondBr(b.CreateTrunc(b.CreateLShr(bits, bit), b.getInt1Ty()), active, next);
    b.SetInsertPoint(active);
  }
  Parts own;
  for (std::size_t n = 0; n < inputs.size(); ++n) {
    if (arrays[n] == nullptr) {
      own.push_back(first_lane(inputs[n], 0));
      continue;
    }
    llvm::Type* type = in_memory(inputs[n]->getType());
    Value* value = b.CreateLoad(type, b.CreateGEP(type, arrays[n], lane));
    own.push_back(type == inputs[n]->getType() ? value : b.CreateTrunc(value, inputs[n]->getType()));
  }
  const Parts made = body(lane, own);
  for (std::size_t n = 0; n < results.size(); ++n) {
    llvm::Type* type = in_memory(results[n]);
    Value* value = type == results[n] ? made[n] : b.CreateZExt(made[n], type);
    b.CreateStore(value, b.CreateGEP(type, outputs[n], lane));
  }
  b.CreateBr(next);
  b.SetInsertPoint(next);
  Value* following = b.CreateAdd(lane, b.getInt32(1));
  lane->addIncoming(following, next);
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
