// mov in all its forms, special registers, and conversions between the generic address space and the others.
#include <cstddef>

#include "cpu/abi/kernel_abi.hpp"
#include "cpu/compiler/emitters/function_emitter.hpp"
#include "cpu/compiler/emitters/generic_addresses.hpp"
#include "cpu/compiler/instructions/generators.hpp"

namespace cucore::cpu::codegen {

using llvm::Value;
using ptx::Instruction;
using ptx::Operand;
using ptx::Space;
using ptx::Type;

namespace {

Type untyped(std::size_t bytes) {
  switch (bytes) {
    case 1:
      return Type::B8;
    case 2:
      return Type::B16;
    case 4:
      return Type::B32;
    case 16:
      return Type::B128;
    default:
      return Type::B64;
  }
}

/// mov.b64 d, {a, b}: the first element is the least significant.
Value* pack(FunctionEmitter& f, const std::vector<Operand>& elements, Type whole) {
  const Type part = untyped(size_in_bytes(whole) / elements.size());
  Value* packed = f.b.getInt(llvm::APInt(f.bits_of(whole)->getBitWidth(), 0));
  for (std::size_t i = 0; i < elements.size(); ++i) {
    Value* element = f.b.CreateZExt(f.source(elements[i], part), packed->getType());
    packed = f.b.CreateOr(packed, f.b.CreateShl(element, 8 * size_in_bytes(part) * i));
  }
  return packed;
}

void unpack(FunctionEmitter& f, const std::vector<Operand>& elements, Value* whole) {
  const std::size_t width = whole->getType()->getScalarSizeInBits() / elements.size();
  const Type part = untyped(width / 8);
  for (std::size_t i = 0; i < elements.size(); ++i) {
    f.define(elements[i], f.b.CreateTrunc(f.b.CreateLShr(whole, width * i), f.bits_of(part)), part);
  }
}

}  // namespace

void emit_mov(FunctionEmitter& f, const Instruction& i) {
  const std::vector<Operand> to = f.elements(i.operands[0]);
  const std::vector<Operand> from = f.elements(i.operands[1]);
  const Type whole = i.type() == Type::Pred ? Type::Pred : untyped(size_in_bytes(i.type()));
  if (to.size() == 1 && from.size() == 1) {
    f.define(to[0], f.source(from[0], i.type()), i.type());
  } else if (to.size() == 1) {
    f.define(to[0], pack(f, from, whole), whole);
  } else if (from.size() == 1) {
    unpack(f, to, f.source(from[0], whole));
  } else {
    for (std::size_t e = 0; e < std::min(to.size(), from.size()); ++e)
      f.define(to[e], f.source(from[e], i.type()), i.type());
  }
}

// ---- special registers ---------------------------------------------------------------------------------------------

Value* FunctionEmitter::special(const ptx::SpecialRegister& reg) {
  llvm::Type* i32 = b.getInt32Ty();
  llvm::Type* i64 = b.getInt64Ty();
  const std::size_t axis = std::size_t{4} * reg.axis;
  auto of_axis = [&](auto read, std::uint32_t beyond) -> Value* { return reg.axis < 3 ? read() : b.getInt32(beyond); };
  const std::uint32_t* const shape = module.block_shape;  // code for one shape of block knows it
  auto linear = [&] {
    const std::uint32_t threads = shape != nullptr ? shape[0] * shape[1] * shape[2] : 0;
    return thread_index_field(offsetof(ThreadState, linear), threads);
  };
  auto lane = [&] { return b.CreateAnd(linear(), 31); };
  auto lane_bit = [&] { return b.CreateShl(b.getInt32(1), lane()); };
  auto high_half = [&](Value* wide) { return b.CreateTrunc(b.CreateLShr(wide, 32), i32); };
  auto cycles = [&] { return intrinsic(llvm::Intrinsic::readcyclecounter, {}, {}); };
  auto nanoseconds = [&] { return call("cucpu_globaltimer", i64, {}); };
  auto thread_index = [&]() -> Value* {
    if (shape != nullptr && shape[reg.axis] == 1) return b.getInt32(0);
    return thread_index_field(offsetof(ThreadState, thread_id) + axis, shape != nullptr ? shape[reg.axis] : 0);
  };
  auto block_extent = [&]() -> Value* {
    if (shape != nullptr) return b.getInt32(shape[reg.axis]);
    return invariant_field(i32, launch_state_, offsetof(LaunchState, block) + axis);
  };
  auto block_index = [&] { return invariant_field(i32, block_state_, offsetof(BlockState, block_id) + axis); };
  auto grid_extent = [&]() -> Value* {
    return invariant_field(i32, launch_state_, offsetof(LaunchState, grid) + axis);
  };
  auto cluster_extent = [&]() -> Value* {
    return invariant_field(i32, launch_state_, offsetof(LaunchState, cluster) + axis);
  };

  switch (*find_special(reg)) {
    case Special::Tid:
      return of_axis(thread_index, 0);
    case Special::Ntid:
      return of_axis(block_extent, 1);
    case Special::Ctaid:
      return of_axis(block_index, 0);
    case Special::Nctaid:
      return of_axis(grid_extent, 1);
    case Special::Laneid:
      return lane();
    case Special::Warpid:
      return b.CreateLShr(linear(), 5);
    case Special::Nwarpid: {
      Value* threads = b.getInt32(31);
      Value* product = b.getInt32(1);
      for (std::size_t a = 0; a < 3; ++a) {
        product = b.CreateMul(product, invariant_field(i32, launch_state_, offsetof(LaunchState, block) + 4 * a));
      }
      return b.CreateLShr(b.CreateAdd(product, threads), 5);
    }
    case Special::Smid:
      return invariant_field(i32, block_state_, offsetof(BlockState, worker));
    case Special::Nsmid:
      return invariant_field(i32, launch_state_, offsetof(LaunchState, multiprocessors));
    case Special::Gridid:
      return invariant_field(i64, launch_state_, offsetof(LaunchState, grid_id));
    case Special::LanemaskEq:
      return lane_bit();
    case Special::LanemaskLt:
      return b.CreateSub(lane_bit(), b.getInt32(1));
    case Special::LanemaskLe: {
      Value* bit = lane_bit();
      return b.CreateOr(bit, b.CreateSub(bit, b.getInt32(1)));
    }
    case Special::LanemaskGe:
      return b.CreateNeg(lane_bit());
    case Special::LanemaskGt:
      return b.CreateShl(b.CreateNeg(lane_bit()), 1);
    case Special::Clock:
      return b.CreateTrunc(cycles(), i32);
    case Special::ClockHi:
      return high_half(cycles());
    case Special::Clock64:
      return cycles();
    case Special::Globaltimer:
      return nanoseconds();
    case Special::GlobaltimerLo:
      return b.CreateTrunc(nanoseconds(), i32);
    case Special::GlobaltimerHi:
      return high_half(nanoseconds());
    case Special::Envreg: {
      Value* workspace = invariant_field(i64, launch_state_, offsetof(LaunchState, grid_workspace));
      if (reg.index == 1) return high_half(workspace);
      return reg.index == 2 ? b.CreateTrunc(workspace, i32) : b.getInt32(0);
    }
    case Special::DynamicSmemSize:
      return invariant_field(i32, launch_state_, offsetof(LaunchState, dynamic_shared));
    case Special::TotalSmemSize:
      return invariant_field(i32, launch_state_, offsetof(LaunchState, total_shared));
    // A launch without clusters is one in which every cluster is one block.
    case Special::ClusterId:
      return of_axis([&] { return invariant_field(i32, block_state_, offsetof(BlockState, cluster_id) + axis); }, 0);
    case Special::ClusterCount:
      return of_axis([&] { return b.CreateUDiv(grid_extent(), cluster_extent()); }, 1);
    case Special::ClusterBlockId:
      return of_axis([&] { return invariant_field(i32, block_state_, offsetof(BlockState, cluster_block_id) + axis); },
                     0);
    case Special::ClusterBlockCount:
      return of_axis(cluster_extent, 1);
    case Special::ClusterBlockRank:
      return invariant_field(i32, block_state_, offsetof(BlockState, cluster_rank));
    case Special::ClusterSize:
      return invariant_field(i32, launch_state_, offsetof(LaunchState, cluster_size));
    case Special::IsExplicitCluster:
      return b.CreateICmpNE(invariant_field(i32, launch_state_, offsetof(LaunchState, names_clusters)), b.getInt32(0));
  }
  llvm_unreachable("every special register is handled above");
}

// ---- address spaces ------------------------------------------------------------------------------------------------
// Addresses of every space but .shared are host addresses, as generic ones are; a .shared address is an offset from the
// block's window.

void emit_cvta(FunctionEmitter& f, const Instruction& i) {
  Value* address = f.source(i.operands[1], Type::U64);
  if (i.space() == Space::Shared) {
    Value* base = f.b.CreatePtrToInt(f.shared_base(), f.b.getInt64Ty());
    address = i.has(ptx::Modifier::To) ? f.b.CreateSub(address, base) : f.b.CreateAdd(address, base);
  }
  f.define(i.operands[0], address, Type::U64);
}

namespace {

/// Whether a generic address lies in [base, base + size).
Value* lies_in(FunctionEmitter& f, Value* address, Value* base, Value* size) {
  Value* offset = f.b.CreateSub(address, f.b.CreatePtrToInt(base, f.b.getInt64Ty()));
  return f.b.CreateICmpULT(offset, f.b.CreateZExtOrTrunc(size, f.b.getInt64Ty()));
}

}  // namespace

Value* is_in_cluster(FunctionEmitter& f, Value* address) {
  auto field = [&](std::size_t offset) { return f.invariant_field(f.b.getInt32Ty(), f.launch_state(), offset); };
  if (!f.module.reach.names_other_blocks)
    return lies_in(f, address, f.own_shared(), field(offsetof(LaunchState, total_shared)));
  return lies_in(
      f, address, f.shared_base(),
      f.b.CreateMul(field(offsetof(LaunchState, cluster_stride)), field(offsetof(LaunchState, cluster_size))));
}

namespace {

Value* is_in_space(FunctionEmitter& f, Value* address, Space space) {
  const Layout& layout = f.module.layout;
  switch (space) {
    case Space::Shared:
      return lies_in(f, address, f.own_shared(),
                     f.invariant_field(f.b.getInt32Ty(), f.launch_state(), offsetof(LaunchState, total_shared)));
    case Space::Param:
      return lies_in(f, address, f.invariant_field(f.b.getPtrTy(), f.launch_state(), offsetof(LaunchState, params)),
                     f.b.getInt64(layout.info.param_bytes));
    case Space::Const: {
      Value* found = f.b.getFalse();
      for (ptx::VariableId id : f.module.reach.variables) {
        const ptx::Variable& variable = f.module.module.variables[id];
        if (variable.space != Space::Const) continue;
        found = f.b.CreateOr(found, lies_in(f, address, f.module.variable(id), f.b.getInt64(variable.size)));
      }
      return found;
    }
    case Space::Local: {
      // Frames of the running thread stand above its stack pointer (a leaf's just below it, in the red zone): its
      // variables, and what the compiler spilled.
      const std::uint64_t red_zone = 128;
      Value* lowest = f.b.CreateConstGEP1_64(f.b.getInt8Ty(), f.b.CreateStackSave(), std::uint64_t{0} - red_zone);
      Value* end = f.call("cucpu_stack_end", f.b.getInt64Ty(), {});
      return lies_in(f, address, lowest, f.b.CreateSub(end, f.b.CreatePtrToInt(lowest, f.b.getInt64Ty())));
    }
    default: {
      Value* elsewhere = is_in_cluster(f, address);
      for (Space other : {Space::Param, Space::Const, Space::Local}) {
        elsewhere = f.b.CreateOr(elsewhere, is_in_space(f, address, other));
      }
      return f.b.CreateNot(elsewhere);
    }
  }
}

}  // namespace

void emit_isspacep(FunctionEmitter& f, const Instruction& i) {
  Value* address = f.source(i.operands[1], Type::U64);
  const bool any_block = i.subspaces[0] == ptx::SubSpace::Cluster;
  f.define(i.operands[0], any_block ? is_in_cluster(f, address) : is_in_space(f, address, i.space()), Type::Pred);
}

}  // namespace cucore::cpu::codegen
