// Finds loops that wait for other threads: see waiting_loops.hpp.
#include "cpu/analysis/waiting_loops.hpp"

#include <algorithm>
#include <optional>

namespace cucore::cpu::codegen {

using ptx::FunctionId;
using ptx::Instruction;
using ptx::Modifier;
using ptx::Opcode;
using ptx::Operand;
using ptx::RegisterId;

namespace {

/// Retreating edges of a depth-first walk from the entry.
std::vector<Edge> back_edges(const ControlFlow& flow) {
  enum class State : std::uint8_t { Unseen, OnPath, Done };
  std::vector<State> state(flow.blocks.size(), State::Unseen);
  std::vector<std::pair<BlockId, std::size_t>> path{{0, 0}};
  std::vector<Edge> found;
  state[0] = State::OnPath;
  while (!path.empty()) {
    auto& [block, next] = path.back();
    if (next == flow.blocks[block].successors.size()) {
      state[block] = State::Done;
      path.pop_back();
      continue;
    }
    const BlockId successor = flow.blocks[block].successors[next++];
    if (state[successor] == State::OnPath) found.emplace_back(block, successor);
    if (state[successor] == State::Unseen) {
      state[successor] = State::OnPath;
      path.emplace_back(successor, 0);
    }
  }
  return found;
}

/// Blocks from which `edge.first` can be reached without passing `edge.second`: the loop of a back edge.
std::vector<BlockId> loop_of(const Edge& edge, const std::vector<std::vector<BlockId>>& predecessors) {
  std::vector<bool> inside(predecessors.size(), false);
  std::vector<BlockId> body{edge.second};
  inside[edge.second] = true;
  if (!inside[edge.first]) {
    inside[edge.first] = true;
    body.push_back(edge.first);
  }
  for (std::size_t next = 1; next < body.size(); ++next) {
    for (BlockId predecessor : predecessors[body[next]]) {
      if (inside[predecessor]) continue;
      inside[predecessor] = true;
      body.push_back(predecessor);
    }
  }
  return body;
}

template <typename Visit>
void for_each_register(const Operand& operand, const Visit& visit) {
  if (operand.kind == Operand::Kind::Register) visit(operand.reg);
  for (const Operand& element : operand.elements) for_each_register(element, visit);
}

/// The first operand holds what an instruction writes, if it is not an address.
bool writes_first_operand(const Instruction& instruction) {
  return !instruction.operands.empty() && instruction.operands[0].kind != Operand::Kind::Address;
}

std::optional<RegisterId> plain_register(const Instruction& instruction, std::size_t operand) {
  if (operand >= instruction.operands.size()) return {};
  const Operand& o = instruction.operands[operand];
  if (o.kind != Operand::Kind::Register || o.component != -1) return {};
  return o.reg;
}

/// True if `expected`, the compare operand of the compare-and-swap that yields `seen`, is only ever given `seen` inside
/// the loop: then a failed round means that another thread made progress.
bool retries_with_value_seen(const ptx::Function& function, const ControlFlow& flow, const std::vector<BlockId>& loop,
                             RegisterId expected, RegisterId seen) {
  bool retries = false;
  for (BlockId block : loop) {
    for (std::uint32_t i = flow.blocks[block].first; i < flow.blocks[block].end; ++i) {
      const Instruction& instruction = function.body[i];
      if (!writes_first_operand(instruction)) continue;
      bool writes = false;
      for_each_register(instruction.operands[0], [&](RegisterId r) { writes |= r == expected; });
      if (!writes) continue;
      if (instruction.opcode != Opcode::Mov || instruction.guard || plain_register(instruction, 1) != seen)
        return false;
      retries = true;
    }
  }
  return retries;
}

/// Behind a fence an ordinary load is read anew: `while (*flag == 0) __threadfence();`.
bool is_plain_load(const Instruction& instruction) {
  return instruction.opcode == Opcode::Ld && instruction.space() != ptx::Space::Param &&
         instruction.space() != ptx::Space::Const && instruction.space() != ptx::Space::Local;
}

class Dependence {
 public:
  Dependence(const ptx::Module& module, const ptx::Function& function, const Reach& reach)
      : module_(module), function_(function), reach_(reach) {}

  /// Registers that depend on an observation made in `loop`.
  std::vector<bool> observed(const ControlFlow& flow, const std::vector<BlockId>& loop) const {
    std::vector<bool> depends(function_.registers.size(), false);
    bool calls_observe = false;
    bool fences = false;
    for (BlockId block : loop) {
      for (std::uint32_t i = flow.blocks[block].first; i < flow.blocks[block].end; ++i) {
        calls_observe |= calls_observer(function_.body[i]);
        fences |= is_fence(function_.body[i].opcode);
      }
    }
    for (bool changed = true; changed;) {
      changed = false;
      for (BlockId block : loop) {
        for (std::uint32_t i = flow.blocks[block].first; i < flow.blocks[block].end; ++i) {
          const Instruction& instruction = function_.body[i];
          if (!writes_first_operand(instruction)) continue;
          bool source = is_waited_for(instruction, flow, loop) || calls_observer(instruction);
          source |= fences && is_plain_load(instruction);
          source |= calls_observe && instruction.opcode == Opcode::Ld && instruction.space() == ptx::Space::Param;
          for (std::size_t o = 1; o < instruction.operands.size(); ++o) {
            for_each_register(instruction.operands[o], [&](RegisterId r) { source |= depends[r]; });
          }
          if (instruction.guard) source |= depends[instruction.guard->reg];
          if (!source) continue;
          for_each_register(instruction.operands[0], [&](RegisterId r) {
            if (!depends[r]) depends[r] = changed = true;
          });
        }
      }
    }
    return depends;
  }

 private:
  bool is_waited_for(const Instruction& instruction, const ControlFlow& flow, const std::vector<BlockId>& loop) const {
    if (!is_observation(instruction)) return false;
    if (instruction.opcode != Opcode::Atom || !instruction.has(Modifier::Cas)) return true;
    const auto seen = plain_register(instruction, 0);
    const auto expected = plain_register(instruction, 2);
    return !seen || !expected || !retries_with_value_seen(function_, flow, loop, *expected, *seen);
  }

  bool calls_observer(const Instruction& instruction) const {
    if (instruction.opcode != Opcode::Call) return false;
    for (const Operand& operand : instruction.operands) {
      if (operand.kind != Operand::Kind::Function) continue;
      const Callee callee = resolve(module_, operand.function);
      return callee.function && reach_.observes[*callee.function];
    }
    return true;  // an indirect call may lead anywhere
  }

  const ptx::Module& module_;
  const ptx::Function& function_;
  const Reach& reach_;
};

struct WaitingLoop {
  Edge edge;
  std::vector<BlockId> blocks;
};

std::vector<WaitingLoop> find_waiting_loops(const ptx::Module& module, FunctionId id, const Reach& reach) {
  std::vector<WaitingLoop> waiting;
  if (!reach.observes[id]) return waiting;
  const ptx::Function& function = module.functions[id];
  const ControlFlow flow(function);
  std::vector<std::vector<BlockId>> predecessors(flow.blocks.size());
  for (BlockId block = 0; block < flow.blocks.size(); ++block) {
    for (BlockId successor : flow.blocks[block].successors) predecessors[successor].push_back(block);
  }

  const Dependence dependence(module, function, reach);
  for (const Edge& edge : back_edges(flow)) {
    const std::vector<BlockId> loop = loop_of(edge, predecessors);
    const std::vector<bool> observed = dependence.observed(flow, loop);
    const bool waits = std::any_of(loop.begin(), loop.end(), [&](BlockId block) {
      for (std::uint32_t i = flow.blocks[block].first; i < flow.blocks[block].end; ++i) {
        const Instruction& instruction = function.body[i];
        if (!is_terminator(instruction.opcode)) continue;
        if (instruction.guard && observed[instruction.guard->reg]) return true;
        if (instruction.opcode != Opcode::Brx) continue;
        bool indexed = false;
        for_each_register(instruction.operands[0], [&](RegisterId r) { indexed |= observed[r]; });
        if (indexed) return true;
      }
      return false;
    });
    if (waits) waiting.push_back({edge, loop});
  }
  return waiting;
}

}  // namespace

std::set<Edge> find_waiting_edges(const ptx::Module& module, FunctionId id, const Reach& reach) {
  std::set<Edge> edges;
  for (const WaitingLoop& loop : find_waiting_loops(module, id, reach)) edges.insert(loop.edge);
  return edges;
}

std::set<BlockId> find_waiting_blocks(const ptx::Module& module, FunctionId id, const Reach& reach) {
  std::set<BlockId> blocks;
  for (const WaitingLoop& loop : find_waiting_loops(module, id, reach))
    blocks.insert(loop.blocks.begin(), loop.blocks.end());
  return blocks;
}

}  // namespace cucore::cpu::codegen
