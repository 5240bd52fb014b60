// Cuts the body of a function into basic blocks: see control_flow.hpp.
#include "cpu/analysis/flow/control_flow.hpp"

namespace cucore::cpu::analysis {

using ptx::Opcode;
using ptx::Operand;

bool is_terminator(Opcode opcode) {
  switch (opcode) {
    case Opcode::Bra:
    case Opcode::Brx:
    case Opcode::Ret:
    case Opcode::Exit:
    case Opcode::Trap:
    case Opcode::Brkpt:
      return true;
    default:
      return false;
  }
}

std::vector<ptx::LabelId> branch_targets(const ptx::Function& function, const ptx::Instruction& instruction) {
  std::vector<ptx::LabelId> labels;
  for (const Operand& operand : instruction.operands) {
    if (operand.kind == Operand::Kind::Label) labels.push_back(operand.label);
    if (operand.kind == Operand::Kind::TargetList && operand.integer < function.target_lists.size()) {
      labels = function.target_lists[operand.integer].labels;
    }
  }
  return labels;
}

ControlFlow::ControlFlow(const ptx::Function& function) {
  const auto size = static_cast<std::uint32_t>(function.body.size());
  std::vector<bool> leads(size + 1, false);
  leads[0] = true;
  leads[size] = true;
  for (const ptx::Label& label : function.labels) leads[label.instruction] = true;
  for (std::uint32_t i = 0; i < size; ++i) {
    if (is_terminator(function.body[i].opcode)) leads[i + 1] = true;
  }

  block_at.resize(size + 1);
  for (std::uint32_t i = 0; i <= size; ++i) {
    if (leads[i]) {
      if (!blocks.empty()) blocks.back().end = i;
      blocks.push_back({.first = i, .end = i, .successors = {}});
    }
    block_at[i] = static_cast<BlockId>(blocks.size() - 1);
  }

  for (BlockId id = 0; id + 1 < blocks.size(); ++id) {
    PtxBlock& block = blocks[id];
    const ptx::Instruction& last = function.body[block.end - 1];
    for (ptx::LabelId label : branch_targets(function, last)) block.successors.push_back(target(function, label));
    if (!is_terminator(last.opcode) || last.guard) block.successors.push_back(id + 1);
  }
}

BlockId ControlFlow::target(const ptx::Function& function, ptx::LabelId label) const {
  return block_at[function.labels[label].instruction];
}

}  // namespace cucore::cpu::analysis
