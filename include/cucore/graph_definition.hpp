// GraphDefinition: operations and the order between them, to be made executable and launched as one.
//
//   cucore::GraphDefinition graph;
//   auto first = graph.launch(config, kernel, x, n);
//   first.launch(config, kernel, y, n);                // after the first
//   cucore::Graph executable = graph.instantiate();
//   executable.launch(stream);
//
// How nodes are added: graph_node.hpp. Views: the definition, the graphs embedded in it and the bodies of its
// conditional nodes are views of one hierarchy, which lives as long as any view or node of it. When a node that owns a
// graph is destroyed, views of that graph are no longer valid: their handle is null, and what uses them throws
// StateError. Ownership: move-only; share() makes another view of the same graph. Thread-safety: as of GraphNode.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cucore/driver_types.hpp"
#include "cucore/export.hpp"
#include "cucore/graph_node.hpp"

namespace cucore {

class Graph;
struct GraphCompleteOptions;

/// What the DOT file shows besides the structure (CU_GRAPH_DEBUG_DOT_FLAGS_).
struct GraphDebugPrintOptions {
  bool verbose = false;  ///< all that follows
  bool runtime_types = false;
  bool kernel_node_params = false;
  bool memcpy_node_params = false;
  bool memset_node_params = false;
  bool host_node_params = false;
  bool event_node_params = false;
  bool ext_semas_signal_node_params = false;
  bool ext_semas_wait_node_params = false;
  bool kernel_node_attributes = false;
  bool handles = false;
  bool mem_alloc_node_params = false;
  bool mem_free_node_params = false;
  bool batch_mem_op_node_params = false;
  bool extra_topo_info = false;
  bool conditional_node_params = false;

  /// The driver's flags.
  unsigned flags() const noexcept;
};

class CUCORE_API GraphDefinition : public GraphPoint {
 public:
  /// An empty graph. @throws DriverError
  GraphDefinition();
  GraphDefinition(GraphDefinition&&) noexcept = default;
  GraphDefinition& operator=(GraphDefinition&&) noexcept = default;
  GraphDefinition(const GraphDefinition&) = delete;
  GraphDefinition& operator=(const GraphDefinition&) = delete;

  /// The driver's handle; null when closed, and once the graph is gone.
  GraphHandle handle() const noexcept;
  /// Whether it is open. The graph may be gone all the same: is_valid().
  explicit operator bool() const noexcept { return graph_ != nullptr; }
  /// False when closed, and once the node that owned the graph is destroyed.
  bool is_valid() const noexcept;

  /// An entry node that does nothing.
  EmptyNode empty() const;
  /// A value for conditional nodes of this graph; with `default_value` it is set to that before each launch.
  GraphCondition create_condition(std::optional<unsigned> default_value = std::nullopt) const;

  std::vector<GraphNode> nodes() const;
  /// As pairs: from, to.
  std::vector<std::pair<GraphNode, GraphNode>> edges() const;
  std::size_t size() const;
  bool contains(const GraphNode& node) const;
  std::vector<GraphNode> root_nodes() const;
  std::vector<GraphNode> leaf_nodes() const;
  /// All nodes, each after those it depends on. @throws StateError there is a cycle
  std::vector<GraphNode> sorted_nodes() const;

  /// Makes an executable graph, as often as wanted. It is independent of the definition from then on.
  /// @throws StateError a cycle, an operation that a device cannot launch, several contexts in a graph for device
  ///   launch, or a condition that no node uses  @throws DriverError
  Graph instantiate(const GraphCompleteOptions& options) const;
  Graph instantiate() const;
  /// Writes the graph in the DOT language. @throws DriverError the file cannot be written
  void debug_dot_print(const std::string& path, const GraphDebugPrintOptions& options = {}) const;
  /// An independent graph with the same nodes, edges and owners. @throws DriverError there are memory nodes
  GraphDefinition clone() const;

  /// Another view of the same graph.
  GraphDefinition share() const;
  /// Drops this view. The graph goes with the last view or node of its hierarchy. Closing twice is allowed.
  void close();

  /// Whether they are views of one graph.
  friend bool operator==(const GraphDefinition& a, const GraphDefinition& b) noexcept { return a.graph_ == b.graph_; }
  /// The same pointer for equal views, and for no others as long as one of them is open.
  const void* identity() const noexcept { return graph_.get(); }

  /// Internal.
  GraphDefinition(std::shared_ptr<detail::GraphHierarchy> hierarchy, std::shared_ptr<detail::GraphState> graph) noexcept
      : GraphPoint(std::move(hierarchy), std::move(graph), nullptr) {}
};

}  // namespace cucore
