// GraphNode: edges.
#include <algorithm>
#include <string>

#include "cucore/error.hpp"
#include "cucore/graph_node.hpp"
#include "src/device/context_state.hpp"
#include "src/driver/table.hpp"
#include "src/graph/state.hpp"

namespace cucore {
namespace {

using detail::GraphState;
using detail::NodeState;

enum class Side { pred, succ };

/// The node at the other end, and what the driver knows of the edge.
struct Edge {
  driver::CUgraphNode node;
  driver::CUgraphEdgeData data;
  bool operator==(const Edge& other) const noexcept { return node == other.node; }
};
using Edges = std::vector<Edge>;

Edges edges_of(const NodeState& node, Side side) {
  const driver::Table& table = driver::table();
  const auto ask = [&](driver::CUgraphNode* nodes, driver::CUgraphEdgeData* data, std::size_t* count) {
    if (side == Side::pred) {
      driver::check(table.cuGraphNodeGetDependencies(node.handle, nodes, data, count), "cuGraphNodeGetDependencies",
                    [&] { return describe(node); });
    } else {
      driver::check(table.cuGraphNodeGetDependentNodes(node.handle, nodes, data, count), "cuGraphNodeGetDependentNodes",
                    [&] { return describe(node); });
    }
  };
  std::size_t count = 0;
  ask(nullptr, nullptr, &count);
  std::vector<driver::CUgraphNode> nodes(count);
  std::vector<driver::CUgraphEdgeData> data(count);
  if (count != 0) ask(nodes.data(), data.data(), &count);
  Edges edges;
  for (std::size_t i = 0; i < count; ++i) edges.push_back({nodes[i], data[i]});
  return edges;
}

// The call's arguments, from a node's edges.
struct Ends {
  std::vector<driver::CUgraphNode> from;
  std::vector<driver::CUgraphNode> to;
  std::vector<driver::CUgraphEdgeData> data;

  Ends(const NodeState& node, Side side, const Edges& edges) {
    for (const Edge& edge : edges) {
      from.push_back(side == Side::pred ? edge.node : node.handle);
      to.push_back(side == Side::pred ? node.handle : edge.node);
      data.push_back(edge.data);
    }
  }
};

driver::CUresult add_edges(const NodeState& node, Side side, const Edges& edges) {
  if (edges.empty()) return driver::CUDA_SUCCESS;
  const Ends ends(node, side, edges);
  return driver::table().cuGraphAddDependencies(node.graph->handle, ends.from.data(), ends.to.data(), ends.data.data(),
                                                edges.size());
}

driver::CUresult remove_edges(const NodeState& node, Side side, const Edges& edges) {
  if (edges.empty()) return driver::CUDA_SUCCESS;
  const Ends ends(node, side, edges);
  return driver::table().cuGraphRemoveDependencies(node.graph->handle, ends.from.data(), ends.to.data(),
                                                   ends.data.data(), edges.size());
}

// What was asked for, each node once. Lock held.
Edges wanted(const NodeState& node, std::span<const GraphNode> others, const char* call) {
  Edges edges;
  for (const GraphNode& other : others) {
    const NodeState* const end = other.state().get();
    const char* const why = end == nullptr || end->graph != node.graph ? "the other node is of another graph"
                            : end->handle == nullptr                   ? "the other node has been destroyed"
                            : end == &node                             ? "a node cannot depend on itself"
                                                                       : nullptr;
    if (why != nullptr) driver::fail(driver::CUDA_ERROR_INVALID_VALUE, call, describe(node), why);
    const Edge edge{end->handle, {}};
    if (std::find(edges.begin(), edges.end(), edge) == edges.end()) edges.push_back(edge);
  }
  return edges;
}

Edges difference(const Edges& of, const Edges& without) {
  Edges left;
  for (const Edge& edge : of) {
    if (std::find(without.begin(), without.end(), edge) == without.end()) left.push_back(edge);
  }
  return left;
}

constexpr const char* no_removal = "edges cannot be removed from graphs with allocation or free nodes";

void add(const GraphNode& to, Side side, std::span<const GraphNode> others, const char* call) {
  detail::open_node(to, call);
  const std::scoped_lock lock(to.hierarchy()->mutex);
  const NodeState& node = detail::open_node(to, call);
  const Edges added = difference(wanted(node, others, "cuGraphAddDependencies"), edges_of(node, side));
  driver::check(add_edges(node, side, added), "cuGraphAddDependencies", [&] { return describe(node); });
}

void remove(const GraphNode& from, Side side, std::span<const GraphNode> others, const char* call) {
  detail::open_node(from, call);
  const std::scoped_lock lock(from.hierarchy()->mutex);
  const NodeState& node = detail::open_node(from, call);
  const Edges there = edges_of(node, side);  // with their data, which the driver wants too
  const Edges removed = difference(there, difference(there, wanted(node, others, "cuGraphRemoveDependencies")));
  driver::check(
      remove_edges(node, side, removed), "cuGraphRemoveDependencies", [&] { return describe(node); }, no_removal);
}

void assign(const GraphNode& to, Side side, std::span<const GraphNode> others, const char* call) {
  detail::open_node(to, call);
  const std::scoped_lock lock(to.hierarchy()->mutex);
  const NodeState& node = detail::open_node(to, call);
  const Edges there = edges_of(node, side);
  const Edges asked_for = wanted(node, others, "cuGraphAddDependencies");
  const Edges removed = difference(there, asked_for);
  driver::check(
      remove_edges(node, side, removed), "cuGraphRemoveDependencies", [&] { return describe(node); }, no_removal);
  const driver::CUresult code = add_edges(node, side, difference(asked_for, there));
  if (code == driver::CUDA_SUCCESS) return;
  const bool is_as_before = add_edges(node, side, removed) == driver::CUDA_SUCCESS;
  driver::fail(code, "cuGraphAddDependencies", describe(node),
               is_as_before ? "its edges are as before" : "the edges that were removed before could not be put back");
}

std::vector<GraphNode> neighbours(const GraphNode& of, Side side) {
  std::vector<GraphNode> nodes;
  if (!of.is_valid()) return nodes;
  const std::scoped_lock lock(of.hierarchy()->mutex);
  const NodeState& node = *of.state();
  if (node.handle == nullptr) return nodes;
  for (const Edge& edge : edges_of(node, side)) {
    nodes.emplace_back(of.hierarchy(), detail::node_of(*of.hierarchy(), node.graph, edge.node));
  }
  return nodes;
}

}  // namespace

std::vector<GraphNode> GraphNode::pred() const { return neighbours(*this, Side::pred); }
std::vector<GraphNode> GraphNode::succ() const { return neighbours(*this, Side::succ); }

void GraphNode::add_pred(std::span<const GraphNode> nodes) const {
  add(*this, Side::pred, nodes, "GraphNode::add_pred");
}
void GraphNode::add_succ(std::span<const GraphNode> nodes) const {
  add(*this, Side::succ, nodes, "GraphNode::add_succ");
}
void GraphNode::remove_pred(std::span<const GraphNode> nodes) const {
  remove(*this, Side::pred, nodes, "GraphNode::remove_pred");
}
void GraphNode::remove_succ(std::span<const GraphNode> nodes) const {
  remove(*this, Side::succ, nodes, "GraphNode::remove_succ");
}
void GraphNode::set_pred(std::span<const GraphNode> nodes) const {
  assign(*this, Side::pred, nodes, "GraphNode::set_pred");
}
void GraphNode::set_succ(std::span<const GraphNode> nodes) const {
  assign(*this, Side::succ, nodes, "GraphNode::set_succ");
}

}  // namespace cucore
