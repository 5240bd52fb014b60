// Collects the accesses of a basic block that one look can answer for: see check_groups.hpp.
#include "cpu/compiler/emitters/check_groups.hpp"

#include <algorithm>
#include <map>
#include <optional>

#include "cpu/analysis/instructions/memory_accesses.hpp"
#include "cpu/compiler/cost/cost_model.hpp"

namespace cucore::cpu::compiler {
namespace {

using analysis::memory_accesses_of;
using analysis::MemoryAccess;
using ptx::Instruction;
using ptx::Operand;

/// An access that can be one of a group: it always happens, and its register says where.
std::optional<MemoryAccess> groupable(const Instruction& i) {
  if (i.guard) return {};
  const std::vector<MemoryAccess> accesses = memory_accesses_of(i);
  if (accesses.size() != 1) return {};
  const MemoryAccess& access = accesses.front();
  const bool is_plain = access.extent == MemoryAccess::Extent::Fixed && access.bytes <= 16;
  if (!is_plain || access.space == ptx::Space::Local) return {};
  const Operand& base = access.address->elements[0];
  if (base.kind != Operand::Kind::Register || base.component >= 0) return {};
  return access;
}

bool joins(CheckGroup& group, const MemoryAccess& access) {
  const std::int64_t offset = access.address->offset;
  const std::int64_t begin = std::min(group.begin, offset);
  const std::int64_t end = std::max(group.end, offset + access.bytes);
  if (group.alignment != access.alignment || group.space != access.space ||
      end - begin > cost_model::largest_span_of_checks)
    return false;
  if ((offset - group.begin) % access.alignment != 0) return false;
  group.begin = begin;
  group.end = end;
  ++group.members;
  return true;
}

}  // namespace

CheckGroups find_check_groups(std::span<const Instruction> block) {
  CheckGroups groups;
  std::map<ptx::RegisterId, std::shared_ptr<CheckGroup>> open;
  const auto close = [&](const Operand& written) {
    if (written.kind == Operand::Kind::Register) open.erase(written.reg);
  };
  for (const Instruction& i : block) {
    if (const auto access = groupable(i)) {
      std::shared_ptr<CheckGroup>& group = open[access->address->elements[0].reg];
      if (!group || !joins(*group, *access)) {
        const std::int64_t offset = access->address->offset;
        group = std::make_shared<CheckGroup>(
            CheckGroup{offset, offset + access->bytes, access->alignment, 1, access->space, nullptr});
      }
      groups[&i] = group;
    }
    if (i.opcode == ptx::Opcode::Call) open.clear();
    // What an instruction writes besides its first operand are predicates.
    if (i.operands.empty() || i.operands[0].kind == Operand::Kind::Address) continue;
    close(i.operands[0]);
    for (const Operand& element : i.operands[0].elements) close(element);
  }
  std::erase_if(groups, [](const auto& each) { return each.second->members < 2; });
  return groups;
}

}  // namespace cucore::cpu::compiler
