// Loads and stores in the vector form: one access for all lanes, one for a chunk, a row of neighbouring elements, or
// one for each lane. Idle lanes access nothing, or a dummy.
#include <llvm/IR/Instructions.h>

#include <algorithm>

#include "cpu/abi/kernel_abi.hpp"
#include "cpu/compiler/checks/mark_calls.hpp"
#include "cpu/compiler/emitters/module_emitter.hpp"
#include "cpu/compiler/vector/cost_model.hpp"
#include "cpu/compiler/vector/pairs.hpp"
#include "cpu/compiler/vector/vector_emitter.hpp"

namespace cucore::cpu::codegen {

using llvm::BasicBlock;
using llvm::Value;

namespace {

std::int64_t bytes_of(const llvm::Type* type) { return static_cast<std::int64_t>(type->getScalarSizeInBits() / 8); }

bool is_element(const llvm::Type* type) {
  return (type->isIntegerTy() && type->getScalarSizeInBits() % 8 == 0) || type->isFloatTy() || type->isDoubleTy() ||
         type->isPointerTy();
}

/// What is moved at once: a pair as a whole.
llvm::Type* element_of(llvm::Type* type) { return is_pair(type) ? llvm::Type::getInt64Ty(type->getContext()) : type; }

bool is_block_index_on_x(const llvm::LoadInst& load, const llvm::Function& scalar) {
  return block_field(load.getPointerOperand(), scalar) == offsetof(BlockState, block_id);
}

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
  for (unsigned k = 0; k < parts_of(result.shape); ++k) {
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

void VectorEmitter::emit_load(llvm::LoadInst& load) {
  if (const auto field = thread_field(load.getPointerOperand(), scalar_))
    return put(&load, thread_register(load, *field));
  if (is_block_index_on_x(load, scalar_)) return put(&load, uniform(group_->getArg(4)));
  flush_wraps();
  if (!load.isSimple()) {
    flush_lane_checks();
    can_restart_ = false;
  }
  if (load.isSimple() && !shapes().of(load.getPointerOperand()).is_uniform() && !is_element(load.getType()) &&
      !is_pair(load.getType()))
    return refuse("a load of small vectors or bits");
  emit_access(load, [&] { return loaded(load); });
}

Wide VectorEmitter::loaded(llvm::LoadInst& load) {
  const Shape address = shapes().of(load.getPointerOperand());
  auto copy_at = [&](Value* at) {
    llvm::Instruction* copy = load.clone();
    copy->setOperand(0, at);
    return b.Insert(copy);
  };
  if (const Shape shape = shapes().of(&load); shape.spans_group())
    return refuses_ ? Wide{shape, {copy_at(dummy_if_refused(load.getPointerOperand()))}} : once(load, 1);
  if (!load.isSimple())
    return for_each_lane({load.getPointerOperand()}, {load.getType()},
                         [&](Value*, llvm::ArrayRef<Value*> at) -> Parts { return {copy_at(at[0])}; })[0];
  prefetch_ahead_of(load);
  Wide result{shapes().of(&load), {}};
  for (unsigned k = 0; k < width_.chunks; ++k) result.parts.push_back(load_chunk(load, address, k));
  return result;
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
  if (!is_masked() && step > 1 && step <= cost_model::widest_gap) {
    const unsigned count = static_cast<unsigned>(step) * (width_.lanes - 1) + 1;
    Value* row =
        b.CreateAlignedLoad(llvm::FixedVectorType::get(type, count), first_lane(pointer, chunk), load.getAlign());
    llvm::SmallVector<int, 16> picks;
    for (unsigned lane = 0; lane < width_.lanes; ++lane)
      picks.push_back(static_cast<int>(lane) * static_cast<int>(step));
    return b.CreateShuffleVector(row, picks);
  }
  return is_usually_a_row(pointer, size) ? load_usual_row(load, vector_type, chunk)
                                         : load_lanes(load, vector_type, address, chunk);
}

/// Lanes of a chunk that lie apart.
Value* VectorEmitter::load_lanes(llvm::LoadInst& load, llvm::Type* vector_type, const Shape& address, unsigned chunk) {
  Value* pointer = load.getPointerOperand();
  llvm::Type* type = vector_type->getScalarType();
  const bool gathers = has_avx512_ && bytes_of(type) >= 4 && !type->isPointerTy();
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

/// Where lanes come and go an index might wrap around, so its stride is lost; in the full version it is checked.
bool VectorEmitter::is_usually_a_row(Value* pointer, std::int64_t size) const {
  const Shape address = full_shapes_.of(pointer);
  return version_ == Masked && masked_shapes_.of(pointer).is_varying() && address.is_strided() &&
         address.stride == size && (has_avx512_ || size >= 4);  // what loads under a mask
}

Value* VectorEmitter::load_usual_row(llvm::LoadInst& load, llvm::Type* vector_type, unsigned chunk) {
  Value* pointer = load.getPointerOperand();
  const std::int64_t size = bytes_of(vector_type->getScalarType());
  Value* lanes = mask_vector(chunk);
  Value* pointers = b.CreateFreeze(vector(pointer, chunk));
  Value* first = b.CreateExtractElement(pointers, std::uint64_t{0});  // computed even if the lane is idle
  llvm::SmallVector<llvm::Constant*, 16> offsets;
  for (unsigned lane = 0; lane < width_.lanes; ++lane)
    offsets.push_back(b.getInt64(static_cast<std::uint64_t>(size) * lane));
  Value* row = b.CreateGEP(b.getInt8Ty(), first, llvm::ConstantVector::get(offsets));
  Value* elsewhere = b.CreateAnd(b.CreateICmpNE(pointers, row), lanes);
  BasicBlock* ways[] = {new_block("in.a.row"), new_block("apart")};
  BasicBlock* loaded = new_block("loaded");
  b.CreateCondBr(b.CreateIsNull(b.CreateBitCast(elsewhere, mask_type())), ways[0], ways[1]);
  b.SetInsertPoint(ways[0]);
  Value* together = b.CreateMaskedLoad(vector_type, first, load.getAlign(), lanes);
  b.CreateBr(loaded);
  b.SetInsertPoint(ways[1]);
  Value* apart = load_lanes(load, vector_type, Shape::varying(), chunk);
  BasicBlock* const end = b.GetInsertBlock();
  b.CreateBr(loaded);
  b.SetInsertPoint(loaded);
  auto* either = b.CreatePHI(vector_type, 2);
  either->addIncoming(together, ways[0]);
  either->addIncoming(apart, end);
  return either;
}

void VectorEmitter::emit_store(llvm::StoreInst& store) {
  flush_checks();
  can_restart_ = false;
  emit_access(store, [&] {
    store_all(store);
    return Wide{};
  });
}

void VectorEmitter::store_all(llvm::StoreInst& store) {
  Value* value = store.getValueOperand();
  Value* pointer = store.getPointerOperand();
  const Shape address = shapes().of(pointer);
  const Shape stored = get(value).shape;
  if (address.is_same_in_group() && stored.is_same_in_group()) {
    llvm::Instruction* copy = store.clone();
    copy->setOperand(0, first_lane(value, 0));
    copy->setOperand(1, refuses_ ? dummy_if_refused(pointer) : first_lane(pointer, 0));
    b.Insert(copy);
    return;
  }
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
  prefetch_ahead_of(store);
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

}  // namespace cucore::cpu::codegen
