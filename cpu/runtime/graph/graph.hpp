// Graph definitions: nodes, edges, what they own. Not thread-safe, as in the driver: callers hold graph_mutex().
#pragma once

#include <cuda.h>

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "cpu/error/result.hpp"
#include "cpu/runtime/graph/node.hpp"
#include "cpu/runtime/graph/user_object.hpp"

namespace cucore::cpu::runtime {

class Graph;
class GraphExec;

struct GraphNode {
  struct Edge {
    GraphNode* node;  ///< the other end
    CUgraphEdgeData data;
  };

  CUgraphNode handle = nullptr;
  Graph* graph = nullptr;
  std::uint64_t id = 0;
  std::uint64_t original = 0;  ///< id of the node this one was cloned from
  std::shared_ptr<const Payload> payload;
  std::vector<Edge> dependencies;
  std::vector<Edge> dependents;
};

class Graph : public std::enable_shared_from_this<Graph> {
 public:
  static std::shared_ptr<Graph> create();
  Graph();
  ~Graph();
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  CUgraph handle() const { return handle_; }
  /// The number of a graph or of an executable one, as tools and DOT files name it.
  unsigned int id() const { return id_; }
  static unsigned int next_id();
  /// The node that owns this graph (child graph, conditional body); such a graph is not destroyed by itself.
  bool is_owned() const { return is_owned_; }
  void set_owned() { is_owned_ = true; }
  const std::vector<std::shared_ptr<GraphNode>>& nodes() const { return nodes_; }

  /// InvalidValue if a dependency is not a node of this graph or is given twice, or a condition has its node already.
  Result<std::shared_ptr<GraphNode>> add(std::shared_ptr<const Payload> payload,
                                         std::span<const CUgraphNode> dependencies, const CUgraphEdgeData* data);
  Result<void> connect(GraphNode& from, GraphNode& to, const CUgraphEdgeData* data);
  Result<void> disconnect(GraphNode& from, GraphNode& to);
  Result<void> remove(GraphNode& node);
  /// Ends the handles of the graph, its nodes, and the graphs they own.
  void end_handles();

  /// NotSupported with memory nodes (`for_exec` allows them).
  std::shared_ptr<Graph> clone() const;
  /// Dependencies first. Empty if there is a cycle (and nodes).
  std::vector<GraphNode*> sorted() const;
  bool has_memory_nodes() const;
  bool has_conditional_nodes() const;
  /// Nodes that kernels may change.
  bool has_updatable_nodes() const;

  CUgraphConditionalHandle create_condition(unsigned int default_value, bool is_assigned_at_launch);
  /// Null if it is not one of this graph's.
  Condition* find_condition(CUgraphConditionalHandle handle) const;
  const std::vector<std::shared_ptr<Condition>>& conditions() const { return conditions_; }
  /// A conditional node's bodies may use the conditions of the graph around them.
  void inherit_conditions(const Graph& outer);

  UserObjects user_objects;
  /// Of a graph with memory or conditional nodes, or with some that kernels change, of which there is one executable
  /// graph at a time.
  mutable std::weak_ptr<const GraphExec> executable;

 private:
  CUgraph handle_ = nullptr;
  const unsigned int id_ = next_id();
  bool is_owned_ = false;
  std::vector<std::shared_ptr<GraphNode>> nodes_;
  std::vector<std::shared_ptr<Condition>> conditions_;
};

/// Held around everything done with definitions and executable graphs; a user object's destructor may run inside.
std::recursive_mutex& graph_mutex();

std::shared_ptr<Graph> find_graph(CUgraph handle);
std::shared_ptr<GraphNode> find_graph_node(CUgraphNode handle);
Result<void> destroy_graph(CUgraph handle);

/// The graph in the DOT language; `flags` of cuGraphDebugDotPrint.
std::string dot_of(const Graph& graph, unsigned int flags);

}  // namespace cucore::cpu::runtime
