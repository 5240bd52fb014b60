// Executable graphs: see exec.hpp. Running them is in run.cpp.
#include "cpu/runtime/graph/exec.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <unordered_map>

#include "cpu/runtime/execution/updatable_node.hpp"
#include "cpu/runtime/graph/graph_run.hpp"
#include "cpu/runtime/loading/module.hpp"
#include "cpu/runtime/memory/graph_memory.hpp"
#include "cpu/runtime/memory/memory.hpp"
#include "cpu/runtime/objects/context.hpp"
#include "cpu/runtime/objects/event.hpp"
#include "cpu/runtime/process/driver_result.hpp"
#include "cpu/runtime/process/handle_table.hpp"
#include "cpu/runtime/texture/resource_epoch.hpp"

namespace cucore::cpu::runtime {
namespace {

using ExecTable = HandleTable<GraphExec, HandleKind::GraphExec>;
ExecTable& exec_table() {
  static auto* table = new ExecTable;
  return *table;
}

/// Why a graph is not instantiated, and because of which node.
struct Refusal {
  CUgraphInstantiateResult reason = CUDA_GRAPH_INSTANTIATE_SUCCESS;
  CUgraphNode node = nullptr;
};

/// Compiles kernels now, so that the first launch finds them ready.
Result<void> prepare(const Payload& payload) {
  const auto* const kernel = std::get_if<KernelPayload>(&payload);
  if (!kernel) return {};
  if (kernel->updatable) kernel->updatable->forget(kernel->function->description().parameter_bytes);
  std::shared_ptr<const Code> code;
  return result_of(kernel->function->code(kernel->request.block, thread_count(kernel->request), &code));
}

bool runs_from_device(const Payload& payload) {
  const CUgraphNodeType type = type_of(payload);
  return type == CU_GRAPH_NODE_TYPE_KERNEL || type == CU_GRAPH_NODE_TYPE_MEMCPY || type == CU_GRAPH_NODE_TYPE_MEMSET ||
         type == CU_GRAPH_NODE_TYPE_GRAPH || type == CU_GRAPH_NODE_TYPE_EMPTY;
}

bool runs_in_body(const Payload& payload) {
  return runs_from_device(payload) || type_of(payload) == CU_GRAPH_NODE_TYPE_CONDITIONAL;
}

/// `in_body`: of a conditional node, at any depth.
Result<void> flatten(const Graph& graph, ExecPlan& plan, std::uint64_t flags, std::vector<ExecNode>* out,
                     Refusal* refusal, std::set<CUgraphConditionalHandle>* used, bool in_body = false) {
  const std::vector<GraphNode*> order = graph.sorted();
  if (order.size() != graph.nodes().size()) {
    refusal->reason = CUDA_GRAPH_INSTANTIATE_INVALID_STRUCTURE;
    return ErrorCode::InvalidValue;
  }
  plan.conditions.insert(plan.conditions.end(), graph.conditions().begin(), graph.conditions().end());
  plan.user_objects.add(graph.user_objects);
  std::unordered_map<const GraphNode*, std::size_t> position;
  for (const GraphNode* node : order) {
    position[node] = out->size();
    if ((flags & CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH) != 0 && !runs_from_device(*node->payload)) {
      *refusal = {CUDA_GRAPH_INSTANTIATE_NODE_OPERATION_NOT_SUPPORTED, node->handle};
      return ErrorCode::NotSupported;
    }
    if (in_body && !runs_in_body(*node->payload)) {
      *refusal = {CUDA_GRAPH_INSTANTIATE_NODE_OPERATION_NOT_SUPPORTED, node->handle};
      return ErrorCode::InvalidValue;
    }
    if (Result<void> result = prepare(*node->payload); !result) {
      *refusal = {CUDA_GRAPH_INSTANTIATE_ERROR, node->handle};
      return result;
    }
    ExecNode made;
    made.id = node->id;
    made.handle = node->handle;
    made.payload = node->payload;
    for (const auto& edge : node->dependencies) made.dependencies.push_back(position[edge.node]);
    std::sort(made.dependencies.begin(), made.dependencies.end());
    std::vector<std::shared_ptr<Graph>> inner;
    if (const auto* const child = std::get_if<ChildPayload>(node->payload.get())) inner = {child->graph};
    if (const auto* const conditional = std::get_if<ConditionalPayload>(node->payload.get())) {
      inner = conditional->bodies;
      used->insert(conditional->handle);
    }
    const bool body = in_body || std::holds_alternative<ConditionalPayload>(*node->payload);
    for (const auto& each : inner)
      if (Result<void> result = flatten(*each, plan, flags, &made.graphs.emplace_back(), refusal, used, body); !result)
        return result;
    out->push_back(std::move(made));
  }
  return {};
}

/// A definition may be instantiated again; the conditions of a body are those of the graph around it.
Result<std::shared_ptr<ExecPlan>> make_plan(const Graph& graph, std::uint64_t flags, Refusal* refusal) {
  auto plan = std::make_shared<ExecPlan>();
  std::set<CUgraphConditionalHandle> used;
  if (Result<void> result = flatten(graph, *plan, flags, &plan->nodes, refusal, &used); !result)
    return std::move(result).failure();
  for (const auto& condition : graph.conditions())
    if (!used.contains(reinterpret_cast<CUgraphConditionalHandle>(&condition->value))) {
      refusal->reason = CUDA_GRAPH_INSTANTIATE_CONDITIONAL_HANDLE_UNUSED;
      return ErrorCode::InvalidValue;
    }
  return plan;
}

/// The kind of memory of an operand of a fill or a copy, which a node cannot change. Nothing for memory freed since,
/// which may have been of any kind.
struct Home {
  bool is_array = false;
  Allocation::Kind kind = Allocation::Kind::Host;
  int device = 0;  ///< of a device's own memory

  bool operator==(const Home&) const = default;
};

std::optional<Home> home_of(std::uintptr_t address) {
  const std::optional<Allocation> found = find_allocation(address);
  if (!found) return {};
  if (found->kind == Allocation::Kind::Registered) return Home{};
  return Home{false, found->kind, found->kind == Allocation::Kind::Device ? found->device : 0};
}

std::optional<Home> home_of(CUmemorytype type, CUdeviceptr device) {
  if (type == CU_MEMORYTYPE_ARRAY) return Home{.is_array = true};
  return type == CU_MEMORYTYPE_HOST ? Home{} : home_of(device);
}

bool differ(const std::optional<Home>& old, const std::optional<Home>& given) { return old && given && *old != *given; }

/// Of a fill of one row the extents may change, of several rows the address and the value alone.
bool keeps_shape(const CUDA_MEMSET_NODE_PARAMS_v2& old, const CUDA_MEMSET_NODE_PARAMS_v2& given) {
  if (old.height != given.height) return false;
  return old.height == 1 ||
         (old.width == given.width && old.pitch == given.pitch && old.elementSize == given.elementSize);
}

bool keeps_homes(const CUDA_MEMCPY3D& old, const CUDA_MEMCPY3D& given) {
  return !differ(home_of(old.srcMemoryType, old.srcDevice), home_of(given.srcMemoryType, given.srcDevice)) &&
         !differ(home_of(old.dstMemoryType, old.dstDevice), home_of(given.dstMemoryType, given.dstDevice));
}

int priority_of(const KernelPayload& kernel) {
  int priority = 0;
  for (const CUlaunchAttribute& each : kernel.attributes)
    if (each.id == CU_LAUNCH_ATTRIBUTE_PRIORITY) priority = each.value.priority;  // the last one holds
  return priority;
}

/// Why one node cannot be updated to another in an executable graph made with `flags`.
CUgraphExecUpdateResult compare(const Payload& old, const Payload& given, std::uint64_t flags) {
  if (type_of(old) != type_of(given)) return CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED;
  if (const auto* const kernel = std::get_if<KernelPayload>(&old)) {
    const auto& other = std::get<KernelPayload>(given);
    if (kernel->context != other.context) return CU_GRAPH_EXEC_UPDATE_ERROR_FUNCTION_CHANGED;
    const bool has_priority = (flags & CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY) != 0;
    if (kernel->request.cooperative != other.request.cooperative ||
        (has_priority && priority_of(*kernel) != priority_of(other)))
      return CU_GRAPH_EXEC_UPDATE_ERROR_ATTRIBUTES_CHANGED;
  } else if (const auto* const set = std::get_if<MemsetPayload>(&old)) {
    const CUDA_MEMSET_NODE_PARAMS_v2& other = std::get<MemsetPayload>(given).fill;
    if (!keeps_shape(set->fill, other) || differ(home_of(set->fill.dst), home_of(other.dst)))
      return CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED;
  } else if (const auto* const copy = std::get_if<MemcpyPayload>(&old)) {
    if (!keeps_homes(copy->copy, std::get<MemcpyPayload>(given).copy))
      return CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED;
  } else if (const auto* const memory = std::get_if<AllocPayload>(&old)) {
    if (memory->memory != std::get<AllocPayload>(given).memory) return CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED;
  } else if (const auto* const conditional = std::get_if<ConditionalPayload>(&old)) {
    const auto& other = std::get<ConditionalPayload>(given);
    if (conditional->type != other.type || conditional->bodies.size() != other.bodies.size())
      return CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED;
  }
  return CU_GRAPH_EXEC_UPDATE_SUCCESS;
}

CUgraphExecUpdateResult compare(const std::vector<ExecNode>& old, const std::vector<ExecNode>& given,
                                std::uint64_t flags, CUgraphExecUpdateResultInfo* info) {
  if (old.size() != given.size()) return CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED;
  for (std::size_t i = 0; i < old.size(); ++i) {
    info->errorNode = given[i].handle;
    if (old[i].dependencies != given[i].dependencies) return CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED;
    if (const auto result = compare(*old[i].payload, *given[i].payload, flags); result != CU_GRAPH_EXEC_UPDATE_SUCCESS)
      return result;
    for (std::size_t each = 0; each < old[i].graphs.size(); ++each)
      if (const auto result = compare(old[i].graphs[each], given[i].graphs[each], flags, info);
          result != CU_GRAPH_EXEC_UPDATE_SUCCESS)
        return result;
  }
  info->errorNode = nullptr;
  return CU_GRAPH_EXEC_UPDATE_SUCCESS;
}

/// A copy of several rows cannot be updated by itself, only with the whole graph.
bool is_of_rows(const Payload& payload) {
  const auto* const copy = std::get_if<MemcpyPayload>(&payload);
  return copy && (copy->copy.Height > 1 || copy->copy.Depth > 1);
}

/// The new parameters with the old ids: node handles of the instantiated definition stay valid.
void adopt(std::vector<ExecNode>& nodes, const std::vector<ExecNode>& given) {
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    nodes[i].payload = given[i].payload;
    for (std::size_t each = 0; each < nodes[i].graphs.size(); ++each)
      adopt(nodes[i].graphs[each], given[i].graphs[each]);
  }
}

/// Before a launch: the events to be recorded, and those to wait for. Bodies of conditional nodes record when they run.
void collect_points(const std::vector<ExecNode>& nodes, bool is_certain, Stream& stream, RecordPoints* points) {
  for (const ExecNode& node : nodes) {
    const auto* const event = std::get_if<EventPayload>(node.payload.get());
    if (event && event->is_record && is_certain) {
      auto point = std::make_shared<RecordPoint>();
      point->stream = stream.shared_from_this();
      (*points)[&node] = std::move(point);
    } else if (event && !event->is_record) {
      (*points)[&node] = event->event->latest();
    }
    if (node.graphs.empty()) continue;
    const bool inner = is_certain && !std::holds_alternative<ConditionalPayload>(*node.payload);
    for (const auto& graph : node.graphs) collect_points(graph, inner, stream, points);
  }
}

/// Allocations begin and end with the launch call, in the order of the plan, since the next call must see that.
void account_for_memory(const std::vector<ExecNode>& nodes) {
  for (const ExecNode& node : nodes) {
    if (const auto* const alloc = std::get_if<AllocPayload>(node.payload.get())) alloc->memory->set_live(true);
    if (const auto* const free = std::get_if<FreePayload>(node.payload.get())) free->memory->set_live(false);
    for (const auto& graph : node.graphs) account_for_memory(graph);
  }
}

/// Whether memory that a launch would allocate is there from an earlier one, and is not freed before.
bool has_memory_already(const std::vector<ExecNode>& nodes, bool frees_first) {
  for (const ExecNode& node : nodes) {
    const auto* const alloc = std::get_if<AllocPayload>(node.payload.get());
    if (!alloc || !alloc->memory->is_live()) continue;
    const bool is_freed_inside = std::any_of(nodes.begin(), nodes.end(), [&](const ExecNode& other) {
      const auto* const free = std::get_if<FreePayload>(other.payload.get());
      return free && free->memory == alloc->memory;
    });
    if (!is_freed_inside && !frees_first) return true;
  }
  return false;
}

}  // namespace

Result<CUgraphExec> GraphExec::instantiate(const Graph& graph, std::uint64_t flags, CUgraphInstantiateResult* reason,
                                           CUgraphNode* error_node) {
  constexpr std::uint64_t known_bits = CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH |
                                       CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD | CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH |
                                       CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY;
  constexpr std::uint64_t exclusive =
      CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH | CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH;
  if (reason) *reason = CUDA_GRAPH_INSTANTIATE_ERROR;
  if ((flags & ~known_bits) != 0 || (flags & exclusive) == exclusive) return ErrorCode::InvalidValue;
  const bool is_for_device = (flags & CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH) != 0;
  if (is_for_device && graph.nodes().empty()) return ErrorCode::InvalidValue;
  auto exec = std::make_shared<GraphExec>();
  exec->flags_ = flags;
  Refusal refusal;
  Result<std::shared_ptr<ExecPlan>> plan = make_plan(graph, flags, &refusal);
  if (reason) *reason = refusal.reason;
  if (error_node) *error_node = refusal.node;
  if (!plan) return std::move(plan).failure();
  exec->plan_ = *std::move(plan);
  if (graph.has_memory_nodes() || graph.has_conditional_nodes() || graph.has_updatable_nodes()) {
    if (!graph.executable.expired()) return ErrorCode::NotSupported;
    graph.executable = exec;
  }
  const auto handle = reinterpret_cast<CUgraphExec>(exec_table().insert(exec));
  if (is_for_device) exec->device_handle_ = reinterpret_cast<std::uintptr_t>(handle);
  return handle;
}

ExecNode* GraphExec::find_in(std::vector<ExecNode>& nodes, std::uint64_t id) {
  for (ExecNode& node : nodes) {
    if (node.id == id) return &node;
    for (auto& graph : node.graphs)
      if (ExecNode* const found = find_in(graph, id)) return found;
  }
  return nullptr;
}

const ExecNode* GraphExec::find(std::uint64_t id) const {
  return const_cast<GraphExec*>(this)->find_in(plan_->nodes, id);
}

ExecPlan& GraphExec::change() {
  if (plan_.use_count() > 1) plan_ = std::make_shared<ExecPlan>(*plan_);
  return *plan_;
}

Result<void> GraphExec::set_payload(std::uint64_t id, std::shared_ptr<const Payload> payload) {
  const ExecNode* const present = find(id);
  if (!present || type_of(*present->payload) != type_of(*payload)) return ErrorCode::InvalidValue;
  if (is_of_rows(*present->payload) || is_of_rows(*payload)) return ErrorCode::InvalidValue;
  if (Result<void> result = prepare(*payload); !result) return result;
  std::vector<std::vector<ExecNode>> graphs = present->graphs;
  ExecPlan scratch;
  if (const auto* const child = std::get_if<ChildPayload>(payload.get())) {
    Refusal refusal;
    std::set<CUgraphConditionalHandle> used;
    std::vector<ExecNode> nodes;
    CUgraphExecUpdateResultInfo info{};
    if (Result<void> result = flatten(*child->graph, scratch, flags_, &nodes, &refusal, &used); !result) return result;
    if (compare(graphs.front(), nodes, flags_, &info) != CU_GRAPH_EXEC_UPDATE_SUCCESS)
      return ErrorCode::GraphExecUpdateFailure;
    adopt(graphs.front(), nodes);
  } else if (compare(*present->payload, *payload, flags_) != CU_GRAPH_EXEC_UPDATE_SUCCESS) {
    return ErrorCode::InvalidValue;
  }
  ExecPlan& plan = change();
  plan.user_objects.add(scratch.user_objects);  // with those of the graph before, until the next whole update
  ExecNode& node = *find_in(plan.nodes, id);
  node.payload = std::move(payload);
  node.graphs = std::move(graphs);
  return {};
}

Result<void> GraphExec::set_enabled(std::uint64_t id, bool is_enabled) {
  const ExecNode* const node = find(id);
  if (!node) return ErrorCode::InvalidValue;
  const CUgraphNodeType type = type_of(*node->payload);
  if (type != CU_GRAPH_NODE_TYPE_KERNEL && type != CU_GRAPH_NODE_TYPE_MEMCPY && type != CU_GRAPH_NODE_TYPE_MEMSET)
    return ErrorCode::InvalidValue;
  find_in(change().nodes, id)->is_enabled = is_enabled;
  return {};
}

Result<void> GraphExec::update(const Graph& graph, CUgraphExecUpdateResultInfo* info) {
  *info = {CU_GRAPH_EXEC_UPDATE_ERROR, nullptr, nullptr};
  const bool had_updatable = std::any_of(plan_->nodes.begin(), plan_->nodes.end(),
                                         [](const ExecNode& node) { return is_updatable(*node.payload); });
  if (had_updatable || graph.has_updatable_nodes()) {
    info->result = CU_GRAPH_EXEC_UPDATE_ERROR_NOT_SUPPORTED;
    return ErrorCode::GraphExecUpdateFailure;
  }
  Refusal refusal;
  const Result<std::shared_ptr<ExecPlan>> made = make_plan(graph, flags_, &refusal);
  if (!made) return ErrorCode::GraphExecUpdateFailure;
  const ExecPlan* const given = made->get();
  info->result = compare(plan_->nodes, given->nodes, flags_, info);
  if (info->result != CU_GRAPH_EXEC_UPDATE_SUCCESS) return ErrorCode::GraphExecUpdateFailure;
  ExecPlan& plan = change();
  adopt(plan.nodes, given->nodes);
  plan.conditions = given->conditions;
  plan.user_objects = given->user_objects;
  return {};
}

Result<void> GraphExec::launch(Stream& stream) {
  const bool frees_first = (flags_ & CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH) != 0;
  if (has_memory_already(plan_->nodes, frees_first)) return ErrorCode::InvalidValue;
  if (last_stream_ && last_stream_.get() != &stream && !last_stream_->is_done(last_number_))
    stream.enqueue(
        make_work([other = last_stream_, number = last_number_](const Result<void>&) { other->wait_for(number); }));
  auto points = std::make_shared<RecordPoints>();
  collect_points(plan_->nodes, true, stream, points.get());
  account_for_memory(plan_->nodes);
  last_number_ = stream.enqueue(make_work([plan = plan_, handle = device_handle_, points,
                                           epoch = ResourceEpoch::current(), &stream](const Result<void>& context) {
    GraphRun(plan, handle, epoch, stream).run_from_host(*points, context);
  }));
  for (const auto& [node, point] : *points) {
    const auto& event = std::get<EventPayload>(*node->payload);
    if (!event.is_record) continue;
    point->number = last_number_;
    event.event->publish(point);
  }
  if (last_stream_.get() != &stream) last_stream_ = stream.shared_from_this();
  return {};
}

std::shared_ptr<GraphExec> find_graph_exec(CUgraphExec handle) { return exec_table().find(handle); }

Result<void> destroy_graph_exec(CUgraphExec handle) {
  return exec_table().remove(handle) ? Result<void>() : ErrorCode::InvalidValue;
}

}  // namespace cucore::cpu::runtime
