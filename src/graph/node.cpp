// GraphNode and its kinds: their types and parameters.
#include "cucore/graph_node.hpp"

#include <utility>

#include "cucore/error.hpp"
#include "cucore/graph_definition.hpp"
#include "src/device/event_state.hpp"
#include "src/driver/table.hpp"
#include "src/graph/callbacks.hpp"
#include "src/graph/state.hpp"

namespace cucore {
namespace {

using detail::NodeState;

const NodeState& known(const GraphNode& node, const char* call) {
  if (node.state() == nullptr) detail::open_node(node, call);  // throws
  return *node.state();
}

// A copy, since an update in another thread may replace them.
template <class Parameters>
Parameters parameters_of(const GraphNode& node, const char* call) {
  const NodeState& state = known(node, call);
  const std::scoped_lock lock(node.hierarchy()->mutex);
  return std::get<Parameters>(state.parameters);
}

}  // namespace

GraphNode::GraphNode(std::shared_ptr<detail::GraphHierarchy> hierarchy,
                     std::shared_ptr<detail::NodeState> node) noexcept
    : GraphPoint(std::move(hierarchy), node->graph, nullptr) {
  node_ = std::move(node);
}

GraphNodeHandle GraphNode::handle() const noexcept { return node_ == nullptr ? nullptr : node_->handle; }

bool GraphNode::is_valid() const noexcept { return handle() != nullptr; }

GraphNodeType GraphNode::type() const { return known(*this, "GraphNode::type").type; }

GraphDefinition GraphNode::graph() const {
  known(*this, "GraphNode::graph");
  return {hierarchy_, graph_};
}

void GraphNode::refuse_type(GraphNodeType wanted) const {
  throw TypeError({.call = "GraphNode::as",
                   .message = describe(*node_) + " is no " + detail::describe(wanted) + " node",
                   .hint = "ask for its type() first"});
}

std::array<std::shared_ptr<const void>, 2> GraphNode::owners() const {
  const NodeState& state = known(*this, "GraphNode::owners");
  const std::scoped_lock lock(hierarchy_->mutex);
  return state.owners;
}

void GraphNode::destroy() const {
  known(*this, "GraphNode::destroy");
  detail::LetGo let_go;
  const std::scoped_lock lock(hierarchy_->mutex);
  NodeState& node = *node_;
  if (node.handle == nullptr) return;
  let_go.reserve(node);
  let_go.nodes.reserve(let_go.nodes.size() + 1);
  const driver::CUgraphNode handle = node.handle;
  driver::check(
      driver::table().cuGraphDestroyNode(handle), "cuGraphDestroyNode", [&] { return describe(node); },
      "nodes cannot be removed from graphs with allocation or free nodes");
  detail::release_retained(graph_->handle, node.retained);
  detail::invalidate(*hierarchy_, node, let_go);
  graph_->nodes.erase(handle);
}

Kernel KernelNode::kernel() const {
  return parameters_of<detail::KernelParameters>(*this, "KernelNode::kernel").kernel;
}

LaunchConfig KernelNode::config() const {
  return parameters_of<detail::KernelParameters>(*this, "KernelNode::config").config;
}

DevicePointer MemcpyNode::dst() const { return parameters_of<detail::MemcpyParameters>(*this, "MemcpyNode::dst").dst; }
DevicePointer MemcpyNode::src() const { return parameters_of<detail::MemcpyParameters>(*this, "MemcpyNode::src").src; }
std::size_t MemcpyNode::size() const { return parameters_of<detail::MemcpyParameters>(*this, "MemcpyNode::size").size; }
bool MemcpyNode::is_dst_host() const {
  return parameters_of<detail::MemcpyParameters>(*this, "MemcpyNode::is_dst_host").is_dst_host;
}
bool MemcpyNode::is_src_host() const {
  return parameters_of<detail::MemcpyParameters>(*this, "MemcpyNode::is_src_host").is_src_host;
}
bool MemcpyNode::is_linear() const {
  return parameters_of<detail::MemcpyParameters>(*this, "MemcpyNode::is_linear").is_linear;
}

DevicePointer MemsetNode::dst() const { return parameters_of<detail::MemsetParameters>(*this, "MemsetNode::dst").dst; }
std::uint32_t MemsetNode::value() const {
  return parameters_of<detail::MemsetParameters>(*this, "MemsetNode::value").value;
}
unsigned MemsetNode::element_size() const {
  return parameters_of<detail::MemsetParameters>(*this, "MemsetNode::element_size").element_size;
}
std::size_t MemsetNode::width() const {
  return parameters_of<detail::MemsetParameters>(*this, "MemsetNode::width").width;
}
std::size_t MemsetNode::height() const {
  return parameters_of<detail::MemsetParameters>(*this, "MemsetNode::height").height;
}
std::size_t MemsetNode::pitch() const {
  return parameters_of<detail::MemsetParameters>(*this, "MemsetNode::pitch").pitch;
}

DevicePointer AllocNode::dptr() const { return parameters_of<detail::AllocParameters>(*this, "AllocNode::dptr").dptr; }
std::size_t AllocNode::bytesize() const {
  return parameters_of<detail::AllocParameters>(*this, "AllocNode::bytesize").bytesize;
}
int AllocNode::device_id() const {
  return parameters_of<detail::AllocParameters>(*this, "AllocNode::device_id").device_id;
}
GraphMemoryType AllocNode::memory_type() const {
  return parameters_of<detail::AllocParameters>(*this, "AllocNode::memory_type").memory_type;
}
std::vector<int> AllocNode::peer_access() const {
  return parameters_of<detail::AllocParameters>(*this, "AllocNode::peer_access").peer_access;
}

DevicePointer FreeNode::dptr() const { return parameters_of<detail::FreeParameters>(*this, "FreeNode::dptr").dptr; }

GraphDefinition ChildGraphNode::child_graph() const {
  return {hierarchy_, parameters_of<detail::ChildParameters>(*this, "ChildGraphNode::child_graph").graph};
}

Event EventRecordNode::event() const {
  return Event(parameters_of<detail::EventParameters>(*this, "EventRecordNode::event").event);
}

Event EventWaitNode::event() const {
  return Event(parameters_of<detail::EventParameters>(*this, "EventWaitNode::event").event);
}

HostFunction HostCallbackNode::c_function() const {
  return parameters_of<detail::HostParameters>(*this, "HostCallbackNode::c_function").function;
}
void* HostCallbackNode::user_data() const {
  return parameters_of<detail::HostParameters>(*this, "HostCallbackNode::user_data").user_data;
}
std::shared_ptr<const std::function<void()>> HostCallbackNode::function() const {
  auto callback = parameters_of<detail::HostParameters>(*this, "HostCallbackNode::function").callback;
  if (callback == nullptr) return nullptr;
  const auto* const function = &callback->function;
  return {std::move(callback), function};
}

std::optional<GraphCondition> ConditionalNode::condition() const {
  return parameters_of<detail::ConditionalParameters>(*this, "ConditionalNode::condition").condition;
}
std::optional<GraphConditionalType> ConditionalNode::cond_type() const {
  return parameters_of<detail::ConditionalParameters>(*this, "ConditionalNode::cond_type").type;
}
std::vector<GraphDefinition> ConditionalNode::branches() const {
  std::vector<GraphDefinition> bodies;
  for (auto& branch : parameters_of<detail::ConditionalParameters>(*this, "ConditionalNode::branches").branches) {
    bodies.push_back(GraphDefinition(hierarchy_, branch));
  }
  return bodies;
}

}  // namespace cucore
