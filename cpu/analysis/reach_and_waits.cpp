// Reach and waits, in the order in which one rests on the other: see reach_and_waits.hpp.
#include "cpu/analysis/reach_and_waits.hpp"

#include <tuple>

#include "cpu/analysis/flow/waiting_loops.hpp"
#include "cpu/analysis/lanes/lockstep.hpp"
#include "cpu/analysis/lanes/plain_exchanges.hpp"

namespace cucore::cpu::analysis {

Reach find_reach_and_waits(const ptx::Module& module, ptx::FunctionId kernel, const BlockShape& shape) {
  Reach reach = find_reach(module, kernel);
  reach.exchanges = find_plain_exchanges(module, reach, shape, &reach.gives_anew);
  reach.lockstep = find_lockstep_points(module, reach);
  reach.needs_fibers |= !reach.lockstep.empty();
  for (ptx::FunctionId function : reach.functions) {
    const WaitingEdges edges = find_waiting_edges(module, function, reach);
    reach.waits |= !edges.yielding.empty();
    reach.needs_fibers |= !edges.yielding.empty();
    reach.counts_laps |= !edges.lapping.empty();
  }
  return reach;
}

bool waits_alike(const ptx::Module& module, ptx::FunctionId kernel, const BlockShape& one, const BlockShape& other) {
  const auto of = [](const Reach& reach) {
    return std::tie(reach.exchanges, reach.gives_anew, reach.lockstep, reach.needs_fibers, reach.waits,
                    reach.counts_laps);
  };
  const Reach first = find_reach_and_waits(module, kernel, one);
  const Reach second = find_reach_and_waits(module, kernel, other);
  return of(first) == of(second);
}

}  // namespace cucore::cpu::analysis
