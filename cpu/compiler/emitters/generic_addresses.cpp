// Where a generic address points: see generic_addresses.hpp.
#include "cpu/compiler/emitters/generic_addresses.hpp"

#include <cstddef>

#include "cpu/abi/kernel_abi.hpp"

namespace cucore::cpu::compiler {

using analysis::Layout;
using llvm::Value;
using ptx::Space;

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

}  // namespace cucore::cpu::compiler
