// Looks for what lets threads tell how others run: see independent_threads.hpp.
#include "cpu/analysis/flow/independent_threads.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "cpu/analysis/flow/control_flow.hpp"
#include "cpu/analysis/flow/synchronization.hpp"
#include "cpu/analysis/flow/waiting_loops.hpp"

namespace cucore::cpu::analysis {
namespace {

using ptx::Modifier;
using ptx::Opcode;

/// printf, malloc and their like, or what nothing is known of.
bool calls_the_runtime(const ptx::Module& module, const ptx::Instruction& instruction) {
  return instruction.opcode == Opcode::Call &&
         std::any_of(instruction.operands.begin(), instruction.operands.end(), [&](const ptx::Operand& operand) {
           return operand.kind == ptx::Operand::Kind::Function && !resolve(module, operand.function).function;
         });
}

bool tells_of_other_threads(const ptx::Module& module, const ptx::Instruction& instruction) {
  const auto& spaces = instruction.spaces;
  if (std::find(spaces.begin(), spaces.end(), ptx::Space::Shared) != spaces.end()) return true;
  if (instruction.opcode == Opcode::Red || instruction.opcode == Opcode::Nanosleep) return true;
  if (instruction.opcode == Opcode::St &&
      (instruction.has(Modifier::Volatile) || instruction.has(Modifier::Relaxed) || instruction.has(Modifier::Release)))
    return true;
  return is_indirect_call(instruction) || calls_the_runtime(module, instruction);
}

}  // namespace

bool has_independent_threads(const ptx::Module& module, const Reach& reach) {
  if (reach.needs_fibers || reach.counts_laps || !reach.exchanges.empty() || !reach.lockstep.empty()) return false;
  if (!reach.kernels.empty() || reach.reads_reserved_shared) return false;
  const auto is_shared = [&](ptx::VariableId id) { return module.variables[id].space == ptx::Space::Shared; };
  if (std::any_of(reach.variables.begin(), reach.variables.end(), is_shared)) return false;
  return std::none_of(reach.functions.begin(), reach.functions.end(), [&](ptx::FunctionId id) {
    const ptx::Function& function = module.functions[id];
    const auto shared = [](const ptx::Variable& variable) { return variable.space == ptx::Space::Shared; };
    return reach.observes[id] || std::any_of(function.variables.begin(), function.variables.end(), shared) ||
           std::any_of(function.body.begin(), function.body.end(), [&](const ptx::Instruction& instruction) {
             return tells_of_other_threads(module, instruction);
           });
  });
}

bool exchanges_by_convergent_operations(const ptx::Module& module, const Reach& reach) {
  if (!reach.needs_fibers || reach.names_other_blocks) return false;
  if (reach.gives_anew || (!reach.exchanges.empty() && !reach.waits)) return false;
  if (!reach.kernels.empty() || reach.reads_reserved_shared) return false;
  return std::none_of(reach.functions.begin(), reach.functions.end(), [&](ptx::FunctionId id) {
    const std::vector<ptx::Instruction>& body = module.functions[id].body;
    const auto in_step = reach.lockstep.find(id);
    for (std::uint32_t i = 0; i < body.size(); ++i) {
      const ptx::Instruction& instruction = body[i];
      if (instruction.opcode == Opcode::Activemask || is_indirect_call(instruction) ||
          calls_the_runtime(module, instruction))
        return true;
      if (reach.waits) continue;
      // What a lane reads there the others of its warp have just written, in any form.
      const auto& spaces = instruction.spaces;
      const bool is_in_step =
          in_step != reach.lockstep.end() && instruction.opcode == Opcode::Ld && instruction.has(Modifier::Volatile) &&
          (in_step->second.contains(i) || std::find(spaces.begin(), spaces.end(), ptx::Space::Shared) != spaces.end());
      if ((is_observation(instruction) && !is_in_step) || is_fence(instruction.opcode) ||
          instruction.opcode == Opcode::Red)
        return true;
    }
    return false;
  });
}

std::size_t count_instructions(const ptx::Module& module, const Reach& reach) {
  std::size_t count = 0;
  for (const ptx::FunctionId id : reach.functions) count += module.functions[id].body.size();
  return count;
}

bool may_repeat(const ptx::Module& module, const Reach& reach) {
  // Functions are listed in the order in which they are met: only a call to one met before can close a circle.
  return std::any_of(reach.functions.begin(), reach.functions.end(), [&](ptx::FunctionId id) {
    const ptx::Function& function = module.functions[id];
    if (!find_loops(ControlFlow(function)).empty()) return true;
    return std::any_of(function.body.begin(), function.body.end(), [&](const ptx::Instruction& instruction) {
      if (instruction.opcode != Opcode::Call) return false;
      return std::any_of(instruction.operands.begin(), instruction.operands.end(), [&](const ptx::Operand& operand) {
        if (operand.kind != ptx::Operand::Kind::Function) return false;
        const auto callee = resolve(module, operand.function).function;
        const auto place = [&](ptx::FunctionId of) {
          return std::find(reach.functions.begin(), reach.functions.end(), of);
        };
        return callee && place(*callee) <= place(id);
      });
    });
  });
}

ThreadWork expected_work(const ptx::Module& module, const Reach& reach, double rounds) {
  ThreadWork work;
  const double of_callee = may_repeat(module, reach) ? rounds : 1;
  for (const ptx::FunctionId id : reach.functions) {
    const ptx::Function& function = module.functions[id];
    const ControlFlow flow(function);
    std::vector<double> times(flow.blocks.size(), id == reach.functions.front() ? 1 : of_callee);
    // A loop that goes back from several places is one.
    std::map<BlockId, std::set<BlockId>> loops;
    for (const auto& [edge, loop] : find_loops(flow)) loops[edge.second].insert(loop.begin(), loop.end());
    for (const auto& [head, loop] : loops)
      for (const BlockId block : loop) times[block] *= rounds;
    for (BlockId block = 0; block < flow.blocks.size(); ++block) {
      const auto begin = function.body.begin() + flow.blocks[block].first;
      const auto end = function.body.begin() + flow.blocks[block].end;
      work.instructions += times[block] * static_cast<double>(end - begin);
      work.convergent += times[block] * static_cast<double>(std::count_if(begin, end, is_convergent));
    }
  }
  return work;
}

}  // namespace cucore::cpu::analysis
