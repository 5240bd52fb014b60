// Finds loops that wait for other threads: see waiting_loops.hpp.
#include "cpu/analysis/flow/waiting_loops.hpp"

#include <algorithm>
#include <optional>

#include "cpu/analysis/flow/synchronization.hpp"

namespace cucore::cpu::analysis {

using ptx::FunctionId;
using ptx::Instruction;
using ptx::Modifier;
using ptx::Opcode;
using ptx::Operand;
using ptx::RegisterId;

namespace {

using Loop = std::vector<BlockId>;

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

/// Blocks from which `edge.first` can be reached without passing `edge.second`, which comes first: the loop of a back
/// edge.
Loop loop_of(const Edge& edge, const std::vector<std::vector<BlockId>>& predecessors) {
  std::vector<bool> inside(predecessors.size(), false);
  Loop body{edge.second};
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

std::optional<RegisterId> plain_register(const Instruction& instruction, std::size_t operand) {
  if (operand >= instruction.operands.size()) return {};
  const Operand& o = instruction.operands[operand];
  if (o.kind != Operand::Kind::Register || o.component != -1) return {};
  return o.reg;
}

/// The one instruction of the loop that writes a register, if it is one.
const Instruction* only_writer(const ptx::Function& function, const ControlFlow& flow, const Loop& loop,
                               RegisterId reg) {
  const Instruction* found = nullptr;
  bool is_only = true;
  for (BlockId block : loop) {
    for (std::uint32_t i = flow.blocks[block].first; i < flow.blocks[block].end; ++i) {
      if (!writes_first_operand(function.body[i])) continue;
      for_each_register(function.body[i].operands[0], [&](RegisterId r) {
        if (r != reg) return;
        is_only &= found == nullptr;
        found = &function.body[i];
      });
    }
  }
  return is_only ? found : nullptr;
}

/// `expected` is the compare operand of a compare-and-swap that yields `seen`. True if it is only ever given `seen`
/// inside the loop, and the loop is left when both are equal, whatever the value: then a round more means that another
/// thread made progress.
bool retries_with_value_seen(const ptx::Function& function, const ControlFlow& flow, const Loop& loop,
                             RegisterId expected, RegisterId seen) {
  const Instruction* const given = only_writer(function, flow, loop, expected);
  if (given == nullptr || given->opcode != Opcode::Mov || given->guard || plain_register(*given, 1) != seen)
    return false;
  const auto is_inside = [&](BlockId block) { return std::find(loop.begin(), loop.end(), block) != loop.end(); };
  return std::any_of(loop.begin(), loop.end(), [&](BlockId id) {
    const PtxBlock& block = flow.blocks[id];
    if (block.end == block.first) return false;
    const Instruction& branch = function.body[block.end - 1];
    if (!is_terminator(branch.opcode) || branch.opcode == Opcode::Brx || !branch.guard) return false;
    const Instruction* const test = only_writer(function, flow, loop, branch.guard->reg);
    if (test == nullptr || test->opcode != Opcode::Setp || test->guard || test->operands.size() != 3 ||
        test->operands[0].kind != Operand::Kind::Register)
      return false;
    const auto left = plain_register(*test, 1), right = plain_register(*test, 2);
    const bool compares = (left == seen && right == expected) || (left == expected && right == seen);
    const bool finds_equal = test->has(Modifier::Eq);
    if (!compares || (!finds_equal && !test->has(Modifier::Ne))) return false;
    const bool equal_is_taken = finds_equal != branch.guard->negated;
    if (!equal_is_taken) return !is_inside(id + 1);
    return branch.opcode != Opcode::Bra || !is_inside(block.successors.front());
  });
}

/// After a fence an ordinary load is executed again: `while (*flag == 0) __threadfence();`.
bool is_plain_load(const Instruction& instruction) {
  return instruction.opcode == Opcode::Ld && instruction.space() != ptx::Space::Param &&
         instruction.space() != ptx::Space::Const && instruction.space() != ptx::Space::Local;
}

class Dependence {
 public:
  Dependence(const ptx::Module& module, const ptx::Function& function, const ControlFlow& flow, const Reach& reach)
      : module_(module), function_(function), flow_(flow), reach_(reach) {}

  /// Whether `loop` is left depends on an observation made in it.
  bool waits(const Loop& loop) const {
    bool calls_observe = false, fences = false, has_barrier = false;
    for_each(loop, [&](const Instruction& instruction) {
      calls_observe |= calls(reach_.observes, instruction);
      fences |= is_fence(instruction.opcode);
      has_barrier |= is_block_barrier(instruction);
    });
    const auto is_source = [&](const Instruction& instruction) {
      if (is_waited_for(instruction, loop) || calls(reach_.observes, instruction)) return true;
      return instruction.opcode == Opcode::Ld &&
             ((fences && is_plain_load(instruction)) || (calls_observe && instruction.space() == ptx::Space::Param));
    };
    return is_left_by(loop, is_source, /*through_variables=*/!has_barrier);
  }

  /// The loop has a barrier of the block, perhaps in a function that it calls, and its exit depends on memory.
  bool laps(const Loop& loop) const {
    bool may_pass_barrier = false, calls_some = false;
    for_each(loop, [&](const Instruction& instruction) {
      may_pass_barrier |= is_block_barrier(instruction) || calls(reach_.has_barrier, instruction);
      calls_some |= instruction.opcode == Opcode::Call;
    });
    if (!may_pass_barrier) return false;
    const auto is_source = [&](const Instruction& instruction) {
      if (instruction.opcode == Opcode::Call || is_observation(instruction)) return true;
      if (instruction.opcode != Opcode::Ld || instruction.space() == ptx::Space::Const) return false;
      return calls_some || instruction.space() != ptx::Space::Param;  // where functions leave their results
    };
    return is_left_by(loop, is_source, /*through_variables=*/false);
  }

 private:
  /// The registers and variables that depend on a source.
  struct Taken {
    std::vector<bool> registers;
    bool local = false, shared = false;  ///< variables

    explicit Taken(std::size_t count) : registers(count, false) {}
    bool has(const Operand& operand) const {
      bool found = false;
      for_each_register(operand, [&](RegisterId r) { found |= registers[r]; });
      return found;
    }
    /// True if it is new.
    bool take(const Operand& operand) {
      bool is_new = false;
      for_each_register(operand, [&](RegisterId r) {
        is_new |= !registers[r];
        registers[r] = true;
      });
      return is_new;
    }
  };

  /// A branch that leads out of the loop depends on a source.
  template <typename IsSource>
  bool is_left_by(const Loop& loop, const IsSource& is_source, bool through_variables) const {
    std::vector<bool> inside(flow_.blocks.size(), false);
    for (const BlockId block : loop) inside[block] = true;
    Taken taken(function_.registers.size());
    while (spread(loop, is_source, through_variables, taken) || take_sides(loop, inside, through_variables, taken)) {
    }
    return std::any_of(loop.begin(), loop.end(), [&](BlockId block) {
      const auto& next = flow_.blocks[block].successors;
      return branches_on(block, taken) &&
             (may_return(block) || !std::all_of(next.begin(), next.end(), [&](BlockId n) { return inside[n]; }));
    });
  }

  template <typename Visit>
  void for_each(const Loop& loop, const Visit& visit) const {
    for (BlockId block : loop) {
      for (std::uint32_t i = flow_.blocks[block].first; i < flow_.blocks[block].end; ++i) visit(function_.body[i]);
    }
  }

  /// Which variables a load or store accesses; null if they do not count.
  static bool* variables_of(const Instruction& instruction, bool through_variables, Taken& taken) {
    const bool is_memory = instruction.opcode == Opcode::Ld || instruction.opcode == Opcode::St;
    if (!through_variables || !is_memory) return nullptr;
    if (instruction.space() == ptx::Space::Local) return &taken.local;
    return instruction.space() == ptx::Space::Shared ? &taken.shared : nullptr;
  }

  /// One pass over the loop; true if it found something new.
  template <typename IsSource>
  bool spread(const Loop& loop, const IsSource& is_source, bool through_variables, Taken& taken) const {
    bool changed = false;
    for_each(loop, [&](const Instruction& instruction) {
      const auto& operands = instruction.operands;
      const auto depends = [&] {
        return (instruction.guard && taken.registers[instruction.guard->reg]) ||
               std::any_of(operands.begin() + 1, operands.end(), [&](const Operand& o) { return taken.has(o); });
      };
      bool* const variables = variables_of(instruction, through_variables, taken);
      if (variables && instruction.opcode == Opcode::St && !*variables && depends()) *variables = changed = true;
      if (!writes_first_operand(instruction)) return;
      if (is_source(instruction) || (variables && *variables) || depends()) changed |= taken.take(operands[0]);
    });
    return changed;
  }

  /// A branch decides what is written until its ways meet again: `if (flag) done = 1;`. True if something was new.
  bool take_sides(const Loop& loop, const std::vector<bool>& inside, bool through_variables, Taken& taken) const {
    bool changed = false;
    for (const BlockId block : loop) {
      if (!branches_on(block, taken)) continue;
      for_each(until_ways_meet(block, loop.front(), inside), [&](const Instruction& instruction) {
        if (bool* const variables = variables_of(instruction, through_variables, taken);
            variables != nullptr && instruction.opcode == Opcode::St && !*variables)
          *variables = changed = true;
        if (writes_first_operand(instruction)) changed |= taken.take(instruction.operands[0]);
      });
    }
    return changed;
  }

  /// Where one goes from a block of the loop in the same round of it. `round_ends`, one past all blocks, stands for the
  /// next round and for all that is outside.
  std::vector<BlockId> ways_from(BlockId block, BlockId head, const std::vector<bool>& inside) const {
    const auto round_ends = static_cast<BlockId>(flow_.blocks.size());
    std::vector<BlockId> ways = flow_.blocks[block].successors;
    for (BlockId& next : ways) {
      if (!inside[next] || next == head) next = round_ends;
    }
    if (may_return(block)) ways.push_back(round_ends);
    return ways;
  }

  /// The blocks that may be passed from a branch to the first block that all its ways pass in this round of the loop:
  /// those that depend on how it is decided. A way back in a loop within this one is no way around a block.
  Loop until_ways_meet(BlockId branch, BlockId head, const std::vector<bool>& inside) const {
    // One way to the end of the round; then, from its beginning, how far along it the others lead.
    const auto round_ends = static_cast<BlockId>(flow_.blocks.size());
    std::vector<std::optional<BlockId>> came_from(round_ends + 1);
    Loop queue{branch};
    came_from[branch] = branch;
    for (std::size_t next = 0; next < queue.size() && !came_from[round_ends]; ++next) {
      for (const BlockId way : ways_from(queue[next], head, inside)) {
        if (came_from[way]) continue;
        came_from[way] = queue[next];
        queue.push_back(way);
      }
    }
    if (!came_from[round_ends]) return queue;  // a loop that nothing leaves
    Loop path{round_ends};
    while (path.back() != branch) path.push_back(*came_from[path.back()]);
    std::reverse(path.begin(), path.end());
    std::vector<std::size_t> place(round_ends + 1, 0);  // on the path; 0 for all others, which the branch is not either
    for (std::size_t at = 1; at < path.size(); ++at) place[path[at]] = at;

    std::vector<bool> seen(round_ends + 1, false);
    Loop passed;
    std::size_t farthest = 0;
    for (std::size_t at = 0;; ++at) {
      if (at != 0) passed.push_back(path[at]);
      Loop way{path[at]};
      while (!way.empty()) {
        const BlockId from = way.back();
        way.pop_back();
        for (const BlockId next : ways_from(from, head, inside)) {
          farthest = std::max(farthest, place[next]);
          if (place[next] != 0 || seen[next]) continue;
          seen[next] = true;
          passed.push_back(next);
          way.push_back(next);
        }
      }
      if (farthest == at + 1) return passed;
    }
  }

  /// It ends in a return, guarded or not.
  bool may_return(BlockId block) const {
    const PtxBlock& range = flow_.blocks[block];
    if (range.end == range.first) return true;
    const Opcode last = function_.body[range.end - 1].opcode;
    return last == Opcode::Ret || last == Opcode::Exit || last == Opcode::Trap;
  }

  /// The guard or the index of the branch at its end.
  bool branches_on(BlockId block, const Taken& taken) const {
    bool found = false;
    for_each({block}, [&](const Instruction& instruction) {
      if (!is_terminator(instruction.opcode)) return;
      found |= instruction.guard && taken.registers[instruction.guard->reg];
      found |= instruction.opcode == Opcode::Brx && taken.has(instruction.operands[0]);
    });
    return found;
  }

  bool is_waited_for(const Instruction& instruction, const Loop& loop) const {
    if (!is_observation(instruction)) return false;
    if (instruction.opcode != Opcode::Atom || !instruction.has(Modifier::Cas)) return true;
    const auto seen = plain_register(instruction, 0);
    const auto expected = plain_register(instruction, 2);
    return !seen || !expected || !retries_with_value_seen(function_, flow_, loop, *expected, *seen);
  }

  /// It may call a function that has this property.
  bool calls(const std::vector<bool>& property, const Instruction& instruction) const {
    if (instruction.opcode != Opcode::Call) return false;
    for (const Operand& operand : instruction.operands) {
      if (operand.kind != Operand::Kind::Function) continue;
      const Callee callee = resolve(module_, operand.function);
      return callee.function && property[*callee.function];
    }
    return true;  // an indirect call may lead anywhere
  }

  const ptx::Module& module_;
  const ptx::Function& function_;
  const ControlFlow& flow_;
  const Reach& reach_;
};

/// Calls `visit(edge, loop)` for each back edge of a function.
template <typename Visit>
void for_each_loop(const ControlFlow& flow, const Visit& visit) {
  std::vector<std::vector<BlockId>> predecessors(flow.blocks.size());
  for (BlockId block = 0; block < flow.blocks.size(); ++block) {
    for (BlockId successor : flow.blocks[block].successors) predecessors[successor].push_back(block);
  }
  for (const Edge& edge : back_edges(flow)) visit(edge, loop_of(edge, predecessors));
}

}  // namespace

std::vector<std::pair<Edge, std::vector<BlockId>>> find_loops(const ControlFlow& flow) {
  std::vector<std::pair<Edge, std::vector<BlockId>>> loops;
  for_each_loop(flow, [&](const Edge& edge, const Loop& loop) { loops.emplace_back(edge, loop); });
  return loops;
}

WaitingEdges find_waiting_edges(const ptx::Module& module, FunctionId id, const Reach& reach) {
  WaitingEdges found;
  const ptx::Function& function = module.functions[id];
  const ControlFlow flow(function);
  const Dependence dependence(module, function, flow, reach);
  for_each_loop(flow, [&](const Edge& edge, const Loop& loop) {
    if (reach.observes[id] && dependence.waits(loop))
      found.yielding.insert(edge);
    else if (dependence.laps(loop))
      found.lapping.insert(edge);
  });
  return found;
}

std::set<BlockId> find_waiting_blocks(const ptx::Module& module, FunctionId id, const Reach& reach) {
  std::set<BlockId> blocks;
  if (!reach.observes[id]) return blocks;
  const ptx::Function& function = module.functions[id];
  const ControlFlow flow(function);
  const Dependence dependence(module, function, flow, reach);
  for_each_loop(flow, [&](const Edge&, const Loop& loop) {
    if (dependence.waits(loop)) blocks.insert(loop.begin(), loop.end());
  });
  return blocks;
}

}  // namespace cucore::cpu::analysis
