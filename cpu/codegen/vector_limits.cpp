// Instructions and shapes of kernels that only the scalar form runs: see vector_limits.hpp.
#include "cpu/codegen/vector_limits.hpp"

#include "cpu/codegen/waiting_loops.hpp"

namespace cucore::cpu::codegen {

std::string refuse_vector_form(const ptx::Module& module, const Reach& reach, const KernelInfo& info) {
  if (reach.names_other_blocks) return "shared memory of other blocks";
  for (ptx::FunctionId id : reach.functions) {
    const ptx::Function& function = module.functions[id];
    if (!find_waiting_edges(module, id, reach).empty()) return "a loop that waits for other threads";
    for (const ptx::Instruction& instruction : function.body) {
      switch (instruction.opcode) {
        case ptx::Opcode::Redux:
        case ptx::Opcode::Match:
        case ptx::Opcode::Elect:
        case ptx::Opcode::Activemask:
        case ptx::Opcode::Nanosleep:
        case ptx::Opcode::Mbarrier:
          return std::string(ptx::spelling(instruction.opcode));
        default:
          break;
      }
      if (instruction.has(ptx::Modifier::Bulk) || instruction.has(ptx::Modifier::Mbarrier) ||
          instruction.has(ptx::Modifier::MbarrierCompleteTxBytes) || instruction.type() == ptx::Type::B128)
        return std::string(ptx::spelling(instruction));
      if (is_warp_wide(instruction.opcode)) return std::string(ptx::spelling(instruction.opcode));
      if (is_indirect_call(instruction)) return "a call through a pointer";
      if ((instruction.opcode == ptx::Opcode::Bar || instruction.opcode == ptx::Opcode::Barrier) &&
          !instruction.has(ptx::Modifier::Warp) &&
          (!instruction.has(ptx::Modifier::Sync) || instruction.operands.size() > 1))
        return "a barrier of part of a block";
    }
  }
  for (ptx::VariableId id : reach.variables) {
    for (const ptx::Relocation& relocation : module.variables[id].relocations) {
      if (relocation.is_function) return "a table of functions";  // which must stay when this shape of block has gone
    }
  }
  if (std::uint64_t{info.local_bytes} * 32 > largest_group_frames) return "large local variables";
  return {};
}

}  // namespace cucore::cpu::codegen
