// Graph definitions: see graph.hpp.
#include "cpu/runtime/graph/graph.hpp"

#include <algorithm>
#include <atomic>
#include <unordered_map>
#include <utility>

#include "cpu/runtime/process/handle_table.hpp"

namespace cucore::cpu::runtime {

namespace {

using GraphTable = HandleTable<Graph, HandleKind::Graph>;
GraphTable& graph_table() {
  static auto* table = new GraphTable;
  return *table;
}

using NodeTable = HandleTable<GraphNode, HandleKind::GraphNode>;
NodeTable& node_table() {
  static auto* table = new NodeTable;
  return *table;
}

std::atomic<std::uint64_t> next_node_id{1};

using Edges = std::vector<GraphNode::Edge>;

Edges::iterator find_edge(Edges& edges, const GraphNode& node) {
  return std::find_if(edges.begin(), edges.end(), [&](const auto& edge) { return edge.node == &node; });
}

bool is_valid(const CUgraphEdgeData* data) {
  return !data || (data->type <= CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC && data->to_port == 0 && data->from_port <= 2);
}

/// Graphs that a node owns.
std::vector<std::shared_ptr<Graph>> graphs_of(const GraphNode& node) {
  if (const auto* const child = std::get_if<ChildPayload>(node.payload.get())) return {child->graph};
  if (const auto* const conditional = std::get_if<ConditionalPayload>(node.payload.get())) return conditional->bodies;
  return {};
}

/// A payload for a clone: graphs inside are cloned too, all else is shared.
std::shared_ptr<const Payload> cloned(const std::shared_ptr<const Payload>& payload) {
  if (const auto* const child = std::get_if<ChildPayload>(payload.get())) {
    const std::shared_ptr<Graph> graph = child->graph->clone();
    graph->set_owned();
    return std::make_shared<Payload>(ChildPayload{graph});
  }
  if (const auto* const conditional = std::get_if<ConditionalPayload>(payload.get())) {
    ConditionalPayload copy = *conditional;
    copy.body_handles.clear();
    for (auto& body : copy.bodies) {
      body = body->clone();
      body->set_owned();
      copy.body_handles.push_back(body->handle());
    }
    return std::make_shared<Payload>(std::move(copy));
  }
  return payload;
}

}  // namespace

std::recursive_mutex& graph_mutex() {
  static auto* mutex = new std::recursive_mutex;
  return *mutex;
}

unsigned int Graph::next_id() {
  static std::atomic<unsigned int> next{1};
  return next.fetch_add(1);
}

Graph::Graph() = default;

Graph::~Graph() = default;

std::shared_ptr<Graph> Graph::create() {
  auto graph = std::make_shared<Graph>();
  graph->handle_ = reinterpret_cast<CUgraph>(graph_table().insert(graph));
  return graph;
}

Result<std::shared_ptr<GraphNode>> Graph::add(std::shared_ptr<const Payload> payload,
                                              std::span<const CUgraphNode> dependencies, const CUgraphEdgeData* data) {
  std::vector<std::shared_ptr<GraphNode>> found;
  for (std::size_t i = 0; i < dependencies.size(); ++i) {
    auto dependency = find_graph_node(dependencies[i]);
    if (!dependency || dependency->graph != this || !is_valid(data ? data + i : nullptr) ||
        std::find(found.begin(), found.end(), dependency) != found.end())
      return ErrorCode::InvalidValue;
    found.push_back(std::move(dependency));
  }
  if (const auto* const conditional = std::get_if<ConditionalPayload>(payload.get())) {
    Condition* const condition = find_condition(conditional->handle);
    if (!condition || std::exchange(condition->is_taken, true)) return ErrorCode::InvalidValue;
  }
  auto made = std::make_shared<GraphNode>();
  made->graph = this;
  made->id = next_node_id.fetch_add(1);
  made->payload = std::move(payload);
  made->handle = reinterpret_cast<CUgraphNode>(node_table().insert(made));
  nodes_.push_back(made);
  for (std::size_t i = 0; i < found.size(); ++i) (void)connect(*found[i], *made, data ? data + i : nullptr);
  return made;
}

Result<void> Graph::connect(GraphNode& from, GraphNode& to, const CUgraphEdgeData* data) {
  if (from.graph != this || to.graph != this || &from == &to || !is_valid(data)) return ErrorCode::InvalidValue;
  if (find_edge(to.dependencies, from) != to.dependencies.end()) return ErrorCode::InvalidValue;
  const CUgraphEdgeData kept = data ? *data : CUgraphEdgeData{};
  to.dependencies.push_back({&from, kept});
  from.dependents.push_back({&to, kept});
  return {};
}

Result<void> Graph::disconnect(GraphNode& from, GraphNode& to) {
  const auto in = find_edge(to.dependencies, from);
  if (from.graph != this || in == to.dependencies.end()) return ErrorCode::InvalidValue;
  to.dependencies.erase(in);
  from.dependents.erase(find_edge(from.dependents, to));
  return {};
}

Result<void> Graph::remove(GraphNode& node) {
  if (is_updatable(*node.payload)) return ErrorCode::InvalidValue;  // such a node stays
  if (has_memory_nodes()) return ErrorCode::NotSupported;
  for (const auto& edge : node.dependencies) edge.node->dependents.erase(find_edge(edge.node->dependents, node));
  for (const auto& edge : node.dependents) edge.node->dependencies.erase(find_edge(edge.node->dependencies, node));
  for (const auto& graph : graphs_of(node)) graph->end_handles();
  node_table().remove(node.handle);
  std::erase_if(nodes_, [&](const auto& each) { return each.get() == &node; });
  return {};
}

void Graph::end_handles() {
  for (const auto& node : nodes_) {
    for (const auto& graph : graphs_of(*node)) graph->end_handles();
    node_table().remove(node->handle);
  }
  graph_table().remove(handle_);
}

std::shared_ptr<Graph> Graph::clone() const {
  std::shared_ptr<Graph> copy = create();
  copy->user_objects = user_objects;
  copy->conditions_ = conditions_;
  std::unordered_map<const GraphNode*, GraphNode*> made;
  for (const auto& node : nodes_) {
    const auto twin = copy->add(cloned(node->payload), {}, nullptr);
    (*twin)->original = node->id;
    made[node.get()] = twin->get();
  }
  for (const auto& node : nodes_)
    for (const auto& edge : node->dependencies) (void)copy->connect(*made[edge.node], *made[node.get()], &edge.data);
  return copy;
}

std::vector<GraphNode*> Graph::sorted() const {
  std::unordered_map<const GraphNode*, std::size_t> missing;
  std::vector<GraphNode*> order;
  for (const auto& node : nodes_) {
    missing[node.get()] = node->dependencies.size();
    if (node->dependencies.empty()) order.push_back(node.get());
  }
  for (std::size_t i = 0; i < order.size(); ++i)
    for (const auto& edge : order[i]->dependents)
      if (--missing[edge.node] == 0) order.push_back(edge.node);
  if (order.size() != nodes_.size()) order.clear();
  return order;
}

bool Graph::has_memory_nodes() const {
  return std::any_of(nodes_.begin(), nodes_.end(), [](const auto& node) {
    return std::holds_alternative<AllocPayload>(*node->payload) || std::holds_alternative<FreePayload>(*node->payload);
  });
}

bool Graph::has_conditional_nodes() const {
  return std::any_of(nodes_.begin(), nodes_.end(),
                     [](const auto& node) { return std::holds_alternative<ConditionalPayload>(*node->payload); });
}

bool Graph::has_updatable_nodes() const {
  return std::any_of(nodes_.begin(), nodes_.end(), [](const auto& node) { return is_updatable(*node->payload); });
}

CUgraphConditionalHandle Graph::create_condition(unsigned int default_value, bool is_assigned_at_launch) {
  // Kernels that were given the handle may outlive the graph: these few bytes are kept for ever.
  static auto* const kept = new std::vector<std::shared_ptr<Condition>>;
  auto condition = std::make_shared<Condition>();
  condition->value = default_value;
  condition->default_value = default_value;
  condition->is_assigned_at_launch = is_assigned_at_launch;
  kept->push_back(condition);
  conditions_.push_back(condition);
  return reinterpret_cast<CUgraphConditionalHandle>(&condition->value);
}

Condition* Graph::find_condition(CUgraphConditionalHandle handle) const {
  const auto found = std::find_if(conditions_.begin(), conditions_.end(), [&](const auto& condition) {
    return reinterpret_cast<CUgraphConditionalHandle>(&condition->value) == handle;
  });
  return found == conditions_.end() ? nullptr : found->get();
}

void Graph::inherit_conditions(const Graph& outer) { conditions_ = outer.conditions_; }

std::shared_ptr<Graph> find_graph(CUgraph handle) { return graph_table().find(handle); }

std::shared_ptr<GraphNode> find_graph_node(CUgraphNode handle) { return node_table().find(handle); }

Result<void> destroy_graph(CUgraph handle) {
  const auto graph = graph_table().find(handle);
  if (!graph || graph->is_owned()) return ErrorCode::InvalidValue;
  graph->end_handles();
  return {};
}

}  // namespace cucore::cpu::runtime
