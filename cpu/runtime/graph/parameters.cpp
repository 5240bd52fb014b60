// Parameters of nodes, between the driver's structures and payloads: see node.hpp.
#include <cstring>

#include "cpu/runtime/execution/updatable_node.hpp"
#include "cpu/runtime/graph/graph.hpp"
#include "cpu/runtime/loading/library.hpp"
#include "cpu/runtime/loading/module.hpp"
#include "cpu/runtime/memory/copy.hpp"
#include "cpu/runtime/memory/graph_memory.hpp"
#include "cpu/runtime/memory/memory.hpp"
#include "cpu/runtime/memory/memory_pool.hpp"
#include "cpu/runtime/objects/context.hpp"
#include "cpu/runtime/objects/device.hpp"
#include "cpu/runtime/objects/event.hpp"
#include "cpu/runtime/process/driver_result.hpp"

namespace cucore::cpu::runtime {

namespace {

template <class T>
std::shared_ptr<const Payload> share(T&& payload) {
  return std::make_shared<Payload>(std::forward<T>(payload));
}

/// A context named in parameters: null means the current one.
Result<Context*> named_context(CUcontext handle, Context& current) {
  Context* const context = handle ? find_context(handle) : &current;
  if (!context || !context->is_active()) return ErrorCode::InvalidContext;
  return context;
}

Result<std::shared_ptr<const Payload>> read(Context& current, const CUDA_KERNEL_NODE_PARAMS_v3& given) {
  if (!given.func && !given.kern) return ErrorCode::InvalidValue;
  const Result<Context*> context = named_context(given.ctx, current);
  if (!context) return ErrorCode::InvalidContext;
  KernelPayload payload;
  const CUfunction handle = given.kern ? reinterpret_cast<CUfunction>(given.kern) : given.func;
  if (Result<void> found = result_of(find_function(**context, handle, &payload.function)); !found)
    return std::move(found).failure();
  payload.func = payload.function->handle();
  if (find_kernel(reinterpret_cast<CUkernel>(handle))) payload.kern = reinterpret_cast<CUkernel>(handle);
  payload.context = payload.function->module().context().handle();
  payload.request = {{given.gridDimX, given.gridDimY, given.gridDimZ},
                     {given.blockDimX, given.blockDimY, given.blockDimZ},
                     given.sharedMemBytes,
                     false,
                     given.kernelParams,
                     given.extra,
                     nullptr};
  if (Result<void> checked = check_launch(*payload.function, payload.request); !checked)
    return std::move(checked).failure();
  const KernelDescription& kernel = payload.function->description();
  payload.block.resize((kernel.parameter_bytes + sizeof(std::max_align_t) - 1) / sizeof(std::max_align_t) + 1);
  auto* const block = reinterpret_cast<std::byte*>(payload.block.data());
  if (Result<void> checked = pack_parameters(*payload.function, payload.request, block); !checked)
    return std::move(checked).failure();
  payload.request.parameters = nullptr;
  payload.request.extra = nullptr;
  payload.rebase();  // a vector's elements stay where they are when it is moved
  return share(std::move(payload));
}

Result<std::shared_ptr<const Payload>> read(Context& current, const CUDA_MEMCPY_NODE_PARAMS& given) {
  if (given.flags != 0) return ErrorCode::InvalidValue;
  const Result<Context*> context = named_context(given.copyCtx, current);
  if (!context) return ErrorCode::InvalidContext;
  if (Result<void> checked = check_copy(given.copyParams); !checked) return std::move(checked).failure();
  return share(MemcpyPayload{given.copyParams, (*context)->handle()});
}

Result<std::shared_ptr<const Payload>> read(Context& current, const CUDA_MEMSET_NODE_PARAMS_v2& given) {
  const Result<Context*> context = named_context(given.ctx, current);
  if (!context) return ErrorCode::InvalidContext;
  if (given.elementSize != 1 && given.elementSize != 2 && given.elementSize != 4) return ErrorCode::InvalidValue;
  if (given.width == 0 || given.height == 0) return ErrorCode::InvalidValue;
  std::size_t row = 0;
  if (__builtin_mul_overflow(given.width, std::size_t{given.elementSize}, &row)) return ErrorCode::InvalidValue;
  const Place to{given.dst, Side::Device, given.pitch, 0};
  if (Result<void> checked = check_fill(**context, to, given.elementSize, {row, given.height, 1}); !checked)
    return std::move(checked).failure();
  MemsetPayload payload{given};
  payload.fill.ctx = (*context)->handle();
  return share(payload);
}

Result<std::shared_ptr<const Payload>> read(const CUDA_CHILD_GRAPH_NODE_PARAMS& given) {
  const auto graph = find_graph(given.graph);
  if (!graph) return ErrorCode::InvalidValue;
  if (given.ownership == CU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE) {
    if (graph->is_owned()) return ErrorCode::InvalidValue;
    graph->set_owned();
    return share(ChildPayload{graph});
  }
  if (given.ownership != CU_GRAPH_CHILD_GRAPH_OWNERSHIP_CLONE) return ErrorCode::InvalidValue;
  if (graph->has_memory_nodes() || graph->has_conditional_nodes()) return ErrorCode::NotSupported;
  ChildPayload payload{graph->clone()};
  payload.graph->set_owned();
  return share(std::move(payload));
}

Result<std::shared_ptr<const Payload>> read(CUevent handle, bool is_record) {
  auto event = find_event(handle);
  if (!event) return ErrorCode::InvalidHandle;
  return share(EventPayload{handle, std::move(event), is_record});
}

Result<std::shared_ptr<const Payload>> read(CUDA_MEM_ALLOC_NODE_PARAMS_v2& given) {
  if (given.bytesize == 0 || (given.accessDescCount != 0 && !given.accessDescs)) return ErrorCode::InvalidValue;
  if (given.poolProps.handleTypes != CU_MEM_HANDLE_TYPE_NONE) return ErrorCode::NotSupported;
  if (Result<void> checked = MemoryPool::check(given.poolProps); !checked) return std::move(checked).failure();
  AllocPayload payload{given, {}, nullptr};
  for (std::size_t i = 0; i < given.accessDescCount; ++i) {
    const CUmemLocation& location = given.accessDescs[i].location;
    if (location.type != CU_MEM_LOCATION_TYPE_DEVICE) return ErrorCode::InvalidValue;
    if (!find_device(location.id)) return ErrorCode::InvalidDevice;
    payload.access.push_back(given.accessDescs[i]);
  }
  const CUmemLocation& location = given.poolProps.location;
  const bool is_on_device = location.type == CU_MEM_LOCATION_TYPE_DEVICE;
  const Device& device = *find_device(is_on_device ? location.id : 0);
  const Allocation::Kind kind = given.poolProps.allocType == CU_MEM_ALLOCATION_TYPE_MANAGED ? Allocation::Kind::Managed
                                : is_on_device                                              ? Allocation::Kind::Device
                                                                                            : Allocation::Kind::Host;
  Result<std::shared_ptr<GraphAllocation>> made =
      GraphAllocation::create(device, static_cast<int>(kind), given.bytesize);
  if (!made) return std::move(made).failure();
  payload.memory = *std::move(made);
  given.dptr = payload.memory->address();
  payload.parameters.dptr = given.dptr;
  payload.parameters.accessDescs = payload.access.data();
  return share(std::move(payload));
}

Result<std::shared_ptr<const Payload>> read(const Graph& graph, const CUDA_MEM_FREE_NODE_PARAMS& given) {
  auto memory = find_graph_allocation(given.dptr);
  if (!memory) return ErrorCode::InvalidValue;
  for (const auto& node : graph.nodes())
    if (const auto* const other = std::get_if<FreePayload>(node->payload.get()); other && other->address == given.dptr)
      return ErrorCode::InvalidValue;  // freed twice
  return share(FreePayload{given.dptr, std::move(memory)});
}

Result<std::shared_ptr<const Payload>> read(Context& current, const CUDA_BATCH_MEM_OP_NODE_PARAMS_v2& given) {
  constexpr unsigned int most_of_them = 256;
  const Result<Context*> context = named_context(given.ctx, current);
  if (!context) return ErrorCode::InvalidContext;
  if (given.count == 0 || given.count > most_of_them || !given.paramArray || given.flags != 0)
    return ErrorCode::InvalidValue;
  return share(MemOpsPayload{(*context)->handle(), {given.paramArray, given.paramArray + given.count}, given.flags});
}

Result<std::shared_ptr<const Payload>> read(Context& current, const Graph& graph, CUDA_CONDITIONAL_NODE_PARAMS& given) {
  const Result<Context*> context = named_context(given.ctx, current);
  if (!context) return ErrorCode::InvalidContext;
  const unsigned int most = given.type == CU_GRAPH_COND_TYPE_IF ? 2 : given.type == CU_GRAPH_COND_TYPE_WHILE ? 1 : ~0u;
  if (given.type < CU_GRAPH_COND_TYPE_IF || given.type > CU_GRAPH_COND_TYPE_SWITCH || given.size == 0 ||
      given.size > most || !graph.find_condition(given.handle))
    return ErrorCode::InvalidValue;
  ConditionalPayload payload;
  payload.handle = given.handle;
  payload.type = given.type;
  payload.context = (*context)->handle();
  for (unsigned int i = 0; i < given.size; ++i) {
    auto body = Graph::create();
    body->set_owned();
    body->inherit_conditions(graph);
    payload.body_handles.push_back(body->handle());
    payload.bodies.push_back(std::move(body));
  }
  auto shared = std::make_shared<Payload>(std::move(payload));
  given.phGraph_out = std::get<ConditionalPayload>(*shared).body_handles.data();
  return shared;
}

}  // namespace

void KernelPayload::rebase() {
  auto* const bytes = reinterpret_cast<std::byte*>(block.data());
  request.packed = bytes;
  pointers.clear();
  for (const Parameter& parameter : function->description().parameters) pointers.push_back(bytes + parameter.offset);
}

bool is_updatable(const Payload& payload) {
  const auto* const kernel = std::get_if<KernelPayload>(&payload);
  return kernel != nullptr && kernel->updatable != nullptr;
}

CUgraphDeviceNode device_node_of(const KernelPayload& kernel) {
  return reinterpret_cast<CUgraphDeviceNode>(kernel.updatable->handle());
}

Result<void> make_updatable(CUlaunchAttribute& attribute, KernelPayload* kernel) {
  auto& asked = attribute.value.deviceUpdatableKernelNode;
  if (asked.deviceUpdatable != 0 && asked.deviceUpdatable != 1) return ErrorCode::InvalidValue;
  if (asked.deviceUpdatable == 0) return kernel->updatable ? Result<void>(ErrorCode::InvalidValue) : Result<void>();
  if (!kernel->updatable) kernel->updatable = UpdatableNode::make(kernel->function->description().parameter_bytes);
  asked.devNode = device_node_of(*kernel);
  return {};
}

CUgraphNodeType type_of(const Payload& payload) {
  struct {
    CUgraphNodeType operator()(const EmptyPayload&) const { return CU_GRAPH_NODE_TYPE_EMPTY; }
    CUgraphNodeType operator()(const KernelPayload&) const { return CU_GRAPH_NODE_TYPE_KERNEL; }
    CUgraphNodeType operator()(const MemcpyPayload&) const { return CU_GRAPH_NODE_TYPE_MEMCPY; }
    CUgraphNodeType operator()(const MemsetPayload&) const { return CU_GRAPH_NODE_TYPE_MEMSET; }
    CUgraphNodeType operator()(const HostPayload&) const { return CU_GRAPH_NODE_TYPE_HOST; }
    CUgraphNodeType operator()(const ChildPayload&) const { return CU_GRAPH_NODE_TYPE_GRAPH; }
    CUgraphNodeType operator()(const EventPayload& event) const {
      return event.is_record ? CU_GRAPH_NODE_TYPE_EVENT_RECORD : CU_GRAPH_NODE_TYPE_WAIT_EVENT;
    }
    CUgraphNodeType operator()(const AllocPayload&) const { return CU_GRAPH_NODE_TYPE_MEM_ALLOC; }
    CUgraphNodeType operator()(const FreePayload&) const { return CU_GRAPH_NODE_TYPE_MEM_FREE; }
    CUgraphNodeType operator()(const MemOpsPayload&) const { return CU_GRAPH_NODE_TYPE_BATCH_MEM_OP; }
    CUgraphNodeType operator()(const ConditionalPayload&) const { return CU_GRAPH_NODE_TYPE_CONDITIONAL; }
  } const visitor;
  return std::visit(visitor, payload);
}

Result<std::shared_ptr<const Payload>> read_parameters(Context& context, const Graph& graph,
                                                       CUgraphNodeParams& parameters) {
  switch (parameters.type) {
    case CU_GRAPH_NODE_TYPE_KERNEL:
      return read(context, parameters.kernel);
    case CU_GRAPH_NODE_TYPE_MEMCPY:
      return read(context, parameters.memcpy);
    case CU_GRAPH_NODE_TYPE_MEMSET:
      return read(context, parameters.memset);
    case CU_GRAPH_NODE_TYPE_HOST:
      if (!parameters.host.fn) return ErrorCode::InvalidValue;
      return share(HostPayload{parameters.host.fn, parameters.host.userData});
    case CU_GRAPH_NODE_TYPE_GRAPH:
      return read(parameters.graph);
    case CU_GRAPH_NODE_TYPE_EMPTY:
      return share(EmptyPayload{});
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
      return read(parameters.eventWait.event, false);
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
      return read(parameters.eventRecord.event, true);
    case CU_GRAPH_NODE_TYPE_MEM_ALLOC:
      return read(parameters.alloc);
    case CU_GRAPH_NODE_TYPE_MEM_FREE:
      return read(graph, parameters.free);
    case CU_GRAPH_NODE_TYPE_BATCH_MEM_OP:
      return read(context, parameters.memOp);
    case CU_GRAPH_NODE_TYPE_CONDITIONAL:
      return read(context, graph, parameters.conditional);
    case CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL:
    case CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT:
      return ErrorCode::NotSupported;  // no external semaphores here
    default:
      return ErrorCode::InvalidValue;
  }
}

void write_parameters(const Payload& payload, CUgraphNodeParams* parameters) {
  *parameters = {};
  parameters->type = type_of(payload);
  if (const auto* const kernel = std::get_if<KernelPayload>(&payload)) {
    const LaunchRequest& request = kernel->request;
    auto** const pointers = const_cast<void**>(kernel->pointers.data());
    parameters->kernel = {kernel->func,     request.grid[0],        request.grid[1],
                          request.grid[2],  request.block[0],       request.block[1],
                          request.block[2], request.dynamic_shared, kernel->pointers.empty() ? nullptr : pointers,
                          nullptr,          kernel->kern,           kernel->context};
  } else if (const auto* const memcpy = std::get_if<MemcpyPayload>(&payload)) {
    parameters->memcpy.copyCtx = memcpy->context;
    parameters->memcpy.copyParams = memcpy->copy;
  } else if (const auto* const memset = std::get_if<MemsetPayload>(&payload)) {
    parameters->memset = memset->fill;
  } else if (const auto* const host = std::get_if<HostPayload>(&payload)) {
    parameters->host = {host->function, host->data};
  } else if (const auto* const child = std::get_if<ChildPayload>(&payload)) {
    parameters->graph.graph = child->graph->handle();
  } else if (const auto* const event = std::get_if<EventPayload>(&payload)) {
    if (event->is_record)
      parameters->eventRecord.event = event->handle;
    else
      parameters->eventWait.event = event->handle;
  } else if (const auto* const alloc = std::get_if<AllocPayload>(&payload)) {
    parameters->alloc = alloc->parameters;
    parameters->alloc.accessDescs = alloc->access.data();
  } else if (const auto* const free = std::get_if<FreePayload>(&payload)) {
    parameters->free.dptr = free->address;
  } else if (const auto* const operations = std::get_if<MemOpsPayload>(&payload)) {
    parameters->memOp.ctx = operations->context;
    parameters->memOp.count = static_cast<unsigned int>(operations->operations.size());
    parameters->memOp.paramArray = const_cast<CUstreamBatchMemOpParams*>(operations->operations.data());
    parameters->memOp.flags = operations->flags;
  } else if (const auto* const conditional = std::get_if<ConditionalPayload>(&payload)) {
    parameters->conditional.handle = conditional->handle;
    parameters->conditional.type = conditional->type;
    parameters->conditional.size = static_cast<unsigned int>(conditional->bodies.size());
    parameters->conditional.phGraph_out = const_cast<CUgraph*>(conditional->body_handles.data());
    parameters->conditional.ctx = conditional->context;
  }
}

}  // namespace cucore::cpu::runtime
