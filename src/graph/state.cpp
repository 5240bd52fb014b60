// Hierarchies of graphs: states, retention, and what is destroyed with what.
#include "src/graph/state.hpp"

#include <algorithm>
#include <atomic>

#include "cucore/error.hpp"
#include "src/device/context_state.hpp"
#include "src/driver/table.hpp"
#include "src/error/closed.hpp"
#include "src/error/hexadecimal.hpp"
#include "src/graph/callbacks.hpp"

namespace cucore::detail {

Retention::Retention(const Owners& owners) {
  if (owners[0] == nullptr && owners[1] == nullptr) return;
  auto release = std::make_unique<DeferredRelease>();
  release->owners = owners;
  driver::check(driver::table().cuUserObjectCreate(&object_, release.get(), &defer_release, 1,
                                                   driver::CU_USER_OBJECT_NO_DESTRUCTOR_SYNC),
                "cuUserObjectCreate", "what a graph node keeps alive");
  [[maybe_unused]] const auto* const taken_over = release.release();  // by the user object
}

Retention::~Retention() {
  const driver::Table* table = driver::table_for_release();
  if (object_ == nullptr || table == nullptr) return;
  if (const driver::CUresult code = table->cuUserObjectRelease(object_, 1); code != driver::CUDA_SUCCESS) {
    report_release_failure(code, "cuUserObjectRelease", object_);
  }
}

driver::CUuserObject Retention::attach(driver::CUgraph graph) {
  if (object_ == nullptr) return nullptr;
  driver::check(driver::table().cuGraphRetainUserObject(graph, object_, 1, driver::CU_GRAPH_USER_OBJECT_MOVE),
                "cuGraphRetainUserObject", [&] { return "graph " + hexadecimal(graph); });
  return std::exchange(object_, nullptr);
}

void release_retained(driver::CUgraph graph, driver::CUuserObject object) noexcept {
  const driver::Table* table = driver::table_for_release();
  if (object == nullptr || table == nullptr) return;
  const driver::CUresult code = table->cuGraphReleaseUserObject(graph, object, 1);
  if (code != driver::CUDA_SUCCESS) report_release_failure(code, "cuGraphReleaseUserObject", object);
}

std::uint64_t change_time() noexcept {
  static std::atomic<std::uint64_t> time{0};
  return time.fetch_add(1, std::memory_order_relaxed) + 1;
}

LetGo::~LetGo() {
  graphs.clear();
  nodes.clear();
  owners.clear();
  safe_point();
}

namespace {

// The graphs that a node owns.
template <class Visit>
void for_owned_graphs(const NodeState& node, Visit&& visit) {
  if (const auto* const child = std::get_if<ChildParameters>(&node.parameters)) {
    if (child->graph != nullptr) visit(child->graph);
  } else if (const auto* const conditional = std::get_if<ConditionalParameters>(&node.parameters)) {
    for (const auto& branch : conditional->branches) visit(branch);
  }
}

void count(const NodeState& node, std::size_t& nodes, std::size_t& graphs) {
  ++nodes;
  for_owned_graphs(node, [&](const auto& graph) {
    ++graphs;
    for (const auto& [handle, inner] : graph->nodes) count(*inner, nodes, graphs);
  });
}

}  // namespace

void LetGo::reserve(const NodeState& node) {
  std::size_t more_nodes = 0;
  std::size_t more_graphs = 0;
  count(node, more_nodes, more_graphs);
  owners.reserve(owners.size() + more_nodes);
  nodes.reserve(nodes.size() + more_nodes);
  graphs.reserve(graphs.size() + more_graphs);
}

void invalidate(GraphHierarchy& hierarchy, NodeState& node, LetGo& let_go) noexcept {
  node.handle = nullptr;
  node.retained = nullptr;  // the graph's to release, or released by the caller
  let_go.owners.push_back(std::exchange(node.owners, {}));
  // A function is released with what it holds; of the rest the node stays readable.
  if (auto* const host = std::get_if<HostParameters>(&node.parameters)) host->callback = nullptr;
  for_owned_graphs(node, [&](const std::shared_ptr<GraphState>& graph) { invalidate(hierarchy, graph, let_go); });
}

void invalidate(GraphHierarchy& hierarchy, const std::shared_ptr<GraphState>& graph, LetGo& let_go) noexcept {
  graph->handle = nullptr;
  for (auto& [handle, inner] : graph->nodes) {
    invalidate(hierarchy, *inner, let_go);
    let_go.nodes.push_back(std::move(inner));
  }
  graph->nodes.clear();
  let_go.graphs.push_back(graph);
  std::erase(hierarchy.graphs, graph);
}

GraphHierarchy::~GraphHierarchy() {
  owned.reset();
  // Nodes and graphs refer to one another.
  for (const auto& graph : graphs) graph->handle = nullptr;
  LetGo let_go;
  for (const auto& graph : graphs) {
    for (auto& [handle, node] : graph->nodes) {
      node->handle = nullptr;
      node->owners = {};
    }
    graph->nodes.clear();
  }
}

std::shared_ptr<GraphHierarchy> GraphHierarchy::adopt(driver::CUgraph handle) {
  OwningHandle<GraphTraits> taken(handle);
  auto hierarchy = std::make_shared<GraphHierarchy>();
  hierarchy->errors = std::make_shared<CallbackErrors>();
  hierarchy->root = hierarchy->graph(handle);
  hierarchy->owned = std::move(taken);
  return hierarchy;
}

std::shared_ptr<GraphHierarchy> GraphHierarchy::create() {
  driver::CUgraph handle = nullptr;
  driver::check(driver::table().cuGraphCreate(&handle, 0), "cuGraphCreate", "a new graph");
  return adopt(handle);
}

std::shared_ptr<GraphState> GraphHierarchy::graph(driver::CUgraph handle) {
  for (const auto& known : graphs) {
    if (known->handle == handle) return known;
  }
  auto state = std::make_shared<GraphState>();
  state->handle = handle;
  graphs.push_back(state);
  return state;
}

std::shared_ptr<NodeState> node_of(GraphHierarchy& hierarchy, const std::shared_ptr<GraphState>& graph,
                                   driver::CUgraphNode handle) {
  if (const auto known = graph->nodes.find(handle); known != graph->nodes.end()) return known->second;
  auto state = std::make_shared<NodeState>();
  int type = 0;
  driver::check(driver::table().cuGraphNodeGetType(handle, &type), "cuGraphNodeGetType",
                [&] { return "graph node " + hexadecimal(handle); });
  state->type = static_cast<GraphNodeType>(type);
  state->graph = graph;
  state->handle = handle;
  state->parameters = read_parameters(hierarchy, handle, state->type, state->owners);
  graph->nodes.emplace(handle, state);
  return state;
}

void adopt_nodes(const GraphState& graph, GraphHierarchy& hierarchy, const std::shared_ptr<GraphState>& clone) {
  const driver::Table& table = driver::table();
  for (const auto& [handle, node] : graph.nodes) {
    driver::CUgraphNode twin = nullptr;
    if (table.cuGraphNodeFindInClone(&twin, handle, clone->handle) != driver::CUDA_SUCCESS) continue;
    auto state = std::make_shared<NodeState>();
    state->type = node->type;
    state->graph = clone;
    state->handle = twin;
    state->owners = node->owners;
    state->retained = node->retained;
    if (const auto* const child = std::get_if<ChildParameters>(&node->parameters)) {
      driver::CUgraph inner = nullptr;
      driver::check(table.cuGraphChildGraphNodeGetGraph(twin, &inner), "cuGraphChildGraphNodeGetGraph",
                    [&] { return describe(*state); });
      auto inner_state = hierarchy.graph(inner);
      state->parameters = ChildParameters{inner_state};
      adopt_nodes(*child->graph, hierarchy, inner_state);
    } else if (std::holds_alternative<ConditionalParameters>(node->parameters)) {
      state->parameters = read_parameters(hierarchy, twin, state->type, state->owners);
    } else {
      state->parameters = node->parameters;
    }
    clone->nodes.emplace(twin, std::move(state));
  }
}

void adopt_captured_node(GraphHierarchy& hierarchy, const std::shared_ptr<GraphState>& graph,
                         driver::CUgraphNode handle, Owners owners, driver::CUuserObject retained) {
  if (handle == nullptr) return;
  const auto node = node_of(hierarchy, graph, handle);
  node->owners = std::move(owners);
  node->retained = retained;
}

GraphHierarchy& open_hierarchy(const GraphPoint& point, const char* call) {
  if (point.hierarchy() == nullptr) refuse_closed("GraphDefinition", call);
  return *point.hierarchy();
}

GraphState& open_graph(const GraphPoint& point, const char* call) {
  GraphState& graph = *point.graph_state();
  if (graph.handle == nullptr) {
    throw StateError({.call = call,
                      .message = "the graph is no longer valid: the node that owned it has been destroyed or updated",
                      .hint = "ask the node for its graph again"});
  }
  return graph;
}

void require_valid(const NodeState& node, const char* call) {
  if (node.handle != nullptr) return;
  throw StateError({.call = call,
                    .message = "the graph node (" + describe(node.type) +
                               ") is no longer valid: it, or a node that owned its graph, was destroyed",
                    .hint = "add a new node"});
}

NodeState& open_node(const GraphNode& node, const char* call) {
  if (node.state() == nullptr) {
    throw StateError({.call = call, .message = "this GraphNode refers to nothing", .hint = "use a node of a graph"});
  }
  require_valid(*node.state(), call);
  return *node.state();
}

namespace {

const char* type_name(GraphNodeType type) {
  switch (type) {
    case GraphNodeType::kernel:
      return "kernel";
    case GraphNodeType::memcpy:
      return "memcpy";
    case GraphNodeType::memset:
      return "memset";
    case GraphNodeType::host:
      return "host callback";
    case GraphNodeType::graph:
      return "child graph";
    case GraphNodeType::empty:
      return "empty";
    case GraphNodeType::wait_event:
      return "event wait";
    case GraphNodeType::event_record:
      return "event record";
    case GraphNodeType::mem_alloc:
      return "allocation";
    case GraphNodeType::mem_free:
      return "free";
    case GraphNodeType::conditional:
      return "conditional";
    default:
      return "another type";
  }
}

}  // namespace

std::string describe(GraphNodeType type) { return type_name(type); }

std::string describe(const NodeState& node) {
  return "graph node " + hexadecimal(node.handle) + " (" + type_name(node.type) + ")";
}

std::string describe(const GraphState& graph) { return "graph " + hexadecimal(graph.handle); }

std::shared_ptr<const ContextState> recorded_context() {
  auto current = current_context();
  return current != nullptr ? current : primary_context(0);
}

}  // namespace cucore::detail
