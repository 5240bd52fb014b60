// Instructions and shapes of kernels that only the scalar form runs: see vector_limits.hpp.
#include "cpu/analysis/vector_limits.hpp"

#include <algorithm>
#include <string>
#include <string_view>

#include "cpu/abi/checks.hpp"
#include "cpu/analysis/flow/synchronization.hpp"
#include "cpu/analysis/flow/waiting_loops.hpp"
#include "cpu/analysis/instructions/memory_accesses.hpp"
#include "cpu/analysis/instructions/not_supported.hpp"

namespace cucore::cpu::analysis {
namespace {

/// The failure for `why`, at this instruction.
Failure refused(const ptx::Instruction& instruction, std::string_view why) {
  return not_supported(std::string(why) + std::string(place_of_refusal) + std::to_string(instruction.position.line));
}

/// The vector form can check one memory access of at most 16 bytes for each instruction, and only a kernel's single
/// local variable, by its own address. Unlike the scalar form it does not report the lifetimes of variables to the
/// checker.
Result<void> check_accesses(const ptx::Function& function, bool calls_others) {
  for (const ptx::VariableId id : variables_to_follow(function, check_class::memory_checks))
    if (calls_others || only_local_variable(function) != id) return not_supported("checks of local variables");
  for (const ptx::Instruction& instruction : function.body) {
    const bool makes_generic = instruction.opcode == ptx::Opcode::Cvta && !instruction.has(ptx::Modifier::To);
    if (makes_generic && instruction.space() == ptx::Space::Local)
      return refused(instruction, "checks of local variables");
    const std::vector<MemoryAccess> accesses = memory_accesses_of(instruction);
    const auto is_known = [](const MemoryAccess& access) {
      return access.extent == MemoryAccess::Extent::Fixed && access.bytes <= 16 &&
             (access.flags & check_access::as_is) == 0;
    };
    if (accesses_by_itself(instruction) || accesses.size() > 1 ||
        !std::all_of(accesses.begin(), accesses.end(), is_known))
      return refused(instruction, "checks of " + std::string(ptx::spelling(instruction)));
  }
  return {};
}

/// By its operands: one that names no number of threads.
bool is_barrier_of_whole_block(const ptx::Instruction& instruction) {
  if (instruction.has(ptx::Modifier::Sync)) return instruction.operands.size() == 1;
  return instruction.has(ptx::Modifier::Red) && instruction.operands.size() == 3;
}

}  // namespace

Failure refuse_waiting(const ptx::Module& module, const Reach& reach, std::string_view why) {
  for (const ptx::FunctionId id : reach.functions) {
    const WaitingEdges waiting = find_waiting_edges(module, id, reach);
    if (waiting.yielding.empty()) continue;
    const ControlFlow flow(module.functions[id]);
    const PtxBlock& last = flow.blocks[waiting.yielding.begin()->first];
    return refused(module.functions[id].body[last.end - 1], why);
  }
  return not_supported(std::string(why));
}

Result<void> check_vector_form(const ptx::Module& module, const Reach& reach, const KernelInfo& info,
                               std::uint32_t checks) {
  if ((checks & ~(check_class::memory_checks | check_class::number_checks)) != 0)
    return not_supported("checks other than of memory");
  if (reach.names_other_blocks) return not_supported("shared memory of other blocks");
  for (ptx::FunctionId id : reach.functions) {
    const ptx::Function& function = module.functions[id];
    if ((checks & check_class::memory_checks) != 0) {
      if (Result<void> known = check_accesses(function, reach.functions.size() > 1); !known) return known;
    }
    if (has_short_local_addresses(function)) return not_supported("addresses of local variables in 32 bits");
    for (const ptx::Instruction& instruction : function.body) {
      switch (instruction.opcode) {
        case ptx::Opcode::Alloca:
        case ptx::Opcode::Stacksave:
        case ptx::Opcode::Stackrestore:
        case ptx::Opcode::Mbarrier:
        case ptx::Opcode::Tensormap:
        case ptx::Opcode::Clusterlaunchcontrol:
          return refused(instruction, ptx::spelling(instruction.opcode));
        default:
          break;
      }
      if (instruction.has(ptx::Modifier::Bulk) || instruction.has(ptx::Modifier::Mbarrier) ||
          instruction.has(ptx::Modifier::MbarrierCompleteTxBytes) || instruction.type() == ptx::Type::B128)
        return refused(instruction, ptx::spelling(instruction));
      const bool exchanges = instruction.opcode == ptx::Opcode::Shfl || instruction.opcode == ptx::Opcode::Vote;
      if (exchanges && !instruction.has(ptx::Modifier::Sync)) return refused(instruction, ptx::spelling(instruction));
      if (instruction.opcode == ptx::Opcode::Wgmma) return refused(instruction, ptx::spelling(instruction.opcode));
      if (is_indirect_call(instruction)) return refused(instruction, "a call through a pointer");
      if (is_block_barrier(instruction) && !is_barrier_of_whole_block(instruction))
        return refused(instruction, "a barrier of part of a block");
    }
  }
  for (ptx::VariableId id : reach.variables) {
    for (const ptx::Relocation& relocation : module.variables[id].relocations) {
      if (relocation.is_function)
        return not_supported("a table of functions");  // which must outlive the code for this shape of block
    }
  }
  for (const ptx::FunctionId id : reach.functions)
    for (const ptx::Variable& variable : module.functions[id].variables)
      if (variable.space == ptx::Space::Local && variable.alignment > lane_alignment)
        return not_supported("local variables of large alignment");
  if (std::uint64_t{info.local_bytes} * 32 > largest_group_frames) return not_supported("large local variables");
  return {};
}

}  // namespace cucore::cpu::analysis
