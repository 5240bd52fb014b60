// The values of special registers.
#include <cstddef>

#include "cpu/abi/kernel_abi.hpp"
#include "cpu/compiler/emitters/function_emitter.hpp"

namespace cucore::cpu::compiler {

using analysis::find_special;
using analysis::Special;
using llvm::Value;

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
    case Special::CurrentGraphExec:
      return invariant_field(i64, launch_state_, offsetof(LaunchState, graph_exec));
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
    case Special::TotalSmemSize: {
      const KernelInfo& info = module.layout.info;
      return b.CreateSub(invariant_field(i32, launch_state_, offsetof(LaunchState, total_shared)),
                         b.getInt32(info.static_shared - info.declared_shared));
    }
    case Special::ReservedSmemBegin:
      return b.getInt32(module.layout.reserved_shared);
    case Special::ReservedSmemEnd:
      return b.getInt32(module.layout.reserved_shared + reserved_shared_bytes);
    case Special::ReservedSmemCap:
      return b.getInt32(reserved_shared_bytes);
    case Special::ReservedSmemPart:
      return b.getInt32(module.layout.reserved_shared + reg.index * (reserved_shared_bytes / 2));
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

}  // namespace cucore::cpu::compiler
