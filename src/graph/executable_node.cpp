// Views of a definition's nodes in an executable graph.
#include <string>
#include <utility>

#include "cucore/error.hpp"
#include "cucore/graph.hpp"
#include "src/driver/table.hpp"
#include "src/graph/exec_state.hpp"
#include "src/graph/request.hpp"
#include "src/handles/context_scope.hpp"

namespace cucore {
namespace {

using detail::GraphExecState;
using detail::NodeRequest;
using detail::NodeState;

std::shared_ptr<GraphExecState> open_view(const std::weak_ptr<GraphExecState>& view, const char* call) {
  auto exec = view.lock();
  if (exec == nullptr) {
    throw StateError({.call = call,
                      .message = "the Graph that this node is in has been closed",
                      .hint = "keep the Graph open as long as its nodes are used"});
  }
  return exec;
}

std::string describe(const GraphExecState& exec, const NodeState& node) {
  return describe(node) + " in " + detail::describe(exec);
}

constexpr const char* membership = "the node must be of the definition that the Graph was instantiated from";

// The owners go into the store once the driver has taken the request. Lock of the definition held.
void set_locked(GraphExecState& exec, const NodeState& node, NodeRequest& request) {
  const std::scoped_lock lock(exec.mutex);
  exec.store->reserve();
  detail::ContextScope scope(request.context->handle);
  const driver::CUresult code = driver::table().cuGraphExecNodeSetParams(exec.handle, node.handle, &request.native);
  if (code == driver::CUDA_ERROR_INVALID_VALUE) {
    driver::fail(code, "cuGraphExecNodeSetParams", describe(exec, node), membership);
  }
  if (code != driver::CUDA_SUCCESS) {
    detail::refuse_request(code, "cuGraphExecNodeSetParams", request, describe(exec, node));
  }
  exec.store->keep(request.owners);
  scope.restore();
}

void set(const std::weak_ptr<GraphExecState>& view, const GraphNode& node, NodeRequest request, const char* call) {
  const auto exec = open_view(view, call);
  detail::open_node(node, call);
  detail::safe_point();
  const std::scoped_lock lock(node.hierarchy()->mutex);
  set_locked(*exec, detail::open_node(node, call), request);
}

void refuse_attributes(const NodeState& node, const char* why) {
  throw StateError({.call = "ExecutableKernelNode::update",
                    .message = describe(node) + ": " + why +
                               ", and the driver cannot change launch attributes (cluster, cooperative, priority...) "
                               "of a node in an executable graph",
                    .hint = "update the definition and call Graph::update() with it, or instantiate it again"});
}

template <class View, class Node>
View view_of(const std::shared_ptr<GraphExecState>& exec, const Node& node) {
  if (exec == nullptr) {
    throw ValueError({.call = "Graph::operator[]",
                      .message = "the Graph has been closed; its nodes cannot be reached",
                      .hint = "instantiate the definition again"});
  }
  if (!node.is_valid()) {
    throw ValueError({.call = "Graph::operator[]",
                      .message = "the graph node is no longer valid: it was destroyed",
                      .hint = "use a node that is in the definition"});
  }
  return View(exec, node);
}

}  // namespace

GraphExecHandle ExecutableGraphNode::graph_handle() const noexcept {
  const auto exec = exec_.lock();
  return exec == nullptr ? nullptr : exec->handle;
}

bool ExecutableGraphNode::get_enabled() const {
  constexpr const char* call = "ExecutableGraphNode::is_enabled";
  const auto exec = open_view(exec_, call);
  const NodeState& node = detail::open_node(node_, call);
  unsigned enabled = 0;
  driver::check(
      driver::table().cuGraphNodeGetEnabled(exec->handle, node.handle, &enabled), "cuGraphNodeGetEnabled",
      [&] { return describe(*exec, node); }, membership);
  return enabled != 0;
}

void ExecutableGraphNode::set_enabled(bool enabled, const char* call) const {
  const auto exec = open_view(exec_, call);
  const NodeState& node = detail::open_node(node_, call);
  const std::scoped_lock lock(exec->mutex);
  driver::check(
      driver::table().cuGraphNodeSetEnabled(exec->handle, node.handle, enabled ? 1 : 0), "cuGraphNodeSetEnabled",
      [&] { return describe(*exec, node); }, membership);
}

void ExecutableKernelNode::update(const LaunchConfig& config, const Kernel& kernel,
                                  const KernelArguments& arguments) const {
  constexpr const char* call = "ExecutableKernelNode::update";
  const auto exec = open_view(exec_, call);
  detail::open_node(node_, call);
  detail::safe_point();
  NodeRequest request = detail::kernel_request(config, kernel, arguments);
  const std::scoped_lock lock(node_.hierarchy()->mutex);
  const NodeState& node = detail::open_node(node_, call);
  const auto& defined = std::get<detail::KernelParameters>(node.parameters);
  if (!detail::same_attributes(config, defined.config)) {
    refuse_attributes(node, "the config has other attributes than the node");
  }
  if (node.attributes_since > exec->made_at) {
    refuse_attributes(node, "the definition's node got other attributes after the Graph was made from it");
  }
  set_locked(*exec, node, request);
}

void ExecutableMemcpyNode::update(const MemoryOperand& dst, const MemoryOperand& src, std::size_t size) const {
  constexpr const char* call = "ExecutableMemcpyNode::update";
  open_view(exec_, call);
  set(exec_, node_, detail::memcpy_request(dst, src, size), call);
}

void ExecutableMemsetNode::update(const MemoryOperand& dst, const FillPattern& value, std::size_t width,
                                  std::size_t height, std::size_t pitch) const {
  constexpr const char* call = "ExecutableMemsetNode::update";
  open_view(exec_, call);
  set(exec_, node_, detail::memset_request(dst, value, width, height, pitch), call);
}

void ExecutableChildGraphNode::update(const GraphDefinition& child) const {
  constexpr const char* call = "ExecutableChildGraphNode::update";
  const auto exec = open_view(exec_, call);
  detail::open_node(node_, call);
  detail::GraphHierarchy& source = detail::open_hierarchy(child, call);
  detail::safe_point();
  NodeRequest request;
  const detail::LockBoth lock(*node_.hierarchy(), source);
  detail::ask_to_embed(child, call, request);
  source.errors->also_in(exec->errors);
  set_locked(*exec, detail::open_node(node_, call), request);
}

void ExecutableEventRecordNode::update(const Event& event) const {
  constexpr const char* call = "ExecutableEventRecordNode::update";
  open_view(exec_, call);
  set(exec_, node_, detail::event_request(GraphNodeType::event_record, event, call), call);
}

void ExecutableEventWaitNode::update(const Event& event) const {
  constexpr const char* call = "ExecutableEventWaitNode::update";
  open_view(exec_, call);
  set(exec_, node_, detail::event_request(GraphNodeType::wait_event, event, call), call);
}

void ExecutableHostCallbackNode::update(std::function<void()> function) const {
  constexpr const char* call = "ExecutableHostCallbackNode::update";
  const auto exec = open_view(exec_, call);
  set(exec_, node_, detail::host_request(std::move(function), exec->errors, call), call);
}

void ExecutableHostCallbackNode::update(HostFunction function, void* user_data,
                                        std::shared_ptr<const void> owner) const {
  constexpr const char* call = "ExecutableHostCallbackNode::update";
  open_view(exec_, call);
  set(exec_, node_, detail::host_request(function, user_data, std::move(owner), call), call);
}

ExecutableKernelNode Graph::operator[](const KernelNode& node) const {
  return view_of<ExecutableKernelNode>(state_, node);
}
ExecutableMemcpyNode Graph::operator[](const MemcpyNode& node) const {
  return view_of<ExecutableMemcpyNode>(state_, node);
}
ExecutableMemsetNode Graph::operator[](const MemsetNode& node) const {
  return view_of<ExecutableMemsetNode>(state_, node);
}
ExecutableChildGraphNode Graph::operator[](const ChildGraphNode& node) const {
  return view_of<ExecutableChildGraphNode>(state_, node);
}
ExecutableEventRecordNode Graph::operator[](const EventRecordNode& node) const {
  return view_of<ExecutableEventRecordNode>(state_, node);
}
ExecutableEventWaitNode Graph::operator[](const EventWaitNode& node) const {
  return view_of<ExecutableEventWaitNode>(state_, node);
}
ExecutableHostCallbackNode Graph::operator[](const HostCallbackNode& node) const {
  return view_of<ExecutableHostCallbackNode>(state_, node);
}

}  // namespace cucore
