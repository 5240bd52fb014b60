// Loads that an instruction's operands come from, straight or through other instructions: see faulting_access.hpp.
#include "cpu/loader/faulting_access.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <vector>

#include "cpu/analysis/instructions/memory_accesses.hpp"

namespace cucore::cpu::loader {
namespace {

using analysis::accesses_by_itself;
using analysis::memory_accesses_of;
using analysis::MemoryAccess;
using ptx::Function;
using ptx::Instruction;
using ptx::Opcode;
using ptx::Operand;
using ptx::RegisterId;
using ptx::Space;

bool reads_memory(const Instruction& instruction) {
  const std::vector<MemoryAccess> accesses = memory_accesses_of(instruction);
  return accesses_by_itself(instruction) ||
         std::any_of(accesses.begin(), accesses.end(), [](const MemoryAccess& each) { return each.reads(); });
}

bool writes_memory(const Instruction& instruction) {
  const std::vector<MemoryAccess> accesses = memory_accesses_of(instruction);
  return accesses_by_itself(instruction) ||
         std::any_of(accesses.begin(), accesses.end(), [](const MemoryAccess& each) { return each.writes(); });
}

void collect_registers(const Operand& operand, std::set<RegisterId>& registers) {
  for_each_register(operand, [&](RegisterId reg) { registers.insert(reg); });
}

/// What a guarded instruction writes keeps its old value, or not: in the same host instruction.
std::set<RegisterId> sources_of(const Instruction& instruction) {
  std::set<RegisterId> sources;
  for (std::size_t n = instruction.guard || writes_memory(instruction) ? 0 : 1; n < instruction.operands.size(); ++n)
    collect_registers(instruction.operands[n], sources);
  if (instruction.guard) sources.insert(instruction.guard->reg);
  return sources;
}

bool writes(const Instruction& instruction, RegisterId reg) {
  std::set<RegisterId> results;
  if (!instruction.operands.empty()) collect_registers(instruction.operands[0], results);
  return results.contains(reg);
}

/// A parameter of the kernel is where nothing can miss it. Others, and local memory, hold what came from elsewhere.
bool passes_on(const Function& function, const Instruction& instruction) {
  if (instruction.opcode == Opcode::Call) return true;
  if (instruction.opcode != Opcode::Ld) return false;
  if (instruction.space() == Space::Local) return true;
  if (instruction.space() != Space::Param) return false;
  const auto is_kernel_parameter = [&](const Operand& operand) {
    return operand.kind == Operand::Kind::Variable && operand.scope == Operand::Scope::Function &&
           std::find(function.parameters.begin(), function.parameters.end(), operand.variable) !=
               function.parameters.end();
  };
  const std::vector<Operand>& address = instruction.operands.back().elements;
  return !function.is_entry || address.empty() || !is_kernel_parameter(address[0]);
}

/// Lines of all loads that the instruction's operands may come from; nothing if they may come from others as well, as
/// where ways meet behind a branch, which may have become a choice between values.
std::optional<std::vector<std::uint32_t>> loads_for(const Function& function, const Instruction& instruction) {
  constexpr std::size_t most_loads = 4;  // a longer list would not help
  if (instruction.opcode == Opcode::Bra || passes_on(function, instruction)) return std::nullopt;
  std::set<std::uint32_t> lines;
  std::set<const Instruction*> seen{&instruction};
  for (std::vector<const Instruction*> pending{&instruction}; !pending.empty();) {
    const Instruction& user = *pending.back();
    pending.pop_back();
    for (const RegisterId source : sources_of(user)) {
      for (const Instruction& before : function.body) {
        if (!writes(before, source) || !seen.insert(&before).second) continue;
        if (passes_on(function, before)) return std::nullopt;
        if (!reads_memory(before)) {
          pending.push_back(&before);
        } else if (lines.insert(before.position.line); lines.size() > most_loads) {
          return std::nullopt;
        }
      }
    }
  }
  return std::vector<std::uint32_t>(lines.begin(), lines.end());
}

}  // namespace

PtxPlace place_of_access(const Function& function, std::size_t index) {
  const Instruction& instruction = function.body[index];
  PtxPlace place;
  place.line = instruction.position.line;
  place.reads = reads_memory(instruction);
  place.writes = writes_memory(instruction);
  if (!place.reads) place.loads = loads_for(function, instruction);
  return place;
}

}  // namespace cucore::cpu::loader
