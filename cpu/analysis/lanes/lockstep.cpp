// Where lanes of a warp count on running in step: see lockstep.hpp.
#include "cpu/analysis/lanes/lockstep.hpp"

#include <algorithm>
#include <set>

#include "cpu/analysis/flow/control_flow.hpp"
#include "cpu/analysis/flow/synchronization.hpp"
#include "cpu/analysis/flow/waiting_loops.hpp"

namespace cucore::cpu::analysis {
namespace {

using ptx::FunctionId;
using ptx::Instruction;
using ptx::Opcode;
using ptx::Space;

/// What a thread may have done since it last met others: bits.
enum Done : unsigned {
  Nothing = 0,
  VolatileStore = 1,
  VolatileLoad = 2,
  PlainStore = 4,
  PlainLoad = 8,
  ExchangeStore = 16,  ///< plain, of an array through which values are exchanged
  ExchangeLoad = 32
};

Done kind_of_access(const Instruction& i) {
  if (i.opcode != Opcode::Ld && i.opcode != Opcode::St) return Nothing;
  if (is_volatile_exchange(i)) return i.opcode == Opcode::Ld ? VolatileLoad : VolatileStore;
  if (i.space() != Space::Shared) return Nothing;
  return i.opcode == Opcode::Ld ? PlainLoad : PlainStore;
}

class Search {
 public:
  Search(const ptx::Module& module, const Reach& reach) : module_(module), reach_(reach) {
    if (!has_shared_memory()) return;
    for (const FunctionId id : reach.functions)
      for (const Instruction& i : module.functions[id].body) anywhere_ |= kind_of_access(i);
  }

  LockstepPoints run() {
    const bool may_exchange = (anywhere_ & VolatileLoad) != 0 && (anywhere_ & (VolatileStore | PlainStore)) != 0;
    if (!may_exchange || find(/*all=*/false).empty()) anywhere_ = Nothing;
    if (anywhere_ == Nothing && reach_.exchanges.empty()) return {};
    LockstepPoints points = find(/*all=*/true);
    while (add_calls(points)) {
    }
    for (auto& [id, found] : points) add_iterations(id, found);
    return points;
  }

 private:
  bool has_shared_memory() const {
    const auto is_shared = [](const ptx::Variable& variable) { return variable.space == Space::Shared; };
    return std::any_of(reach_.variables.begin(), reach_.variables.end(),
                       [&](ptx::VariableId id) { return is_shared(module_.variables[id]); }) ||
           std::any_of(reach_.functions.begin(), reach_.functions.end(), [&](FunctionId id) {
             const auto& variables = module_.functions[id].variables;
             return std::any_of(variables.begin(), variables.end(), is_shared);
           });
  }

  /// Whether lanes must have come together since what was `done`. Without `all`, only what shows that values are
  /// exchanged.
  static bool needs_step(unsigned kind, const Instruction& i, unsigned done, bool all) {
    if ((kind & ExchangeLoad) != 0 && (done & ExchangeStore) != 0) return true;
    if ((kind & ExchangeStore) != 0 && (done & (ExchangeStore | ExchangeLoad)) != 0) return true;
    switch (kind & ~(ExchangeLoad | ExchangeStore)) {
      case VolatileLoad: {
        const bool is_surely_shared = all || i.space() == Space::Shared;
        return (done & (VolatileStore | (is_surely_shared ? PlainStore : Nothing))) != 0;
      }
      case VolatileStore:
        return (done & (VolatileLoad | (all ? VolatileStore : Nothing))) != 0;
      case PlainLoad:
        return all && (done & VolatileStore) != 0;
      case PlainStore:
        return all && (done & VolatileLoad) != 0;
      default:
        return false;
    }
  }

  unsigned after(unsigned kind, const Instruction& i, unsigned done, bool counts, bool all) const {
    // Of some lanes: those of others may be undone, in kernels where lanes are kept in step at all.
    if (waits_for_lanes(i) && (!all || lanes_waited_for(i) == ~0U)) return Nothing;
    if (!counts) return done;
    if (i.opcode == Opcode::Call) return done | (reach_.functions.size() > 1 ? anywhere_or_exchanged() : 0U);
    return done | kind;
  }

  /// What a function that is called may have done.
  unsigned anywhere_or_exchanged() const {
    return anywhere_ | (reach_.exchanges.empty() ? 0U : ExchangeStore | ExchangeLoad);
  }

  /// Lanes go together into functions where they are kept in step. True if there were such calls without a point.
  bool add_calls(LockstepPoints& points) const {
    bool changed = false;
    for (const FunctionId id : reach_.functions) {
      const auto& body = module_.functions[id].body;
      for (std::uint32_t i = 0; i < body.size(); ++i) {
        if (body[i].opcode != Opcode::Call) continue;
        const auto leads_there = [&](const ptx::Operand& operand) {
          if (operand.kind != ptx::Operand::Kind::Function) return false;
          const Callee callee = resolve(module_, operand.function);
          return callee.function && points.contains(*callee.function);
        };
        const auto& operands = body[i].operands;
        if (is_indirect_call(body[i]) || std::any_of(operands.begin(), operands.end(), leads_there))
          changed |= points[id].emplace(i, i).second;
      }
    }
    return changed;
  }

  /// Who leaves a loop early, or has one iteration less, does not begin the next round of the loop around it before the
  /// others are there; in loops that wait for others nobody waits besides.
  void add_iterations(FunctionId id, std::map<std::uint32_t, std::uint32_t>& points) const {
    const ptx::Function& function = module_.functions[id];
    const ControlFlow flow(function);
    const WaitingEdges waiting = find_waiting_edges(module_, id, reach_);
    const auto has_point = [&, accesses = points](BlockId block) {
      const auto found = accesses.lower_bound(flow.blocks[block].first);
      return found != accesses.end() && found->first < flow.blocks[block].end;
    };
    for (const auto& [edge, loop] : find_loops(flow)) {
      if (waiting.yielding.contains(edge) || !std::any_of(loop.begin(), loop.end(), has_point)) continue;
      std::uint32_t last = 0;
      for (const BlockId block : loop)
        if (flow.blocks[block].end != 0) last = std::max(last, flow.blocks[block].end - 1);
      const PtxBlock& from = flow.blocks[edge.first];
      if (from.end != from.first) points.insert_or_assign(from.end - 1, last);
    }
  }

  LockstepPoints find(bool all) const {
    LockstepPoints points;
    for (const FunctionId id : reach_.functions)
      if (std::map<std::uint32_t, std::uint32_t> found = find_in(id, all); !found.empty())
        points[id] = std::move(found);
    return points;
  }

  std::map<std::uint32_t, std::uint32_t> find_in(FunctionId id, bool all) const {
    const ptx::Function& function = module_.functions[id];
    const auto kind = [&](std::uint32_t i) -> unsigned {
      const unsigned usual = kind_of_access(function.body[i]) & anywhere_;
      if (!all || !reach_.is_exchange(id, i)) return usual;
      return usual | (function.body[i].opcode == Opcode::Ld ? ExchangeLoad : ExchangeStore);
    };
    const ControlFlow flow(function);
    // Loads from who knows where that only wait for something, as look-backs do, show nothing.
    const std::set<BlockId> waiting = all ? std::set<BlockId>{} : find_waiting_blocks(module_, id, reach_);
    const auto counts = [&](BlockId block, const Instruction& i) {
      return i.space() == Space::Shared || !is_volatile_exchange(i) || !waiting.contains(block);
    };
    std::vector<unsigned> before(flow.blocks.size(), Nothing);
    if (!function.is_entry) before[0] = all ? anywhere_or_exchanged() : anywhere_;
    for (bool changed = true; changed;) {
      changed = false;
      for (BlockId block = 0; block < flow.blocks.size(); ++block) {
        unsigned done = before[block];
        for (std::uint32_t i = flow.blocks[block].first; i < flow.blocks[block].end; ++i)
          done = after(kind(i), function.body[i], done, counts(block, function.body[i]), all);
        for (const BlockId next : flow.blocks[block].successors) {
          changed |= (done & ~before[next]) != 0;
          before[next] |= done;
        }
      }
    }
    std::map<std::uint32_t, std::uint32_t> points;
    for (BlockId block = 0; block < flow.blocks.size(); ++block) {
      unsigned done = before[block];
      for (std::uint32_t i = flow.blocks[block].first; i < flow.blocks[block].end; ++i) {
        const Instruction& instruction = function.body[i];
        const bool is_counted = counts(block, instruction);
        if (is_counted && needs_step(kind(i), instruction, done, all)) {
          points.emplace(i, i);
          done = Nothing;
        }
        done = after(kind(i), instruction, done, is_counted, all);
      }
    }
    return points;
  }

  const ptx::Module& module_;
  const Reach& reach_;
  unsigned anywhere_ = Nothing;
};

}  // namespace

LockstepPoints find_lockstep_points(const ptx::Module& module, const Reach& reach) {
  return Search(module, reach).run();
}

}  // namespace cucore::cpu::analysis
