// Clusters: addresses in the shared memory of other blocks, and the barrier of a cluster.
//
// The shared windows of a cluster's blocks lie side by side, by rank, at one distance. In a kernel that names other
// blocks (Reach) a `.shared` address is an offset from the first window, so it says which block it means, and loads,
// stores, atomics and copies need not know about clusters at all.
#include <cstddef>

#include "cpu/abi/kernel_abi.hpp"
#include "cpu/compiler/emitters/function_emitter.hpp"
#include "cpu/compiler/instructions/generators.hpp"

namespace cucore::cpu::compiler {

using llvm::Value;
using ptx::Instruction;
using ptx::Space;
using ptx::Type;
using M = ptx::Modifier;

namespace {

/// The source address as an offset from the first window, 64 bits wide.
Value* offset_in_cluster(FunctionEmitter& f, const Instruction& i) {
  Value* address = f.b.CreateZExt(f.source(i.operands[1], i.type()), f.b.getInt64Ty());
  if (i.space() == Space::Shared) return address;
  return f.b.CreateSub(address, f.b.CreatePtrToInt(f.shared_base(), f.b.getInt64Ty()));
}

Value* cluster_stride(FunctionEmitter& f) {
  Value* stride = f.invariant_field(f.b.getInt32Ty(), f.launch_state(), offsetof(LaunchState, cluster_stride));
  return f.b.CreateZExt(stride, f.b.getInt64Ty());
}

}  // namespace

/// mapa d, address, rank: the same place in the window of the block of that rank
void emit_mapa(FunctionEmitter& f, const Instruction& i) {
  Value* stride = cluster_stride(f);
  Value* place = f.b.CreateURem(offset_in_cluster(f, i), stride);
  Value* rank = f.b.CreateZExt(f.source(i.operands[2], Type::U32), f.b.getInt64Ty());
  Value* mapped = f.b.CreateAdd(place, f.b.CreateMul(rank, stride));
  if (i.space() != Space::Shared) mapped = f.b.CreateAdd(mapped, f.b.CreatePtrToInt(f.shared_base(), f.b.getInt64Ty()));
  f.define(i.operands[0], f.b.CreateTrunc(mapped, f.type_of(i.type())), i.type());
}

/// getctarank d, address: the rank of the block in whose window it lies
void emit_getctarank(FunctionEmitter& f, const Instruction& i) {
  Value* rank = f.b.CreateUDiv(offset_in_cluster(f, i), cluster_stride(f));
  f.define(i.operands[0], f.b.CreateTrunc(rank, f.b.getInt32Ty()), Type::U32);
}

/// barrier.cluster.arrive and .wait
void emit_cluster_barrier(FunctionEmitter& f, const Instruction& i) {
  f.call(i.has(M::Arrive) ? "cucpu_cluster_arrive" : "cucpu_cluster_wait", f.b.getVoidTy(), {f.thread()});
}

}  // namespace cucore::cpu::compiler
