// Graph: instantiating, launching and whole-graph updates.
#include "cucore/graph.hpp"

#include <array>
#include <string>

#include "cucore/error.hpp"
#include "src/device/stream_state.hpp"
#include "src/driver/table.hpp"
#include "src/error/closed.hpp"
#include "src/error/hexadecimal.hpp"
#include "src/graph/exec_state.hpp"
#include "src/handles/context_scope.hpp"
#include "src/handles/last_reference.hpp"

namespace cucore {
namespace detail {

std::string describe(const GraphExecState& graph) { return "Graph " + hexadecimal(graph.handle); }

GraphExecState& open_exec(const std::shared_ptr<GraphExecState>& state, const char* call) {
  if (state == nullptr) refuse_closed("Graph", call);
  return *state;
}

namespace {

/// Attaches the store to a definition while an executable graph takes its references from there.
class LentStore {
 public:
  LentStore(driver::CUgraph graph, const std::shared_ptr<ExecStore>& store)
      : graph_(graph), object_(Retention({store, nullptr}).attach(graph)) {}
  ~LentStore() { release_retained(graph_, object_); }
  LentStore(const LentStore&) = delete;
  LentStore& operator=(const LentStore&) = delete;

 private:
  driver::CUgraph graph_;
  driver::CUuserObject object_;
};

std::string describe_node(driver::CUgraphNode node) {
  if (node == nullptr) return {};
  int type = 0;
  if (driver::table().cuGraphNodeGetType(node, &type) != driver::CUDA_SUCCESS) return ", at a node";
  return ", at graph node " + hexadecimal(node) + " (" + describe(static_cast<GraphNodeType>(type)) + ")";
}

/// Says why the driver refused to make an executable graph, and what to do.
struct Refusal {
  const char* why;
  const char* hint;
};
Refusal refusal(int result) {
  switch (result) {
    case driver::CUDA_GRAPH_INSTANTIATE_INVALID_STRUCTURE:
      return {"its structure is invalid, such as a cycle", "look for the cycle in what debug_dot_print() writes"};
    case driver::CUDA_GRAPH_INSTANTIATE_NODE_OPERATION_NOT_SUPPORTED:
      return {"an operation is not supported in the body of a conditional node, or in a graph for device launch",
              "leave it out, or put it outside: kernels, copies, fills, empty nodes and child graphs of these may be "
              "there, and conditional nodes in bodies"};
    case driver::CUDA_GRAPH_INSTANTIATE_MULTIPLE_CTXS_NOT_SUPPORTED:
      return {"a graph for device launch can have nodes of one context only", "add all nodes in one context"};
    case driver::CUDA_GRAPH_INSTANTIATE_CONDITIONAL_HANDLE_UNUSED:
      return {"a condition was created that no conditional node uses", "use every condition in a conditional node"};
    default:
      return {"the driver gives no reason", ""};
  }
}

[[noreturn]] void refuse_structure(driver::CUresult code, const driver::CUDA_GRAPH_INSTANTIATE_PARAMS& answer,
                                   const GraphState& graph) {
  const auto [why, hint] = refusal(answer.result_out);
  throw StateError({.call = "GraphDefinition::instantiate",
                    .code = code,
                    .code_name = code == driver::CUDA_SUCCESS ? std::string() : driver::result_name(code),
                    .message = describe(graph) + " cannot be instantiated: " + why + describe_node(answer.hErrNode_out),
                    .hint = hint});
}

std::uint64_t flags_of(const GraphCompleteOptions& options) {
  std::uint64_t flags = 0;
  if (options.auto_free_on_launch) flags |= driver::CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH;
  if (options.upload_stream != nullptr) flags |= driver::CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD;
  if (options.device_launch) flags |= driver::CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH;
  if (options.use_node_priority) flags |= driver::CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY;
  return flags;
}

}  // namespace

std::shared_ptr<GraphExecState> instantiate(GraphHierarchy& hierarchy, const GraphState& graph,
                                            const GraphCompleteOptions& options) {
  driver::CUDA_GRAPH_INSTANTIATE_PARAMS parameters{};
  parameters.flags = flags_of(options);
  std::shared_ptr<const ContextState> context = recorded_context();
  ContextHandle where = context->handle;
  if (options.upload_stream != nullptr) {
    const StreamState& stream = open_stream(options.upload_stream->state(), "instantiate");
    parameters.hUploadStream = stream.handle;
    if (const ContextHandle own = context_handle(stream)) where = own;
  }
  auto state = std::make_shared<GraphExecState>();
  state->store = std::make_shared<ExecStore>();
  hierarchy.errors->also_in(state->errors);
  const LentStore lent(graph.handle, state->store);
  ContextScope scope(where);
  driver::CUgraphExec handle = nullptr;
  const driver::CUresult code = driver::table().cuGraphInstantiateWithParams(&handle, graph.handle, &parameters);
  // Looked at before the handle is: there is none, or none that may be destroyed, if this says so.
  const bool is_structural = parameters.result_out >= driver::CUDA_GRAPH_INSTANTIATE_INVALID_STRUCTURE;
  if (code != driver::CUDA_SUCCESS && !is_structural) {
    driver::fail(code, "cuGraphInstantiateWithParams", describe(graph) + describe_node(parameters.hErrNode_out));
  }
  if (parameters.result_out != driver::CUDA_GRAPH_INSTANTIATE_SUCCESS) refuse_structure(code, parameters, graph);
  state->handle = handle;
  state->owned = OwningHandle<GraphExecTraits>(handle);
  state->made_at = change_time();
  scope.restore();
  return state;
}

}  // namespace detail

using detail::ContextScope;
using detail::GraphExecState;
using detail::open_exec;

Graph GraphDefinition::instantiate(const GraphCompleteOptions& options) const {
  constexpr const char* call = "GraphDefinition::instantiate";
  detail::safe_point();
  detail::GraphHierarchy& hierarchy = detail::open_hierarchy(*this, call);
  const std::scoped_lock lock(hierarchy.mutex);
  return Graph(detail::instantiate(hierarchy, detail::open_graph(*this, call), options));
}

Graph GraphDefinition::instantiate() const { return instantiate(GraphCompleteOptions{}); }

GraphExecHandle Graph::handle() const noexcept { return state_ == nullptr ? nullptr : state_->handle; }

void Graph::launch(const Stream& stream) const {
  const GraphExecState& graph = open_exec(state_, "launch");
  const detail::StreamState& stream_state = detail::open_stream(stream.state(), "launch");
  detail::safe_point();
  ContextScope scope(detail::context_handle(stream_state));
  const driver::CUresult code = driver::table().cuGraphLaunch(graph.handle, stream_state.handle);
  driver::check(
      code, "cuGraphLaunch", [&] { return describe(graph) + " in " + describe(stream_state); },
      code == driver::CUDA_ERROR_INVALID_VALUE
          ? "memory allocated by an earlier launch may not have been freed yet: free it, or set auto_free_on_launch"
          : "");
  scope.restore();
}

void Graph::upload(const Stream& stream) const {
  const GraphExecState& graph = open_exec(state_, "upload");
  const detail::StreamState& stream_state = detail::open_stream(stream.state(), "upload");
  ContextScope scope(detail::context_handle(stream_state));
  driver::check(driver::table().cuGraphUpload(graph.handle, stream_state.handle), "cuGraphUpload",
                [&] { return describe(graph) + " in " + describe(stream_state); });
  scope.restore();
}

namespace {

const char* reason_name(int reason) {
  constexpr std::array names{"CU_GRAPH_EXEC_UPDATE_SUCCESS",
                             "CU_GRAPH_EXEC_UPDATE_ERROR",
                             "CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED",
                             "CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED",
                             "CU_GRAPH_EXEC_UPDATE_ERROR_FUNCTION_CHANGED",
                             "CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED",
                             "CU_GRAPH_EXEC_UPDATE_ERROR_NOT_SUPPORTED",
                             "CU_GRAPH_EXEC_UPDATE_ERROR_UNSUPPORTED_FUNCTION_CHANGE",
                             "CU_GRAPH_EXEC_UPDATE_ERROR_ATTRIBUTES_CHANGED"};
  const auto index = static_cast<std::size_t>(reason);
  return index < names.size() ? names[index] : "a reason that is not known";
}

// The node in the source, or in a graph inside it. Null: it has no state yet.
std::shared_ptr<detail::NodeState> find_node(const detail::GraphHierarchy& hierarchy, driver::CUgraphNode handle) {
  for (const auto& graph : hierarchy.graphs) {
    if (const auto found = graph->nodes.find(handle); found != graph->nodes.end()) return found->second;
  }
  return nullptr;
}

}  // namespace

GraphUpdateResult Graph::try_update(const GraphDefinition& source) const {
  constexpr const char* call = "Graph::update";
  GraphExecState& graph = open_exec(state_, "update");
  detail::GraphHierarchy& hierarchy = detail::open_hierarchy(source, call);
  detail::safe_point();
  auto store = std::make_shared<detail::ExecStore>();  // takes the old one out of the lock
  const std::scoped_lock lock(hierarchy.mutex, graph.mutex);
  const detail::GraphState& from = detail::open_graph(source, call);
  hierarchy.errors->also_in(graph.errors);
  driver::CUgraphExecUpdateResultInfo info{};
  GraphUpdateResult result;
  const auto context = detail::recorded_context();
  const detail::LentStore lent(from.handle, store);
  ContextScope scope(context->handle);
  result.code = driver::table().cuGraphExecUpdate(graph.handle, from.handle, &info);
  if (result.code == driver::CUDA_SUCCESS) {
    std::swap(graph.store, store);
    graph.made_at = detail::change_time();
  } else {
    result.reason = static_cast<GraphUpdateReason>(info.result);
    result.reason_name = reason_name(info.result);
    const driver::CUgraphNode node = info.errorFromNode != nullptr ? info.errorFromNode : info.errorNode;
    if (node != nullptr) {
      auto state = find_node(hierarchy, node);
      if (state != nullptr) result.node = GraphNode(source.hierarchy(), std::move(state));
    }
  }
  scope.restore();
  return result;
}

void Graph::update(const GraphDefinition& source) const {
  const GraphUpdateResult result = try_update(source);
  if (result) return;
  std::string on = describe(*state_) + ": " + result.reason_name;
  if (result.node) on += ", at " + describe(*result.node.state());
  driver::fail(result.code, "cuGraphExecUpdate", on,
               "the graph is as before; a definition of another structure has to be instantiated");
}

std::optional<Error> Graph::last_callback_error() const {
  return open_exec(state_, "last_callback_error").errors->last();
}

Graph Graph::share() const { return Graph(state_); }

void Graph::close() {
  const auto last = detail::take_if_last(state_);
  if (last == nullptr) return;
  const driver::CUresult code = last->owned.close();
  detail::safe_point();
  driver::check(code, detail::GraphExecTraits::call, [&] { return describe(*last); });
}

}  // namespace cucore
