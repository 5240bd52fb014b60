// Offsets of shared, local and parameter variables, and the sizes of frames: see layout.hpp.
#include "cpu/analysis/layout/layout.hpp"

#include <algorithm>

#include "cpu/abi/alignment.hpp"
#include "cpu/analysis/layout/register_pressure.hpp"

namespace cucore::cpu::analysis {

using ptx::FunctionId;
using ptx::Space;
using ptx::Variable;
using ptx::VariableId;

namespace {

/// Dynamic shared memory: all such arrays start at the same place, right after the static ones.
bool is_dynamic(const Variable& variable) { return variable.size == 0; }

/// Bytes of `.local` variables on the deepest chain of calls from `function`; recursion counts once.
std::uint64_t deepest_local_bytes(const ptx::Module& module, FunctionId function,
                                  std::map<FunctionId, std::uint64_t>& known) {
  if (auto found = known.find(function); found != known.end()) return found->second;
  known[function] = 0;
  std::uint64_t own = 0;
  for (const Variable& variable : module.functions[function].variables) {
    if (variable.space == Space::Local) own = round_up(own, variable.alignment) + variable.size;
  }
  std::uint64_t below = 0;
  for (const ptx::Instruction& instruction : module.functions[function].body) {
    if (instruction.opcode != ptx::Opcode::Call) continue;
    for (const ptx::Operand& operand : instruction.operands) {
      if (operand.kind != ptx::Operand::Kind::Function) continue;
      if (const Callee callee = resolve(module, operand.function); callee.function) {
        below = std::max(below, deepest_local_bytes(module, *callee.function, known));
      }
    }
  }
  return known[function] = own + below;
}

}  // namespace

Layout lay_out(const ptx::Module& module, const Reach& reach, std::uint32_t redzone) {
  Layout layout;
  KernelInfo& info = layout.info;
  std::uint64_t end = 0;
  std::uint64_t dynamic_alignment = 0;
  auto place = [&](const Variable& variable) {
    // A granule of the checker's shadow holds one variable at most.
    end = round_up(end, redzone != 0 ? std::max(variable.alignment, 8u) : variable.alignment);
    info.shared_alignment = std::max(info.shared_alignment, variable.alignment);
    const auto offset = static_cast<std::uint32_t>(end);
    layout.shared_variables.push_back({offset, static_cast<std::uint32_t>(variable.size)});
    end += variable.size + redzone;
    return offset;
  };

  std::vector<VariableId> dynamic_of_module;
  std::vector<std::pair<FunctionId, VariableId>> dynamic_of_functions;
  auto note_dynamic = [&](const Variable& variable) {
    dynamic_alignment = std::max<std::uint64_t>({dynamic_alignment, variable.alignment, 16});
  };
  for (VariableId id : reach.variables) {
    const Variable& variable = module.variables[id];
    if (variable.space != Space::Shared) continue;
    if (is_dynamic(variable)) {
      note_dynamic(variable);
      dynamic_of_module.push_back(id);
    } else {
      layout.module_shared[id] = place(variable);
    }
  }
  for (FunctionId function : reach.functions) {
    const auto& variables = module.functions[function].variables;
    for (VariableId id = 0; id < variables.size(); ++id) {
      if (variables[id].space != Space::Shared) continue;
      if (is_dynamic(variables[id])) {
        note_dynamic(variables[id]);
        dynamic_of_functions.emplace_back(function, id);
      } else {
        layout.function_shared[{function, id}] = place(variables[id]);
      }
    }
  }
  std::uint64_t declared = end;
  if (reach.reads_reserved_shared) {
    end = round_up(end, reserved_shared_alignment);
    layout.reserved_shared = static_cast<std::uint32_t>(end);
    layout.shared_variables.push_back({layout.reserved_shared, reserved_shared_bytes});
    end += reserved_shared_bytes + redzone;
  }
  if (redzone != 0) end = round_up(end, 8);
  if (dynamic_alignment != 0) {
    end = round_up(end, dynamic_alignment);
    declared = round_up(declared, dynamic_alignment);
    info.shared_alignment = std::max(info.shared_alignment, static_cast<std::uint32_t>(dynamic_alignment));
  }
  info.static_shared = static_cast<std::uint32_t>(end);
  info.declared_shared = static_cast<std::uint32_t>(declared);
  for (VariableId id : dynamic_of_module) layout.module_shared[id] = info.static_shared;
  for (const auto& key : dynamic_of_functions) layout.function_shared[key] = info.static_shared;

  const ptx::Function& kernel = module.functions[reach.functions.front()];
  std::uint64_t parameters_end = 0;
  for (VariableId id : kernel.parameters) {
    const Variable& parameter = kernel.variables[id];
    parameters_end = round_up(parameters_end, parameter.alignment);
    layout.kernel_parameters[id] = static_cast<std::uint32_t>(parameters_end);
    parameters_end += parameter.size;
  }
  info.param_bytes = static_cast<std::uint32_t>(parameters_end);

  std::map<FunctionId, std::uint64_t> known;
  info.local_bytes = static_cast<std::uint32_t>(deepest_local_bytes(module, reach.functions.front(), known));
  info.registers = register_pressure(kernel);
  info.needs_fibers = reach.needs_fibers;
  info.counts_laps = reach.counts_laps;
  return layout;
}

KernelInfo describe(const ptx::Module& module, ptx::FunctionId kernel) {
  return lay_out(module, find_reach(module, kernel)).info;
}

}  // namespace cucore::cpu::analysis
