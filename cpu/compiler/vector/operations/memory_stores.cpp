// Stores in the vector form: see memory.hpp.
#include "cpu/compiler/vector/operations/memory.hpp"

#include <llvm/IR/Instructions.h>

#include <utility>

#include "cpu/compiler/vector/analysis/refusal.hpp"
#include "cpu/compiler/vector/state/access_types.hpp"

namespace cucore::cpu::compiler {

using llvm::Value;

Result<void> VectorMemory::emit_store(llvm::StoreInst& store) {
  if (Result<void> done = checks_.before_effect(); !done) return done;
  return checks_.lanes.emit_access(store, [&]() -> Result<VectorValue> {
    if (Result<void> done = store_all(store); !done) return std::move(done).failure();
    return VectorValue{};
  });
}

Result<void> VectorMemory::store_all(llvm::StoreInst& store) {
  Value* value = store.getValueOperand();
  Value* pointer = store.getPointerOperand();
  const Stride address = c_.strides().of(pointer);
  const Stride stored = values_.get(value).stride;
  if (address.is_same_in_group() && stored.is_same_in_group()) {
    llvm::Instruction* copy = store.clone();
    copy->setOperand(0, values_.first_lane(value, 0));
    copy->setOperand(1, c_.active.may_be_none() ? idle_.instead_if_none(values_.first_lane(pointer, 0))
                                                : values_.first_lane(pointer, 0));
    b.Insert(copy);
    return {};
  }
  const bool is_movable = is_element(value->getType()) || (is_pair(value->getType()) && !address.is_same_in_chunk());
  if (!moves_vectors(store) || !is_movable) {
    if (value->getType()->isVectorTy()) return refusal("a store of small vectors");
    lanes_.for_each({value, pointer}, {}, [&](Value*, llvm::ArrayRef<Value*> inputs) -> Parts {
      llvm::Instruction* copy = store.clone();
      copy->setOperand(0, inputs[0]);
      copy->setOperand(1, inputs[1]);
      b.Insert(copy);
      return {};
    });
    return {};
  }
  prefetching_.ahead_of(store);
  // To one address the highest active lane writes last.
  const bool is_in_last = address.is_uniform() && !c_.active.is_partial();
  for (unsigned k = is_in_last ? c_.width.chunks - 1 : 0; k < c_.width.chunks; ++k) store_chunk(store, address, k);
  return {};
}

void VectorMemory::store_chunk(llvm::StoreInst& store, const Stride& address, unsigned chunk) {
  Value* value = store.getValueOperand();
  Value* pointer = store.getPointerOperand();
  llvm::Type* type = element_of(value->getType());
  const std::int64_t size = bytes_of(type->isPointerTy() ? b.getInt64Ty() : type);
  if (address.is_same_in_chunk()) {
    Value* last = values_.get(value).stride.is_same_in_chunk()
                      ? values_.first_lane(value, chunk)
                      : b.CreateExtractElement(values_.vector(value, chunk), c_.active.last(chunk));
    b.CreateAlignedStore(last, idle_.instead_if_idle(values_.first_lane(pointer, chunk), chunk), store.getAlign());
    return;
  }
  Value* row = b.CreateBitCast(values_.vector(value, chunk), c_.widened(type));
  if (address.is_strided() && address.step == size) {
    if (c_.active.is_partial()) {
      b.CreateMaskedStore(row, values_.first_lane(pointer, chunk), store.getAlign(), c_.active.vector(chunk));
    } else {
      b.CreateAlignedStore(row, values_.first_lane(pointer, chunk), store.getAlign());
    }
    return;
  }
  const bool scatters = c_.host.avx512f && size >= 4 && !type->isPointerTy();
  if (scatters && !(address.is_strided() && !c_.active.is_partial())) {
    b.CreateMaskedScatter(row, values_.vector(pointer, chunk), store.getAlign(),
                          c_.active.is_partial() ? c_.active.vector(chunk) : nullptr);
    return;
  }
  Value* pointers = lane_pointers(pointer, address, chunk);
  for (unsigned lane = 0; lane < c_.width.lanes; ++lane) {
    Value* at = pointer_in_lane(pointers, pointer, address, chunk, lane);
    b.CreateAlignedStore(b.CreateExtractElement(row, lane), at, store.getAlign());
  }
}

}  // namespace cucore::cpu::compiler
