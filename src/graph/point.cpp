// GraphPoint: adding nodes.
#include <algorithm>
#include <utility>
#include <vector>

#include "cucore/argument_pack.hpp"
#include "cucore/error.hpp"
#include "cucore/graph_definition.hpp"
#include "cucore/graph_node.hpp"
#include "src/driver/table.hpp"
#include "src/graph/callbacks.hpp"
#include "src/graph/request.hpp"
#include "src/graph/state.hpp"
#include "src/handles/context_scope.hpp"
#include "src/handles/release_report.hpp"

namespace cucore {
namespace {

using detail::GraphHierarchy;
using detail::GraphState;
using detail::NodeRequest;
using detail::NodeState;

// The driver's handles of the nodes that a new one depends on. Lock held.
std::vector<driver::CUgraphNode> dependencies_of(const GraphPoint& point, const GraphState& graph,
                                                 const std::shared_ptr<NodeState>& node,
                                                 std::span<const GraphNode> others, const char* call) {
  std::vector<driver::CUgraphNode> handles;
  const auto add = [&](const std::shared_ptr<NodeState>& state) {
    const bool is_here = state != nullptr && state->graph == point.graph_state();
    if (!is_here || state->handle == nullptr) {
      driver::fail(
          driver::CUDA_ERROR_INVALID_VALUE, call, describe(graph),
          is_here ? "a node it is to depend on has been destroyed" : "a node it is to depend on is of another graph");
    }
    if (std::find(handles.begin(), handles.end(), state->handle) == handles.end()) handles.push_back(state->handle);
  };
  if (node != nullptr) {
    detail::require_valid(*node, call);
    add(node);
  }
  for (const GraphNode& other : others) add(other.state());
  return handles;
}

// Takes back what a node was added with; what cannot be taken back is reported.
void remove_added(driver::CUgraph graph, driver::CUgraphNode node, driver::CUuserObject retained) noexcept {
  const driver::CUresult code = driver::table().cuGraphDestroyNode(node);
  if (code == driver::CUDA_SUCCESS) {
    detail::release_retained(graph, retained);
  } else {
    detail::report_release_failure(code, "cuGraphDestroyNode", node);
  }
}

// Fills in a node's state once the driver has made the node.
void complete(GraphHierarchy& hierarchy, NodeState& node, const NodeRequest& request) {
  const driver::Table& table = driver::table();
  if (request.launch != nullptr) {
    const driver::CUlaunchConfig& launch = request.launch->native;
    for (unsigned i = 0; i < launch.numAttrs; ++i) {
      const driver::CUresult code =
          table.cuGraphKernelNodeSetAttribute(node.handle, launch.attrs[i].id, &launch.attrs[i].value);
      if (code != driver::CUDA_SUCCESS) {
        detail::refuse_request(code, "cuGraphKernelNodeSetAttribute", request, describe(node));
      }
    }
  } else if (auto* const alloc = std::get_if<detail::AllocParameters>(&node.parameters)) {
    alloc->dptr = request.native.alloc.dptr;
  } else if (auto* const conditional = std::get_if<detail::ConditionalParameters>(&node.parameters)) {
    for (unsigned i = 0; i < request.native.conditional.size; ++i) {
      conditional->branches.push_back(hierarchy.graph(request.native.conditional.phGraph_out[i]));
    }
  } else if (auto* const child = std::get_if<detail::ChildParameters>(&node.parameters)) {
    driver::CUgraph embedded = nullptr;
    driver::check(table.cuGraphChildGraphNodeGetGraph(node.handle, &embedded), "cuGraphChildGraphNodeGetGraph",
                  [&] { return describe(node); });
    child->graph = hierarchy.graph(embedded);
    detail::adopt_nodes(*request.cloned, hierarchy, child->graph);
  }
}

// Lock held.
std::shared_ptr<NodeState> add_locked(const GraphPoint& point, const std::shared_ptr<NodeState>& after,
                                      NodeRequest& request, const char* call, detail::LetGo& let_go,
                                      std::span<const GraphNode> others = {}) {
  GraphHierarchy& hierarchy = *point.hierarchy();
  GraphState& graph = detail::open_graph(point, call);
  const auto handles = dependencies_of(point, graph, after, others, call);
  auto node = std::make_shared<NodeState>();
  node->type = request.type();
  node->graph = point.graph_state();
  graph.nodes.reserve(graph.nodes.size() + 1);
  detail::Retention retention(request.owners);
  detail::ContextScope scope(request.context->handle);
  const driver::CUuserObject retained = retention.attach(graph.handle);
  const driver::CUresult code = driver::table().cuGraphAddNode(&node->handle, graph.handle, handles.data(), nullptr,
                                                               handles.size(), &request.native);
  if (code != driver::CUDA_SUCCESS) {
    detail::release_retained(graph.handle, retained);
    detail::refuse_request(code, "cuGraphAddNode", request,
                           "a new node (" + detail::describe(request.type()) + ") in " + describe(graph));
  }
  try {
    node->parameters = request.parameters;
    complete(hierarchy, *node, request);
    scope.restore();
    graph.nodes.emplace(node->handle, node);
  } catch (...) {
    let_go.reserve(*node);
    remove_added(graph.handle, node->handle, retained);
    detail::invalidate(hierarchy, *node, let_go);
    throw;
  }
  node->owners = std::move(request.owners);
  node->retained = retained;
  return node;
}

GraphNode add(const GraphPoint& point, const std::shared_ptr<NodeState>& after, NodeRequest request, const char* call,
              std::span<const GraphNode> others = {}) {
  detail::safe_point();
  GraphHierarchy& hierarchy = detail::open_hierarchy(point, call);
  detail::LetGo let_go;
  const std::scoped_lock lock(hierarchy.mutex);
  return {point.hierarchy(), add_locked(point, after, request, call, let_go, others)};
}

NodeRequest conditional_request(const GraphCondition& condition, GraphConditionalType type, unsigned count) {
  NodeRequest request;
  request.native.type = static_cast<int>(GraphNodeType::conditional);
  request.native.conditional = {condition.handle(), static_cast<int>(type), count, nullptr, request.context->handle};
  request.parameters = detail::ConditionalParameters{condition, type, {}};
  return request;
}

}  // namespace

KernelNode GraphPoint::launch_arguments(const LaunchConfig& config, const Kernel& kernel, void* const* values,
                                        std::span<const Argument> arguments, std::shared_ptr<const void> owner) const {
  check_arguments(kernel, arguments);
  return launch_unchecked(config, kernel, {values, std::move(owner)});
}

KernelNode GraphPoint::launch(const LaunchConfig& config, const ArgumentPack& arguments,
                              std::shared_ptr<const void> owner) const {
  return launch_unchecked(config, arguments.kernel(), {arguments.values(), std::move(owner)});
}

KernelNode GraphPoint::launch_unchecked(const LaunchConfig& config, const Kernel& kernel,
                                        const KernelArguments& arguments) const {
  detail::open_hierarchy(*this, "GraphPoint::launch");
  return KernelNode(add(*this, node_, detail::kernel_request(config, kernel, arguments), "GraphPoint::launch"));
}

MemcpyNode GraphPoint::memcpy(const MemoryOperand& dst, const MemoryOperand& src, std::size_t size) const {
  return MemcpyNode(add(*this, node_, detail::memcpy_request(dst, src, size), "GraphPoint::memcpy"));
}

MemsetNode GraphPoint::memset(const MemoryOperand& dst, const FillPattern& value, std::size_t width, std::size_t height,
                              std::size_t pitch) const {
  return MemsetNode(add(*this, node_, detail::memset_request(dst, value, width, height, pitch), "GraphPoint::memset"));
}

AllocNode GraphPoint::allocate(std::size_t size, const GraphAllocationOptions& options) const {
  return AllocNode(add(*this, node_, detail::alloc_request(size, options), "GraphPoint::allocate"));
}

FreeNode GraphPoint::deallocate(DevicePointer address) const {
  NodeRequest request;
  request.native.type = static_cast<int>(GraphNodeType::mem_free);
  request.native.free.dptr = address;
  request.parameters = detail::FreeParameters{address};
  return FreeNode(add(*this, node_, std::move(request), "GraphPoint::deallocate"));
}

ChildGraphNode GraphPoint::embed(const GraphDefinition& child) const {
  constexpr const char* call = "GraphPoint::embed";
  detail::safe_point();
  GraphHierarchy& hierarchy = detail::open_hierarchy(*this, call);
  GraphHierarchy& source = detail::open_hierarchy(child, call);
  NodeRequest request;
  detail::LetGo let_go;
  const detail::LockBoth lock(hierarchy, source);
  detail::ask_to_embed(child, call, request);
  if (&source != &hierarchy) source.errors->also_in(hierarchy.errors);
  return ChildGraphNode(GraphNode(hierarchy_, add_locked(*this, node_, request, call, let_go)));
}

EventRecordNode GraphPoint::record(const Event& event) const {
  constexpr const char* call = "GraphPoint::record";
  return EventRecordNode(add(*this, node_, detail::event_request(GraphNodeType::event_record, event, call), call));
}

EventWaitNode GraphPoint::wait(const Event& event) const {
  constexpr const char* call = "GraphPoint::wait";
  return EventWaitNode(add(*this, node_, detail::event_request(GraphNodeType::wait_event, event, call), call));
}

HostCallbackNode GraphPoint::callback(std::function<void()> function) const {
  constexpr const char* call = "GraphPoint::callback";
  const auto& errors = detail::open_hierarchy(*this, call).errors;
  return HostCallbackNode(add(*this, node_, detail::host_request(std::move(function), errors, call), call));
}

HostCallbackNode GraphPoint::callback(HostFunction function, void* user_data, std::shared_ptr<const void> owner) const {
  constexpr const char* call = "GraphPoint::callback";
  return HostCallbackNode(add(*this, node_, detail::host_request(function, user_data, std::move(owner), call), call));
}

ConditionalNode GraphPoint::if_then(const GraphCondition& condition) const {
  return ConditionalNode(
      add(*this, node_, conditional_request(condition, GraphConditionalType::if_, 1), "GraphPoint::if_then"));
}

ConditionalNode GraphPoint::if_else(const GraphCondition& condition) const {
  return ConditionalNode(
      add(*this, node_, conditional_request(condition, GraphConditionalType::if_, 2), "GraphPoint::if_else"));
}

ConditionalNode GraphPoint::while_loop(const GraphCondition& condition) const {
  return ConditionalNode(
      add(*this, node_, conditional_request(condition, GraphConditionalType::while_, 1), "GraphPoint::while_loop"));
}

ConditionalNode GraphPoint::switch_on(const GraphCondition& condition, unsigned count) const {
  return ConditionalNode(
      add(*this, node_, conditional_request(condition, GraphConditionalType::switch_, count), "GraphPoint::switch_on"));
}

EmptyNode GraphPoint::join(std::span<const GraphNode> nodes) const {
  NodeRequest request;
  request.native.type = static_cast<int>(GraphNodeType::empty);
  return EmptyNode(add(*this, node_, std::move(request), "GraphPoint::join", nodes));
}

EmptyNode GraphPoint::join(std::initializer_list<GraphNode> nodes) const {
  return join(std::span<const GraphNode>(nodes.begin(), nodes.size()));
}

}  // namespace cucore
