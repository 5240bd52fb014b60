#include "cpu/codegen/reach.hpp"

#include <algorithm>

#include "cpu/codegen/waiting_loops.hpp"

namespace cucore::cpu::codegen {

using ptx::FunctionId;
using ptx::Modifier;
using ptx::Opcode;
using ptx::Operand;
using ptx::VariableId;

namespace {

/// Calls `visit` on every operand of an instruction, inner ones too.
template <typename Visit>
void for_each_operand(const std::vector<Operand>& operands, const Visit& visit) {
  for (const Operand& operand : operands) {
    visit(operand);
    for_each_operand(operand.elements, visit);
  }
}

/// Spreads a property of functions from callees to callers until nothing changes.
void spread_to_callers(const std::vector<std::pair<FunctionId, FunctionId>>& calls, std::vector<bool>& property) {
  for (bool changed = true; changed;) {
    changed = false;
    for (auto [caller, callee] : calls) {
      if (property[callee] && !property[caller]) property[caller] = changed = true;
    }
  }
}

}  // namespace

Callee resolve(const ptx::Module& module, FunctionId called) {
  const ptx::Function* function = &module.functions[called];
  for (std::size_t hops = 0; function->alias_of && hops <= module.functions.size(); ++hops) {
    function = &module.functions[*function->alias_of];
  }
  if (!function->has_body) {
    auto body = std::find_if(module.functions.begin(), module.functions.end(),
                             [&](const ptx::Function& f) { return f.has_body && f.name == function->name; });
    if (body != module.functions.end()) function = &*body;
  }
  if (function->has_body)
    return {.function = static_cast<FunctionId>(function - module.functions.data()), .runtime = {}};
  if (function->name == "vprintf") return {.function = {}, .runtime = DeviceRuntime::Vprintf};
  if (function->name == "__assertfail") return {.function = {}, .runtime = DeviceRuntime::Assertfail};
  return {};
}

bool is_observation(const ptx::Instruction& instruction) {
  switch (instruction.opcode) {
    case Opcode::Ld:
      // Older code polls with the cache operators that bypass the first-level cache.
      return instruction.has(Modifier::Volatile) || instruction.has(Modifier::Relaxed) ||
             instruction.has(Modifier::Acquire) || instruction.has(Modifier::Cv) || instruction.has(Modifier::Cg);
    case Opcode::Atom:
      return true;
    default:
      return false;
  }
}

bool is_rendezvous(const ptx::Instruction& instruction) {
  switch (instruction.opcode) {
    case Opcode::Bar:
    case Opcode::Barrier:
    case Opcode::Shfl:
    case Opcode::Vote:
    case Opcode::Redux:
    case Opcode::Match:
    case Opcode::Elect:
      return true;
    default:
      return false;
  }
}

Reach::Reach(const ptx::Module& module, FunctionId kernel)
    : may_exit(module.functions.size(), false), observes(module.functions.size(), false) {
  std::vector<bool> seen_function(module.functions.size(), false);
  std::vector<bool> seen_variable(module.variables.size(), false);
  std::vector<std::pair<FunctionId, FunctionId>> calls;

  functions.push_back(kernel);
  seen_function[kernel] = true;
  for (std::size_t next = 0; next < functions.size(); ++next) {
    const FunctionId caller = functions[next];
    for (const ptx::Instruction& instruction : module.functions[caller].body) {
      if (instruction.opcode == Opcode::Exit || instruction.opcode == Opcode::Trap ||
          instruction.opcode == Opcode::Brkpt) {
        may_exit[caller] = true;
      }
      if (is_observation(instruction)) observes[caller] = true;
      if (is_rendezvous(instruction)) needs_fibers = true;
      for_each_operand(instruction.operands, [&](const Operand& operand) {
        if (operand.kind == Operand::Kind::Variable && operand.scope == Operand::Scope::Module &&
            !seen_variable[operand.variable]) {
          seen_variable[operand.variable] = true;
          variables.push_back(operand.variable);
        }
        if (operand.kind != Operand::Kind::Function) return;
        const Callee callee = resolve(module, operand.function);
        if (!callee.function) return;
        calls.emplace_back(caller, *callee.function);
        if (!seen_function[*callee.function]) {
          seen_function[*callee.function] = true;
          functions.push_back(*callee.function);
        }
      });
    }
  }
  spread_to_callers(calls, may_exit);
  spread_to_callers(calls, observes);

  for (FunctionId function : functions) {
    if (needs_fibers) break;
    needs_fibers = !find_waiting_edges(module, function, *this).empty();
  }
}

}  // namespace cucore::cpu::codegen
