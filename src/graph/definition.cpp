// GraphDefinition.
#include "cucore/graph_definition.hpp"

#include <algorithm>
#include <unordered_map>

#include "cucore/error.hpp"
#include "cucore/graph.hpp"
#include "src/device/context_state.hpp"
#include "src/driver/table.hpp"
#include "src/graph/callbacks.hpp"
#include "src/graph/state.hpp"
#include "src/handles/context_scope.hpp"

namespace cucore {
namespace {

using detail::GraphHierarchy;
using detail::GraphState;

// Lock held.
std::vector<GraphNode> nodes_of(const GraphPoint& graph) {
  const GraphState& state = *graph.graph_state();
  const driver::Table& table = driver::table();
  std::size_t count = 0;
  const auto on = [&] { return describe(state); };
  driver::check(table.cuGraphGetNodes(state.handle, nullptr, &count), "cuGraphGetNodes", on);
  std::vector<driver::CUgraphNode> handles(count);
  if (count != 0) driver::check(table.cuGraphGetNodes(state.handle, handles.data(), &count), "cuGraphGetNodes", on);
  handles.resize(count);
  std::vector<GraphNode> nodes;
  nodes.reserve(count);
  for (const driver::CUgraphNode handle : handles) {
    nodes.emplace_back(graph.hierarchy(), detail::node_of(*graph.hierarchy(), graph.graph_state(), handle));
  }
  return nodes;
}

// Lock held.
std::vector<std::pair<GraphNode, GraphNode>> edges_of(const GraphPoint& graph) {
  const GraphState& state = *graph.graph_state();
  const driver::Table& table = driver::table();
  const auto on = [&] { return describe(state); };
  std::size_t count = 0;
  driver::check(table.cuGraphGetEdges(state.handle, nullptr, nullptr, nullptr, &count), "cuGraphGetEdges", on);
  std::vector<driver::CUgraphNode> from(count);
  std::vector<driver::CUgraphNode> to(count);
  std::vector<driver::CUgraphEdgeData> data(count);
  if (count != 0) {
    driver::check(table.cuGraphGetEdges(state.handle, from.data(), to.data(), data.data(), &count), "cuGraphGetEdges",
                  on);
  }
  std::vector<std::pair<GraphNode, GraphNode>> edges;
  edges.reserve(count);
  const auto node = [&](driver::CUgraphNode handle) {
    return GraphNode(graph.hierarchy(), detail::node_of(*graph.hierarchy(), graph.graph_state(), handle));
  };
  for (std::size_t i = 0; i < count; ++i) edges.emplace_back(node(from[i]), node(to[i]));
  return edges;
}

// Calls `ask(graph)` with the lock held and the graph found to be there.
template <class Ask>
auto ask(const GraphPoint& graph, const char* call, Ask&& question) {
  GraphHierarchy& hierarchy = detail::open_hierarchy(graph, call);
  const std::scoped_lock lock(hierarchy.mutex);
  return question(detail::open_graph(graph, call));
}

// The nodes at which no edge begins, or at which none ends.
template <class End>
std::vector<GraphNode> nodes_without(const GraphPoint& graph, End&& end) {
  std::vector<GraphNode> nodes = nodes_of(graph);
  const auto edges = edges_of(graph);
  std::erase_if(nodes, [&](const GraphNode& node) {
    return std::any_of(edges.begin(), edges.end(), [&](const auto& edge) { return end(edge) == node; });
  });
  return nodes;
}

}  // namespace

unsigned GraphDebugPrintOptions::flags() const noexcept {
  const bool all[] = {verbose,
                      runtime_types,
                      kernel_node_params,
                      memcpy_node_params,
                      memset_node_params,
                      host_node_params,
                      event_node_params,
                      ext_semas_signal_node_params,
                      ext_semas_wait_node_params,
                      kernel_node_attributes,
                      handles,
                      mem_alloc_node_params,
                      mem_free_node_params,
                      batch_mem_op_node_params,
                      extra_topo_info,
                      conditional_node_params};  // in the order of the driver's bits
  unsigned flags = 0;
  for (unsigned bit = 0; bit < std::size(all); ++bit) flags |= all[bit] ? 1u << bit : 0u;
  return flags;
}

GraphDefinition::GraphDefinition() {
  detail::safe_point();
  hierarchy_ = GraphHierarchy::create();
  graph_ = hierarchy_->root;
}

GraphHandle GraphDefinition::handle() const noexcept { return graph_ == nullptr ? nullptr : graph_->handle; }

bool GraphDefinition::is_valid() const noexcept { return handle() != nullptr; }

EmptyNode GraphDefinition::empty() const { return join(std::span<const GraphNode>()); }

GraphCondition GraphDefinition::create_condition(std::optional<unsigned> default_value) const {
  return ask(*this, "GraphDefinition::create_condition", [&](const GraphState& graph) {
    const auto context = detail::recorded_context();
    driver::CUgraphConditionalHandle handle = 0;
    const unsigned flags = default_value.has_value() ? driver::CU_GRAPH_COND_ASSIGN_DEFAULT : 0;
    const driver::CUresult code =
        detail::ask_in_any_context([&] { return context->handle; },
                                   [&] {
                                     return driver::table().cuGraphConditionalHandleCreate(
                                         &handle, graph.handle, context->handle, default_value.value_or(0), flags);
                                   });
    if (code == driver::CUDA_ERROR_NOT_SUPPORTED) {
      throw UnavailableError({.call = "cuGraphConditionalHandleCreate",
                              .message = "this driver has no conditional nodes; CUDA 12.3 or newer has",
                              .hint = "update the driver"});
    }
    driver::check(code, "cuGraphConditionalHandleCreate", [&] { return describe(graph); });
    return GraphCondition(handle);
  });
}

std::vector<GraphNode> GraphDefinition::nodes() const {
  return ask(*this, "GraphDefinition::nodes", [&](const GraphState&) { return nodes_of(*this); });
}

std::vector<std::pair<GraphNode, GraphNode>> GraphDefinition::edges() const {
  return ask(*this, "GraphDefinition::edges", [&](const GraphState&) { return edges_of(*this); });
}

std::size_t GraphDefinition::size() const {
  return ask(*this, "GraphDefinition::size", [&](const GraphState& graph) {
    std::size_t count = 0;
    driver::check(driver::table().cuGraphGetNodes(graph.handle, nullptr, &count), "cuGraphGetNodes",
                  [&] { return describe(graph); });
    return count;
  });
}

bool GraphDefinition::contains(const GraphNode& node) const {
  return ask(*this, "GraphDefinition::contains",
             [&](const GraphState&) { return node.is_valid() && node.graph_state() == graph_; });
}

std::vector<GraphNode> GraphDefinition::root_nodes() const {
  return ask(*this, "GraphDefinition::root_nodes", [&](const GraphState&) {
    return nodes_without(*this, [](const auto& edge) -> const GraphNode& { return edge.second; });
  });
}

std::vector<GraphNode> GraphDefinition::leaf_nodes() const {
  return ask(*this, "GraphDefinition::leaf_nodes", [&](const GraphState&) {
    return nodes_without(*this, [](const auto& edge) -> const GraphNode& { return edge.first; });
  });
}

std::vector<GraphNode> GraphDefinition::sorted_nodes() const {
  return ask(*this, "GraphDefinition::sorted_nodes", [&](const GraphState& graph) {
    std::vector<GraphNode> nodes = nodes_of(*this);
    std::unordered_map<const void*, std::size_t> missing;
    std::unordered_map<const void*, std::vector<GraphNode>> after;
    for (const auto& [from, to] : edges_of(*this)) {
      ++missing[to.identity()];
      after[from.identity()].push_back(to);
    }
    std::vector<GraphNode> sorted;
    for (const GraphNode& node : nodes) {
      if (!missing.contains(node.identity())) sorted.push_back(node);
    }
    for (std::size_t i = 0; i < sorted.size(); ++i) {
      for (const GraphNode& next : after[sorted[i].identity()]) {
        if (--missing[next.identity()] == 0) sorted.push_back(next);
      }
    }
    if (sorted.size() != nodes.size()) {
      throw StateError({.call = "GraphDefinition::sorted_nodes",
                        .message = describe(graph) + " has a cycle: its nodes cannot be sorted",
                        .hint = "remove an edge of the cycle"});
    }
    return sorted;
  });
}

void GraphDefinition::debug_dot_print(const std::string& path, const GraphDebugPrintOptions& options) const {
  ask(*this, "GraphDefinition::debug_dot_print", [&](const GraphState& graph) {
    driver::check(driver::table().cuGraphDebugDotPrint(graph.handle, path.c_str(), options.flags()),
                  "cuGraphDebugDotPrint", [&] { return describe(graph) + " to the file '" + path + "'"; });
  });
}

GraphDefinition GraphDefinition::clone() const {
  GraphHierarchy& source = detail::open_hierarchy(*this, "GraphDefinition::clone");
  const std::scoped_lock lock(source.mutex);
  const GraphState& graph = detail::open_graph(*this, "GraphDefinition::clone");
  driver::CUgraph handle = nullptr;
  driver::check(
      driver::table().cuGraphClone(&handle, graph.handle), "cuGraphClone", [&] { return describe(graph); },
      "graphs with allocation, free or conditional nodes cannot be cloned");
  auto hierarchy = GraphHierarchy::adopt(handle);
  detail::adopt_nodes(graph, *hierarchy, hierarchy->root);
  source.errors->also_in(hierarchy->errors);
  auto root = hierarchy->root;
  return {std::move(hierarchy), std::move(root)};
}

GraphDefinition GraphDefinition::share() const { return {hierarchy_, graph_}; }

void GraphDefinition::close() {
  graph_ = nullptr;
  hierarchy_ = nullptr;
  detail::safe_point();
}

}  // namespace cucore
