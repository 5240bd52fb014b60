// GraphNode: new parameters, for graphs instantiated from now on.
#include <string>
#include <utility>

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

using detail::DriverLaunchConfig;
using detail::KernelParameters;
using detail::NodeRequest;
using detail::NodeState;

// From here on nothing fails: the node takes the request's values. The request takes the node's old ones, to release
// them after the lock.
void publish(NodeState& node, NodeRequest& request, driver::CUuserObject retained) noexcept {
  detail::release_retained(node.graph->handle, std::exchange(node.retained, retained));
  std::swap(node.parameters, request.parameters);
  std::swap(node.owners, request.owners);
}

// Changes the driver's node by `change`, with the new owners attached before and the old ones released after.
template <class Change>
void change_node(NodeState& node, NodeRequest& request, Change&& change) {
  detail::Retention retention(request.owners);
  detail::ContextScope scope(request.context->handle);
  const driver::CUuserObject retained = retention.attach(node.graph->handle);
  try {
    change();
  } catch (...) {
    detail::release_retained(node.graph->handle, retained);
    throw;
  }
  publish(node, request, retained);
  scope.restore();
}

void set_parameters(const NodeState& node, NodeRequest& request) {
  const driver::CUresult code = driver::table().cuGraphNodeSetParams(node.handle, &request.native);
  if (code != driver::CUDA_SUCCESS) detail::refuse_request(code, "cuGraphNodeSetParams", request, describe(node));
}

// Lock held.
void update_locked(const GraphNode& node, NodeRequest& request, const char* call) {
  NodeState& state = detail::open_node(node, call);
  change_node(state, request, [&] { set_parameters(state, request); });
}

void update_node(const GraphNode& node, NodeRequest request, const char* call) {
  detail::open_node(node, call);
  detail::safe_point();
  const std::scoped_lock lock(node.hierarchy()->mutex);
  update_locked(node, request, call);
}

// The attributes of one config, set on a node or taken off it. The answer is the first that is not success.
driver::CUresult set_attributes(driver::CUgraphNode node, const DriverLaunchConfig& launch, bool neutral) {
  for (unsigned i = 0; i < launch.native.numAttrs; ++i) {
    const driver::CUlaunchAttribute& attribute = launch.native.attrs[i];
    const driver::CUlaunchAttributeValue value = neutral ? detail::neutral_attribute(attribute.id) : attribute.value;
    const driver::CUresult code = driver::table().cuGraphKernelNodeSetAttribute(node, attribute.id, &value);
    if (code != driver::CUDA_SUCCESS) return code;
  }
  return driver::CUDA_SUCCESS;
}

// Parameters and attributes of a kernel cannot be changed in one call. Between the calls the node has no attributes,
// which is valid with any grid.
void set_kernel(const NodeState& node, const KernelParameters& before, NodeRequest& request) {
  const DriverLaunchConfig launch_before(before.config);
  const bool same = detail::same_attributes(before.config, std::get<KernelParameters>(request.parameters).config);
  const auto all = [&]() -> std::pair<driver::CUresult, const char*> {
    driver::CUresult code = same ? driver::CUDA_SUCCESS : set_attributes(node.handle, launch_before, true);
    if (code != driver::CUDA_SUCCESS) return {code, "cuGraphKernelNodeSetAttribute"};
    code = driver::table().cuGraphNodeSetParams(node.handle, &request.native);
    if (code != driver::CUDA_SUCCESS) return {code, "cuGraphNodeSetParams"};
    if (!same) code = set_attributes(node.handle, *request.launch, false);
    return {code, "cuGraphKernelNodeSetAttribute"};
  };
  // What would be put back: the driver's own copy of the arguments ends with the first change.
  driver::CUgraphNodeParams old{};
  old.type = driver::CU_GRAPH_NODE_TYPE_KERNEL;
  driver::check(driver::table().cuGraphKernelNodeGetParams(node.handle, &old.kernel), "cuGraphKernelNodeGetParams",
                [&] { return describe(node); });
  if (before.arguments != nullptr) old.kernel.kernelParams = const_cast<void**>(before.arguments->values.data());
  const auto [code, call] = all();
  if (code == driver::CUDA_SUCCESS) return;
  if (!same || std::string_view(call) != "cuGraphNodeSetParams") {
    set_attributes(node.handle, *request.launch, true);
    driver::CUresult undone =
        before.arguments != nullptr ? driver::table().cuGraphNodeSetParams(node.handle, &old) : driver::CUDA_SUCCESS;
    if (undone == driver::CUDA_SUCCESS) undone = set_attributes(node.handle, launch_before, false);
    if (undone != driver::CUDA_SUCCESS) detail::report_release_failure(undone, call, node.handle);
  }
  detail::refuse_request(code, call, request, describe(node));
}

template <class Value>
Value or_else(const std::optional<Value>& given, const Value& present) {
  return given.has_value() ? *given : present;
}

// A node's current operand, with its owner.
MemoryOperand present_operand(DevicePointer address, bool is_host, const std::shared_ptr<const void>& owner) {
  if (is_host) return MemoryOperand::host(reinterpret_cast<const void*>(address), owner);
  return MemoryOperand::device(address, owner);
}

}  // namespace

void KernelNode::update(const KernelNodeUpdate& changes) const {
  constexpr const char* call = "KernelNode::update";
  detail::open_node(*this, call);
  if (changes.kernel.has_value() && !changes.arguments.has_value()) {
    throw ValueError({.call = call,
                      .message = "another kernel needs its own arguments, and none were given",
                      .hint = "give arguments with the kernel"});
  }
  if (!changes.config && !changes.kernel && !changes.arguments) return;
  detail::safe_point();
  std::optional<NodeRequest> request;  // outlives the lock: it takes what is let go
  const std::scoped_lock lock(hierarchy_->mutex);
  NodeState& node = detail::open_node(*this, call);
  const KernelParameters before = std::get<KernelParameters>(node.parameters);
  KernelArguments arguments = changes.arguments.value_or(KernelArguments{nullptr, node.owners[1]});
  std::shared_ptr<const detail::PackedArguments> kept = before.arguments;
  if (!changes.arguments.has_value()) {
    if (kept != nullptr) {
      arguments.values = kept->values.data();
    } else {
      driver::CUDA_KERNEL_NODE_PARAMS native{};
      driver::check(driver::table().cuGraphKernelNodeGetParams(node.handle, &native), "cuGraphKernelNodeGetParams",
                    [&] { return describe(node); });
      arguments.values = native.kernelParams;
    }
  }
  const LaunchConfig config = or_else(changes.config, before.config);
  request.emplace(detail::kernel_request(config, or_else(changes.kernel, before.kernel), arguments));
  const bool is_other = !detail::same_attributes(before.config, config);
  detail::NodeState& state = node;
  change_node(state, *request, [&] { set_kernel(state, before, *request); });
  if (is_other) state.attributes_since = detail::change_time();
}

void MemcpyNode::update(const MemcpyNodeUpdate& changes) const {
  constexpr const char* call = "MemcpyNode::update";
  detail::open_node(*this, call);
  if (!changes.dst && !changes.src && !changes.size) return;
  detail::safe_point();
  std::optional<NodeRequest> request;
  const std::scoped_lock lock(hierarchy_->mutex);
  NodeState& node = detail::open_node(*this, call);
  const auto& before = std::get<detail::MemcpyParameters>(node.parameters);
  if (!before.is_linear) {
    throw StateError({.call = call,
                      .message = describe(node) + " copies rows, from an offset, or arrays: it cannot be updated",
                      .hint = "destroy it and add another"});
  }
  request.emplace(
      detail::memcpy_request(or_else(changes.dst, present_operand(before.dst, before.is_dst_host, node.owners[0])),
                             or_else(changes.src, present_operand(before.src, before.is_src_host, node.owners[1])),
                             or_else(changes.size, before.size)));
  update_locked(*this, *request, call);
}

void MemsetNode::update(const MemsetNodeUpdate& changes) const {
  constexpr const char* call = "MemsetNode::update";
  detail::open_node(*this, call);
  if (!changes.dst && !changes.value && !changes.width && !changes.height && !changes.pitch) return;
  detail::safe_point();
  std::optional<NodeRequest> request;
  const std::scoped_lock lock(hierarchy_->mutex);
  NodeState& node = detail::open_node(*this, call);
  const auto& before = std::get<detail::MemsetParameters>(node.parameters);
  const auto bytes = std::as_bytes(std::span(&before.value, 1)).first(before.element_size);
  request.emplace(detail::memset_request(or_else(changes.dst, present_operand(before.dst, false, node.owners[0])),
                                         or_else(changes.value, FillPattern::from_bytes(bytes)),
                                         or_else(changes.width, before.width), or_else(changes.height, before.height),
                                         or_else(changes.pitch, before.pitch)));
  update_locked(*this, *request, call);
}

void ChildGraphNode::update(const GraphDefinition& child) const {
  constexpr const char* call = "ChildGraphNode::update";
  detail::open_node(*this, call);
  detail::GraphHierarchy& source = detail::open_hierarchy(child, call);
  if (&source == hierarchy_.get()) {
    throw ValueError({.call = call,
                      .message = "the child belongs to the graph that the node is in",
                      .hint = "give a graph of its own, such as a clone()"});
  }
  detail::LetGo let_go;
  NodeRequest request;
  const detail::LockBoth lock(*hierarchy_, source);
  NodeState& node = detail::open_node(*this, call);
  detail::ask_to_embed(child, call, request);
  let_go.reserve(node);
  detail::ContextScope scope(request.context->handle);
  set_parameters(node, request);
  // The driver has destroyed the old clone.
  auto& parameters = std::get<detail::ChildParameters>(node.parameters);
  if (const auto old = std::exchange(parameters.graph, nullptr)) detail::invalidate(*hierarchy_, old, let_go);
  driver::CUgraph embedded = nullptr;
  driver::check(driver::table().cuGraphChildGraphNodeGetGraph(node.handle, &embedded), "cuGraphChildGraphNodeGetGraph",
                [&] { return describe(node); });
  parameters.graph = hierarchy_->graph(embedded);
  detail::adopt_nodes(*request.cloned, *hierarchy_, parameters.graph);
  source.errors->also_in(hierarchy_->errors);
  scope.restore();
}

void EventRecordNode::update(const Event& event) const {
  constexpr const char* call = "EventRecordNode::update";
  update_node(*this, detail::event_request(node_type, event, call), call);
}

void EventWaitNode::update(const Event& event) const {
  constexpr const char* call = "EventWaitNode::update";
  update_node(*this, detail::event_request(node_type, event, call), call);
}

void HostCallbackNode::update(std::function<void()> called) const {
  constexpr const char* call = "HostCallbackNode::update";
  const auto& errors = detail::open_hierarchy(*this, call).errors;
  update_node(*this, detail::host_request(std::move(called), errors, call), call);
}

void HostCallbackNode::update(HostFunction called, void* data, std::shared_ptr<const void> kept) const {
  constexpr const char* call = "HostCallbackNode::update";
  update_node(*this, detail::host_request(called, data, std::move(kept), call), call);
}

}  // namespace cucore
