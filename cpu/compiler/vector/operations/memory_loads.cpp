// Loads in the vector form: see memory.hpp.
#include "cpu/compiler/vector/operations/memory.hpp"

#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/IR/Instructions.h>

#include <cstddef>
#include <utility>
#include <vector>

#include "cpu/abi/kernel_abi.hpp"
#include "cpu/compiler/cost/cost_model.hpp"
#include "cpu/compiler/vector/analysis/refusal.hpp"
#include "cpu/compiler/vector/analysis/state_fields.hpp"
#include "cpu/compiler/vector/state/access_types.hpp"

namespace cucore::cpu::compiler {

using llvm::BasicBlock;
using llvm::Value;

namespace {

bool is_block_index_on_x(const llvm::LoadInst& load, const llvm::Function& scalar) {
  return block_field(load.getPointerOperand(), scalar) == offsetof(BlockState, block_id);
}

}  // namespace

VectorValue VectorMemory::thread_register(llvm::LoadInst& load, std::uint64_t field) {
  if (field == offsetof(ThreadState, block)) return VectorValue::uniform(c_.block_state());
  VectorValue result{c_.strides().of(&load), {}};
  const std::uint32_t* size = c_.width.block;
  const bool has_rows = !result.stride.is_varying();
  for (unsigned k = 0; k < c_.parts_of(result.stride); ++k) {
    Value* linear = b.CreateAdd(c_.first_thread(), b.getInt32(k * c_.width.lanes));
    llvm::Type* type = linear->getType();
    if (!has_rows) {
      linear = b.CreateAdd(values_.splat(linear), values_.lane_numbers(type, 1));
      type = linear->getType();
    }
    auto number = [&](std::uint32_t n) { return llvm::ConstantInt::get(type, n); };
    Value* part = linear;
    if (field == offsetof(ThreadState, thread_id) && !c_.width.is_line()) part = b.CreateURem(linear, number(size[0]));
    if (field == offsetof(ThreadState, thread_id) + 4)
      part = b.CreateURem(b.CreateUDiv(linear, number(size[0])), number(size[1]));
    if (field == offsetof(ThreadState, thread_id) + 8) part = b.CreateUDiv(linear, number(size[0] * size[1]));
    result.parts.push_back(part);
  }
  return result;
}

Result<void> VectorMemory::emit_load(llvm::LoadInst& load) {
  if (const auto field = thread_field(load.getPointerOperand(), c_.scalar)) {
    values_.put(&load, thread_register(load, *field));
    return {};
  }
  if (is_block_index_on_x(load, c_.scalar)) {
    values_.put(&load, VectorValue::uniform(c_.block_index_on_x()));
    return {};
  }
  if (Result<void> done = moves_vectors(load) ? checks_.index.flush() : checks_.before_effect(); !done) return done;
  if (moves_vectors(load) && !c_.strides().of(load.getPointerOperand()).is_uniform() && !is_element(load.getType()) &&
      !is_pair(load.getType()))
    return refusal("a load of small vectors or bits");
  return checks_.lanes.emit_access(load, [&]() -> Result<VectorValue> { return loaded(load); });
}

VectorValue VectorMemory::loaded(llvm::LoadInst& load) {
  const Stride address = c_.strides().of(load.getPointerOperand());
  auto copy_at = [&](Value* at) {
    llvm::Instruction* copy = load.clone();
    copy->setOperand(0, at);
    if (moves_vectors(load)) llvm::cast<llvm::LoadInst>(copy)->setVolatile(false);
    return b.Insert(copy);
  };
  if (const Stride stride = c_.strides().of(&load); stride.spans_group())
    return c_.active.may_be_none()
               ? VectorValue{stride, {copy_at(idle_.instead_if_none(values_.first_lane(load.getPointerOperand(), 0)))}}
               : arithmetic_.once(load, 1);
  if (!moves_vectors(load))
    return lanes_.for_each({load.getPointerOperand()}, {load.getType()},
                           [&](Value*, llvm::ArrayRef<Value*> at) -> Parts { return {copy_at(at[0])}; })[0];
  prefetching_.ahead_of(load);
  VectorValue result{c_.strides().of(&load), {}};
  for (unsigned k = 0; k < c_.width.chunks; ++k) result.parts.push_back(load_chunk(load, address, k));
  return result;
}

Value* VectorMemory::load_chunk(llvm::LoadInst& load, const Stride& address, unsigned chunk) {
  Value* pointer = load.getPointerOperand();
  if (address.is_same_in_chunk()) {
    Value* one = b.CreateAlignedLoad(load.getType(), idle_.instead_if_idle(values_.first_lane(pointer, chunk), chunk),
                                     load.getAlign());
    return c_.strides().of(&load).is_varying() ? values_.splat(one) : one;
  }
  return b.CreateBitCast(load_elements(load, address, chunk), c_.widened(load.getType()));
}

Value* VectorMemory::load_elements(llvm::LoadInst& load, const Stride& address, unsigned chunk) {
  Value* pointer = load.getPointerOperand();
  llvm::Type* type = element_of(load.getType());
  llvm::Type* vector_type = c_.widened(type);
  const std::int64_t size = bytes_of(type->isPointerTy() ? b.getInt64Ty() : type);
  if (address.is_strided() && address.step == size) {
    Value* first = values_.first_lane(pointer, chunk);
    if (!c_.active.is_partial()) return b.CreateAlignedLoad(vector_type, first, load.getAlign());
    return b.CreateMaskedLoad(vector_type, first, load.getAlign(), c_.active.vector(chunk));
  }
  const std::int64_t step = address.is_strided() && address.step % size == 0 ? address.step / size : 0;
  if (!c_.active.is_partial() && step > 1 && step <= cost_model::widest_gap) {
    const unsigned count = static_cast<unsigned>(step) * (c_.width.lanes - 1) + 1;
    Value* row = b.CreateAlignedLoad(llvm::FixedVectorType::get(type, count), values_.first_lane(pointer, chunk),
                                     load.getAlign());
    llvm::SmallVector<int, 16> picks;
    for (unsigned lane = 0; lane < c_.width.lanes; ++lane)
      picks.push_back(static_cast<int>(lane) * static_cast<int>(step));
    return b.CreateShuffleVector(row, picks);
  }
  const bool is_row_perhaps = address.is_varying() && is_of_division(pointer) && can_load_row(size);
  return is_row_perhaps || is_probably_contiguous(pointer, size)
             ? load_speculated(load, vector_type, chunk, is_row_perhaps)
             : load_lanes(load, vector_type, address, chunk);
}

/// A vector of the lanes' addresses, harmless ones for idle lanes; null where the first lane's address implies all.
Value* VectorMemory::lane_pointers(Value* pointer, const Stride& address, unsigned chunk) {
  if (!c_.active.is_partial() && address.is_strided()) return nullptr;
  Value* pointers = values_.vector(pointer, chunk);
  if (!c_.active.is_partial()) return pointers;
  return b.CreateSelect(c_.active.vector(chunk), pointers, values_.splat(idle_.address()));
}

/// Of what lane_pointers gave.
Value* VectorMemory::pointer_in_lane(Value* pointers, Value* pointer, const Stride& address, unsigned chunk,
                                     unsigned lane) {
  if (pointers != nullptr) return b.CreateExtractElement(pointers, lane);
  return b.CreateConstGEP1_64(b.getInt8Ty(), values_.first_lane(pointer, chunk),
                              static_cast<std::uint64_t>(address.step) * lane);
}

/// Lanes of a chunk that lie apart.
Value* VectorMemory::load_lanes(llvm::LoadInst& load, llvm::Type* vector_type, const Stride& address, unsigned chunk) {
  Value* pointer = load.getPointerOperand();
  llvm::Type* type = vector_type->getScalarType();
  const bool gathers = c_.host.avx512f && bytes_of(type) >= 4 && !type->isPointerTy();
  if (gathers && !(address.is_strided() && !c_.active.is_partial())) {
    Value* mask = c_.active.is_partial() ? c_.active.vector(chunk) : nullptr;
    return b.CreateMaskedGather(vector_type, values_.vector(pointer, chunk), load.getAlign(), mask);
  }
  Value* row = llvm::PoisonValue::get(vector_type);
  Value* pointers = lane_pointers(pointer, address, chunk);
  for (unsigned lane = 0; lane < c_.width.lanes; ++lane) {
    Value* at = pointer_in_lane(pointers, pointer, address, chunk, lane);
    row = b.CreateInsertElement(row, b.CreateAlignedLoad(type, at, load.getAlign()), lane);
  }
  return row;
}

/// Where lanes come and go an index might wrap around, so its stride is lost; in the full version it is checked.
bool VectorMemory::is_probably_contiguous(Value* pointer, std::int64_t size) const {
  const Stride address = c_.full.of(pointer);
  return c_.version == Masked && c_.masked.of(pointer).is_varying() && address.is_strided() && address.step == size &&
         can_load_row(size);
}

/// Under a mask, if there is one.
bool VectorMemory::can_load_row(std::int64_t size) const {
  return !c_.active.is_partial() || c_.host.avx512f || size >= 4;
}

/// Whether the address is computed by dividing: of an element's row and column, mostly, which are one after the other
/// or the same in most chunks.
bool VectorMemory::is_of_division(Value* pointer) {
  llvm::SmallPtrSet<Value*, cost_model::most_operations_to_a_division> seen;
  llvm::SmallVector<Value*, 16> next{pointer};
  while (!next.empty()) {
    auto* made = llvm::dyn_cast<llvm::Instruction>(next.pop_back_val());
    if (made == nullptr || made->mayReadFromMemory() || !seen.insert(made).second) continue;
    if (is_division(*made)) return true;
    if (seen.size() == cost_model::most_operations_to_a_division) return false;
    next.append(made->op_begin(), made->op_end());
  }
  return false;
}

/// A row, if that is what the lanes' addresses are; with `are_same_perhaps` also one element for all lanes.
Value* VectorMemory::load_speculated(llvm::LoadInst& load, llvm::Type* vector_type, unsigned chunk,
                                     bool are_same_perhaps) {
  const std::int64_t size = bytes_of(vector_type->getScalarType());
  Value* lanes = c_.active.is_partial() ? c_.active.vector(chunk) : nullptr;
  Value* pointers = b.CreateFreeze(values_.vector(load.getPointerOperand(), chunk));
  Value* first = b.CreateExtractElement(pointers, std::uint64_t{0});  // computed even if the lane is idle
  BasicBlock* const loaded = c_.new_block("loaded");
  Parts parts;
  std::vector<BasicBlock*> ends;
  auto end_with = [&](Value* part) {
    parts.push_back(part);
    ends.push_back(b.GetInsertBlock());
    b.CreateBr(loaded);
  };
  auto if_all_are = [&](const char* name, Value* expected, const auto& load_them) {
    Value* elsewhere = b.CreateICmpNE(pointers, expected);
    if (lanes != nullptr) elsewhere = b.CreateAnd(elsewhere, lanes);
    BasicBlock* ways[] = {c_.new_block(name), c_.new_block("apart")};
    b.CreateCondBr(b.CreateIsNull(b.CreateBitCast(elsewhere, c_.mask_type())), ways[0], ways[1]);
    b.SetInsertPoint(ways[0]);
    end_with(load_them());
    b.SetInsertPoint(ways[1]);
  };
  llvm::SmallVector<llvm::Constant*, 16> offsets;
  for (unsigned lane = 0; lane < c_.width.lanes; ++lane)
    offsets.push_back(b.getInt64(static_cast<std::uint64_t>(size) * lane));
  if_all_are("in.a.row", b.CreateGEP(b.getInt8Ty(), first, llvm::ConstantVector::get(offsets)), [&]() -> Value* {
    return lanes != nullptr ? static_cast<Value*>(b.CreateMaskedLoad(vector_type, first, load.getAlign(), lanes))
                            : b.CreateAlignedLoad(vector_type, first, load.getAlign());
  });
  if (are_same_perhaps && lanes == nullptr)  // else there may be no lane, and nothing where the first one points
    if_all_are("the.same", values_.splat(first), [&] {
      return values_.splat(b.CreateAlignedLoad(vector_type->getScalarType(), first, load.getAlign()));
    });
  end_with(load_lanes(load, vector_type, Stride::varying(), chunk));
  b.SetInsertPoint(loaded);
  auto* any = b.CreatePHI(vector_type, static_cast<unsigned>(parts.size()));
  for (std::size_t n = 0; n < parts.size(); ++n) any->addIncoming(parts[n], ends[n]);
  return any;
}

}  // namespace cucore::cpu::compiler
