// Walks calls and references from a kernel: see reach.hpp.
#include "cpu/analysis/flow/reach.hpp"

#include <algorithm>

#include "cpu/analysis/flow/synchronization.hpp"

namespace cucore::cpu::analysis {

using ptx::FunctionId;
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

bool has_shape(const ptx::Function& function, const DeviceCallShape& shape) {
  if (function.returns.size() != 1 || function.variables[function.returns[0]].size != shape.result) return false;
  std::size_t count = 0;
  while (count < most_device_call_parameters && shape.parameters[count] != 0) ++count;
  if (function.parameters.size() != count) return false;
  for (std::size_t i = 0; i < count; ++i)
    if (function.variables[function.parameters[i]].size != shape.parameters[i]) return false;
  return true;
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
    return {.function = static_cast<FunctionId>(function - module.functions.data()), .runtime = {}, .call = {}};
  if (function->name == "vprintf") return {.function = {}, .runtime = DeviceRuntime::Vprintf, .call = {}};
  if (function->name == "__assertfail") return {.function = {}, .runtime = DeviceRuntime::Assertfail, .call = {}};
  if (function->name == "malloc") return {.function = {}, .runtime = DeviceRuntime::Malloc, .call = {}};
  if (function->name == "cudaGraphSetConditional")
    return {.function = {}, .runtime = DeviceRuntime::GraphSetConditional, .call = {}};
  if (function->name == "free") return {.function = {}, .runtime = DeviceRuntime::Free, .call = {}};
  if (const auto call = find_device_call(function->name))
    if (has_shape(*function, device_calls[static_cast<std::uint32_t>(*call)]))
      return {.function = {}, .runtime = DeviceRuntime::Call, .call = *call};
  return {};
}

namespace {

/// Functions whose address stands in an initialiser or a register somewhere: what an indirect call may lead to.
std::vector<FunctionId> address_taken_functions(const ptx::Module& module) {
  std::vector<FunctionId> taken;
  const auto take = [&](FunctionId function) {
    if (!module.functions[function].is_entry) taken.push_back(function);
  };
  for (const ptx::Variable& variable : module.variables) {
    for (const ptx::Relocation& relocation : variable.relocations) {
      if (relocation.is_function) take(relocation.function);
    }
  }
  for (const ptx::Function& function : module.functions) {
    for (const ptx::Instruction& instruction : function.body) {
      if (instruction.opcode == Opcode::Call) continue;
      for_each_operand(instruction.operands, [&](const Operand& operand) {
        if (operand.kind == Operand::Kind::Function) take(operand.function);
      });
    }
  }
  return taken;
}

}  // namespace

std::optional<FunctionId> named_function(const ptx::Module& module, const ptx::Relocation& relocation) {
  if (!relocation.is_function) return {};
  const auto function = resolve(module, relocation.function).function;
  return function && !module.functions[*function].is_entry ? function : std::nullopt;
}

bool names_functions(const ptx::Module& module, const ptx::Variable& variable) {
  return std::any_of(variable.relocations.begin(), variable.relocations.end(),
                     [&](const ptx::Relocation& relocation) { return named_function(module, relocation).has_value(); });
}

bool is_indirect_call(const ptx::Instruction& instruction) {
  return instruction.opcode == Opcode::Call &&
         std::none_of(instruction.operands.begin(), instruction.operands.end(),
                      [](const Operand& o) { return o.kind == Operand::Kind::Function; });
}

namespace {

/// The walk over a kernel's functions and what they name.
class ReachWalk {
 public:
  ReachWalk(const ptx::Module& module, Reach& reach)
      : module_(module), reach_(reach), seen_(module.functions.size()), seen_variables_(module.variables.size()) {}

  void run(FunctionId kernel) {
    reach_.functions.push_back(kernel);
    seen_[kernel] = true;
    for (std::size_t next = 0; next < reach_.functions.size(); ++next) visit_body(reach_.functions[next]);
    spread_to_callers(calls_, reach_.may_exit);
    spread_to_callers(calls_, reach_.observes);
    spread_to_callers(calls_, reach_.has_barrier);
  }

 private:
  void visit_body(FunctionId id) {
    for (const ptx::Instruction& instruction : module_.functions[id].body) {
      if (instruction.opcode == Opcode::Exit || instruction.opcode == Opcode::Trap ||
          instruction.opcode == Opcode::Brkpt) {
        reach_.may_exit[id] = true;
      }
      if (is_observation(instruction) || is_fence(instruction.opcode)) reach_.observes[id] = true;
      if (is_convergent(instruction)) reach_.needs_fibers = true;
      if (is_block_barrier(instruction)) reach_.has_barrier[id] = true;
      // Those blocks must be running, whether or not this one waits for them.
      if (names_other_block(instruction)) reach_.names_other_blocks = reach_.needs_fibers = true;
      if (is_indirect_call(instruction)) {
        reach_.may_exit[id] = reach_.observes[id] = reach_.has_barrier[id] = true;
        for (FunctionId taken : address_taken()) visit_call(id, taken);
        visit_tables_of_functions(id);
      }
      for_each_operand(instruction.operands, [&](const Operand& operand) {
        if (operand.kind == Operand::Kind::Function) visit_call(id, operand.function);
        if (operand.kind == Operand::Kind::Special && operand.special.name.starts_with("%reserved_smem_offset"))
          reach_.reads_reserved_shared = true;
        if (operand.kind == Operand::Kind::Variable && operand.scope == Operand::Scope::Module) {
          visit_variable(id, operand.variable);
        }
      });
    }
  }

  const std::vector<FunctionId>& address_taken() {
    if (!address_taken_) address_taken_ = address_taken_functions(module_);
    return *address_taken_;
  }

  /// The host may read an address from a variable that no kernel names, and pass it to one that calls it.
  void visit_tables_of_functions(FunctionId user) {
    for (VariableId id = 0; id < module_.variables.size(); ++id)
      if (names_functions(module_, module_.variables[id])) visit_variable(user, id);
  }

  void visit_call(FunctionId caller, FunctionId called) {
    const Callee callee = resolve(module_, called);
    if (callee.runtime == DeviceRuntime::Assertfail) reach_.may_exit[caller] = true;
    if (!callee.function) return;
    if (module_.functions[*callee.function].is_entry) return visit_kernel(*callee.function);
    calls_.emplace_back(caller, *callee.function);
    if (seen_[*callee.function]) return;
    seen_[*callee.function] = true;
    reach_.functions.push_back(*callee.function);
  }

  /// Kernels are launched, not called: naming one does not reach what is in it.
  void visit_kernel(FunctionId kernel) {
    if (std::find(reach_.kernels.begin(), reach_.kernels.end(), kernel) == reach_.kernels.end())
      reach_.kernels.push_back(kernel);
  }

  void visit_variable(FunctionId user, VariableId id) {
    if (seen_variables_[id]) return;
    seen_variables_[id] = true;
    reach_.variables.push_back(id);
    for (const ptx::Relocation& relocation : module_.variables[id].relocations) {
      if (relocation.is_function) {
        visit_call(user, relocation.function);
      } else {
        visit_variable(user, relocation.variable);
      }
    }
  }

  const ptx::Module& module_;
  Reach& reach_;
  std::vector<bool> seen_;
  std::vector<bool> seen_variables_;
  std::vector<std::pair<FunctionId, FunctionId>> calls_;
  std::optional<std::vector<FunctionId>> address_taken_;
};

}  // namespace

Reach find_reach(const ptx::Module& module, FunctionId kernel) {
  Reach reach;
  reach.may_exit.resize(module.functions.size(), false);
  reach.observes.resize(module.functions.size(), false);
  reach.has_barrier.resize(module.functions.size(), false);
  ReachWalk(module, reach).run(kernel);
  return reach;
}

}  // namespace cucore::cpu::analysis
