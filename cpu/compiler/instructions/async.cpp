// mbarrier, bulk copies, and stores and reductions that report to an mbarrier. Everything asynchronous is done at
// issue, which its rules allow: groups of copies have nothing to wait for, and bytes are reported as soon as they are
// written.
#include <algorithm>
#include <iterator>
#include <utility>

#include "cpu/abi/reduction.hpp"
#include "cpu/abi/tensor_map_contents.hpp"
#include "cpu/compiler/emitters/function_emitter.hpp"
#include "cpu/compiler/instructions/bulk_reduction.hpp"
#include "cpu/compiler/instructions/generators.hpp"

namespace cucore::cpu::compiler {

using llvm::Value;
using ptx::Instruction;
using ptx::Operand;
using ptx::Space;
using ptx::Type;
using M = ptx::Modifier;

namespace {

void complete_bytes(FunctionEmitter& f, const Operand& barrier, Value* bytes) {
  f.call("cucpu_mbarrier_complete_bytes", f.b.getVoidTy(), {f.pointer(barrier, Space::Shared), bytes});
}

/// p, [barrier], state or parity
void emit_mbarrier_wait(FunctionEmitter& f, const Instruction& i, Value* barrier) {
  const bool parity = i.has(M::Parity);
  Value* phase = f.source(i.operands[2], parity ? Type::U32 : Type::B64);
  const std::string name = std::string(i.has(M::TryWait) ? "cucpu_mbarrier_wait" : "cucpu_mbarrier_test");
  std::vector<Value*> arguments{barrier, phase};
  if (i.has(M::TryWait)) arguments.insert(arguments.begin(), f.thread());
  Value* ended = f.call(parity ? name + "_parity" : name, f.b.getInt32Ty(), arguments);
  f.define(i.operands[0], f.b.CreateICmpNE(ended, f.b.getInt32(0)), Type::Pred);
}

/// state, [barrier], count or, with .expect_tx, bytes
void emit_mbarrier_arrive(FunctionEmitter& f, const Instruction& i, Value* barrier) {
  Value* count = f.b.getInt32(1);
  if (i.operands.size() > 2) {
    Value* given = f.source(i.operands[2], Type::U32);
    if (i.has(M::ExpectTx)) {
      f.call("cucpu_mbarrier_expect_bytes", f.b.getVoidTy(), {barrier, given});
    } else {
      count = given;
    }
  }
  Value* drops = f.b.getInt32(i.has(M::ArriveDrop) ? 1 : 0);
  f.define(i.operands[0], f.call("cucpu_mbarrier_arrive", f.b.getInt64Ty(), {barrier, count, drops}), Type::B64);
}

/// The values of 32 bits in an array on the stack.
Value* array_of(FunctionEmitter& f, const std::vector<Value*>& values) {
  auto* room = f.slot(llvm::ArrayType::get(f.b.getInt32Ty(), values.size()), "array", 4);
  for (std::size_t n = 0; n < values.size(); ++n)
    f.b.CreateStore(values[n], f.b.CreateConstInBoundsGEP2_64(room->getAllocatedType(), room, 0, n));
  return room;
}

/// What an im2col copy adds to each pixel, or null: 16 bits each, behind the barrier, or zero in a store.
Value* pixel_offsets(FunctionEmitter& f, const Instruction& i, std::size_t rank) {
  if (!i.has(M::Im2col) && !i.has(M::Im2colNoOffs)) return llvm::ConstantPointerNull::get(f.b.getPtrTy());
  std::vector<Value*> offsets(rank - 2, f.b.getInt32(0));
  for (std::size_t n = 0; i.has(M::Im2col) && n < offsets.size(); ++n)
    offsets[n] = f.b.CreateZExt(f.source(i.operands[3].elements[n], Type::U16), f.b.getInt32Ty());
  return array_of(f, offsets);
}

/// The ranks that a copy goes to: a mask of 16 bits, the last operand but a cache policy.
Value* ranks_of(FunctionEmitter& f, const Instruction& i) {
  const Operand& mask = i.operands[i.operands.size() - (i.has(M::L2CacheHint) ? 2 : 1)];
  return f.b.CreateZExt(f.source(mask, Type::U16), f.b.getInt32Ty());
}

Reduction reduction_of(const Instruction& i) {
  static constexpr std::pair<M, Reduction> all[] = {
      {M::Add, Reduction::Add}, {M::Min, Reduction::Min}, {M::Max, Reduction::Max}, {M::Inc, Reduction::Inc},
      {M::Dec, Reduction::Dec}, {M::And, Reduction::And}, {M::Or, Reduction::Or},   {M::Xor, Reduction::Xor}};
  return std::find_if(std::begin(all), std::end(all) - 1, [&](const auto& each) { return i.has(each.first); })->second;
}

/// cp.async.bulk.tensor: [to], [map, {coordinates}], [barrier], or [map, {coordinates}], [from] in a group, as
/// cp.reduce.async.bulk.tensor does
void emit_tensor_copy(FunctionEmitter& f, const Instruction& i) {
  const bool loads = i.spaces[0] == Space::Shared;
  const Operand& tensor = i.operands[loads ? 1 : 0];
  const std::vector<Operand>& places = tensor.elements[1].elements;
  Value* map = f.pointer(tensor, Space::Generic);
  Value* shared = f.pointer(i.operands[loads ? 0 : 1], Space::Shared);
  std::vector<Value*> coordinates;
  for (const Operand& place : places) coordinates.push_back(f.source(place, Type::B32));
  const bool is_of_rows = i.has(M::TileGather4) || i.has(M::TileScatter4);
  const auto rank = is_of_rows ? four_rows : static_cast<std::uint32_t>(places.size());
  std::vector<Value*> arguments{
      f.thread(), shared, map, f.b.getInt32(rank), array_of(f, coordinates), pixel_offsets(f, i, places.size())};
  if (i.has(M::MulticastCluster)) {
    arguments.push_back(f.pointer(i.operands[2], Space::Shared));
    arguments.push_back(ranks_of(f, i));
    f.call("cucpu_cluster_tensor_load", f.b.getVoidTy(), arguments);
  } else if (loads) {
    complete_bytes(f, i.operands[2], f.call("cucpu_tensor_load", f.b.getInt32Ty(), arguments));
  } else if (i.has(M::Reduce)) {
    arguments.push_back(f.b.getInt32(static_cast<std::uint32_t>(reduction_of(i))));
    f.call("cucpu_tensor_reduce", f.b.getVoidTy(), arguments);
  } else {
    f.call("cucpu_tensor_store", f.b.getVoidTy(), arguments);
  }
}

}  // namespace

void emit_mbarrier(FunctionEmitter& f, const Instruction& i) {
  llvm::Type* nothing = f.b.getVoidTy();
  if (i.has(M::PendingCount)) {
    Value* state = f.source(i.operands[1], Type::B64);
    f.define(i.operands[0], f.call("cucpu_mbarrier_pending_count", f.b.getInt32Ty(), {state}), Type::U32);
    return;
  }
  const bool has_result = i.operands[0].kind != Operand::Kind::Address;
  Value* barrier = f.pointer(i.operands[has_result ? 1 : 0], i.space());
  if (i.has(M::TestWait) || i.has(M::TryWait)) return emit_mbarrier_wait(f, i, barrier);
  if (has_result) return emit_mbarrier_arrive(f, i, barrier);
  if (i.has(M::Inval)) return;
  Value* number = f.source(i.operands[1], Type::U32);
  const char* name = i.has(M::Init)       ? "cucpu_mbarrier_initialise"
                     : i.has(M::ExpectTx) ? "cucpu_mbarrier_expect_bytes"
                                          : "cucpu_mbarrier_complete_bytes";
  f.call(name, nothing, {barrier, number});
}

/// cp.async.mbarrier.arrive: the copies before it are done.
void emit_cp_async_arrive(FunctionEmitter& f, const Instruction& i) {
  Value* barrier = f.pointer(i.operands[0], i.space());
  if (i.has(M::Noinc)) {
    f.call("cucpu_mbarrier_arrive", f.b.getInt64Ty(), {barrier, f.b.getInt32(1), f.b.getInt32(0)});
  } else {
    f.call("cucpu_mbarrier_arrive_uncounted", f.b.getVoidTy(), {barrier});
  }
}

/// cp.async.bulk and cp.reduce.async.bulk [to], [from], bytes and then [barrier], or nothing in a group
void emit_cp_async_bulk(FunctionEmitter& f, const Instruction& i) {
  if (i.spaces.size() != 2) return;  // .commit_group, .wait_group, .prefetch
  if (i.has(M::Tensor)) return emit_tensor_copy(f, i);
  Value* to = f.pointer(i.operands[0], i.spaces[0]);
  Value* from = f.pointer(i.operands[1], i.spaces[1]);
  Value* bytes = f.source(i.operands[2], Type::U32);
  if (i.has(M::MulticastCluster)) {
    f.call("cucpu_cluster_copy", f.b.getVoidTy(),
           {f.thread(), to, from, bytes, f.pointer(i.operands[3], Space::Shared), ranks_of(f, i)});
    return;
  }
  if (i.has(M::CpMask)) {
    Value* mask = f.source(i.operands.back(), Type::B16);
    f.call("cucpu_copy_masked", f.b.getVoidTy(), {to, from, bytes, f.b.CreateZExt(mask, f.b.getInt32Ty())});
    return;
  }
  if (i.has(M::Reduce)) {
    emit_bulk_reduction(f, i, to, from, bytes);
  } else {
    f.call("cucpu_copy_and_fill", f.b.getVoidTy(), {to, from, bytes, bytes});
  }
  if (i.has(M::MbarrierCompleteTxBytes)) complete_bytes(f, i.operands[3], bytes);
}

/// st.async and red.async [to], value, [barrier]
void emit_async_store(FunctionEmitter& f, const Instruction& i) {
  Instruction plain = i;
  plain.operands.pop_back();
  std::erase_if(plain.modifiers, [](M m) { return m == M::Async || m == M::MbarrierCompleteTxBytes; });
  if (i.opcode == ptx::Opcode::St) {
    emit_st(f, plain);
  } else {
    emit_atomic(f, plain);
  }
  const auto bytes = static_cast<std::uint32_t>(size_in_bytes(i.type()) * i.vector_width);
  complete_bytes(f, i.operands.back(), f.b.getInt32(bytes));
}

/// A cache policy has no effect that a program can see.
void emit_createpolicy(FunctionEmitter& f, const Instruction& i) {
  f.define(i.operands[0], f.b.getInt64(0), Type::B64);
}

}  // namespace cucore::cpu::compiler
