// Executable graphs: a frozen copy of a definition, in an order that respects its edges. Parameters can be replaced; a
// launch runs what the graph was when it was launched. Callers hold graph_mutex().
#pragma once

#include <cuda.h>

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "cpu/error/result.hpp"
#include "cpu/runtime/graph/graph.hpp"
#include "cpu/runtime/objects/stream.hpp"

namespace cucore::cpu::runtime {

class ResourceEpoch;
class RunningGraph;
struct RecordPoint;

struct ExecNode {
  std::uint64_t id = 0;  ///< of the definition's node
  CUgraphNode handle = nullptr;
  std::vector<std::size_t> dependencies;  ///< positions, for the comparison of cuGraphExecUpdate
  std::shared_ptr<const Payload> payload;
  bool is_enabled = true;
  std::vector<std::vector<ExecNode>> graphs;  ///< of a child graph node or a conditional node
};

/// What a launch runs.
struct ExecPlan {
  std::vector<ExecNode> nodes;
  std::vector<std::shared_ptr<Condition>> conditions;
  UserObjects user_objects;
};

class GraphExec {
 public:
  /// `reason` and `error_node`, which may be null, say more of a failure.
  static Result<CUgraphExec> instantiate(const Graph& graph, std::uint64_t flags, CUgraphInstantiateResult* reason,
                                         CUgraphNode* error_node);

  std::uint64_t flags() const { return flags_; }
  /// What a launch by device code runs, and the handle by which it is known there: 0 if it was not made for that.
  const std::shared_ptr<ExecPlan>& plan() const { return plan_; }
  std::uint64_t device_handle() const { return device_handle_; }
  unsigned int id() const { return id_; }
  /// Node `id` of the definition; null if it was not there when the graph was instantiated.
  const ExecNode* find(std::uint64_t id) const;
  Result<void> set_payload(std::uint64_t id, std::shared_ptr<const Payload> payload);
  Result<void> set_enabled(std::uint64_t id, bool is_enabled);
  Result<void> update(const Graph& graph, CUgraphExecUpdateResultInfo* info);
  Result<void> launch(Stream& stream);

 private:
  ExecNode* find_in(std::vector<ExecNode>& nodes, std::uint64_t id);
  /// The plan for changing: launches keep theirs.
  ExecPlan& change();

  const unsigned int id_ = Graph::next_id();
  std::uint64_t flags_ = 0;
  std::uint64_t device_handle_ = 0;
  std::shared_ptr<ExecPlan> plan_;
  std::shared_ptr<Stream> last_stream_;
  std::uint64_t last_number_ = 0;
};

std::shared_ptr<GraphExec> find_graph_exec(CUgraphExec handle);
Result<void> destroy_graph_exec(CUgraphExec handle);

/// Where the events of a plan stand in one launch: recordings to reach and recordings to wait for.
using RecordPoints = std::map<const ExecNode*, std::shared_ptr<RecordPoint>>;

/// Runs a plan on the calling thread of ours, for `graph`. `context` as in Work::run.
void run_plan(const ExecPlan& plan, const RecordPoints& points, const std::shared_ptr<const ResourceEpoch>& epoch,
              Stream& stream, const Result<void>& context, RunningGraph& graph);

}  // namespace cucore::cpu::runtime
