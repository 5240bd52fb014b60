// What one instruction has to do with other threads: see synchronization.hpp.
#include "cpu/analysis/flow/synchronization.hpp"

namespace cucore::cpu::analysis {

using ptx::Modifier;
using ptx::Opcode;
using ptx::Space;

bool is_observation(const ptx::Instruction& instruction) {
  switch (instruction.opcode) {
    case Opcode::Ld:
      // Older code polls with the cache operators that bypass the first-level cache.
      return instruction.has(Modifier::Volatile) || instruction.has(Modifier::Relaxed) ||
             instruction.has(Modifier::Acquire) || instruction.has(Modifier::Cv) || instruction.has(Modifier::Cg);
    case Opcode::Mbarrier:
      return instruction.has(Modifier::TestWait) || instruction.has(Modifier::TryWait);
    case Opcode::Atom:
      return true;
    default:
      return false;
  }
}

bool names_other_block(const ptx::Instruction& instruction) {
  return instruction.opcode == Opcode::Mapa || instruction.opcode == Opcode::Getctarank ||
         instruction.has(Modifier::MulticastCluster);
}

bool is_fence(Opcode opcode) { return opcode == Opcode::Membar || opcode == Opcode::Fence; }

bool is_block_barrier(const ptx::Instruction& instruction) {
  return (instruction.opcode == Opcode::Bar || instruction.opcode == Opcode::Barrier) &&
         !instruction.has(Modifier::Warp);
}

bool is_convergent(const ptx::Instruction& instruction) {
  switch (instruction.opcode) {
    case Opcode::Bar:
    case Opcode::Barrier:
    case Opcode::Shfl:
    case Opcode::Vote:
    case Opcode::Redux:
    case Opcode::Match:
    case Opcode::Elect:
    case Opcode::Activemask:
    case Opcode::Mbarrier:
      return true;
    case Opcode::Tensormap:
      return instruction.has(Modifier::CpFenceproxy);
    default:
      return is_warp_wide(instruction.opcode);
  }
}

bool is_warp_wide(Opcode opcode) {
  return opcode == Opcode::Mma || opcode == Opcode::Wmma || opcode == Opcode::Ldmatrix || opcode == Opcode::Stmatrix ||
         opcode == Opcode::Movmatrix || opcode == Opcode::Wgmma;
}

bool waits_for_lanes(const ptx::Instruction& i) {
  return is_convergent(i) && !i.guard && i.opcode != Opcode::Activemask && i.opcode != Opcode::Mbarrier &&
         !i.has(Modifier::Arrive);
}

std::uint32_t lanes_waited_for(const ptx::Instruction& i) {
  if (!i.has(Modifier::Sync) || is_block_barrier(i) || is_warp_wide(i.opcode) || i.operands.empty()) return ~0U;
  const ptx::Operand& mask = i.operands.back();
  return mask.kind == ptx::Operand::Kind::Integer ? static_cast<std::uint32_t>(mask.integer) : ~0U;
}

bool is_volatile_exchange(const ptx::Instruction& i) {
  const bool accesses = i.opcode == Opcode::Ld || i.opcode == Opcode::St;
  return accesses && i.has(Modifier::Volatile) && (i.space() == Space::Shared || i.space() == Space::Generic);
}

}  // namespace cucore::cpu::analysis
