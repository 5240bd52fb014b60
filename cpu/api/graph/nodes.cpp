// Graph management chapter: nodes of every type, in the form that names the type and in the general one.
#include <cstring>
#include <span>

#include "cpu/api/cuda_13_5.hpp"
#include "cpu/api/graph/entry.hpp"
#include "cpu/runtime/loading/module.hpp"
#include "cpu/runtime/memory/graph_memory.hpp"
#include "cpu/runtime/objects/device.hpp"

using namespace cucore::cpu::api;
namespace runtime = cucore::cpu::runtime;

namespace cucore::cpu::api {

namespace {

/// Memory nodes and conditions are fixed once made.
bool is_changeable(CUgraphNodeType type) {
  return type != CU_GRAPH_NODE_TYPE_MEM_ALLOC && type != CU_GRAPH_NODE_TYPE_MEM_FREE &&
         type != CU_GRAPH_NODE_TYPE_CONDITIONAL && type != CU_GRAPH_NODE_TYPE_EMPTY;
}

/// New parameters of a kernel node keep the attributes it has.
void keep_attributes(const runtime::Payload& old, std::shared_ptr<const runtime::Payload>* payload) {
  const auto* const before = std::get_if<runtime::KernelPayload>(&old);
  const auto* const after = std::get_if<runtime::KernelPayload>(payload->get());
  if (!before || !after || before->attributes.empty()) return;
  runtime::KernelPayload kernel = *after;
  kernel.attributes = before->attributes;
  kernel.request.cooperative = before->request.cooperative;
  std::copy_n(before->request.cluster, 3, kernel.request.cluster);
  kernel.updatable = before->updatable;
  kernel.rebase();
  *payload = std::make_shared<runtime::Payload>(std::move(kernel));
}

}  // namespace

CUresult add_node(CUgraphNode* out, CUgraph graph, const CUgraphNode* dependencies, const CUgraphEdgeData* data,
                  size_t count, CUgraphNodeParams& parameters, EntryName entry) {
  return in_context(entry, [&](Context& context) {
    const std::lock_guard lock(runtime::graph_mutex());
    const auto found = runtime::find_graph(graph);
    if (!found || !out || (count != 0 && !dependencies)) return CUDA_ERROR_INVALID_VALUE;
    auto payload = runtime::read_parameters(context, *found, parameters);
    if (!payload) return driver_result(payload.failure());
    return driver_result(found->add(*std::move(payload), std::span(dependencies, count), data),
                         [&](const std::shared_ptr<GraphNode>& node) { *out = node->handle; });
  });
}

CUresult set_node(CUgraphNode node, CUgraphNodeParams& parameters, EntryName entry) {
  return in_context(entry, [&](Context& context) {
    const std::lock_guard lock(runtime::graph_mutex());
    const auto found = runtime::find_graph_node(node);
    if (!found || runtime::type_of(*found->payload) != parameters.type || !is_changeable(parameters.type))
      return CUDA_ERROR_INVALID_VALUE;
    auto read = runtime::read_parameters(context, *found->graph, parameters);
    if (!read) return driver_result(read.failure());
    std::shared_ptr<const runtime::Payload> payload = *std::move(read);
    keep_attributes(*found->payload, &payload);
    if (const auto* const child = std::get_if<runtime::ChildPayload>(found->payload.get())) child->graph->end_handles();
    found->payload = std::move(payload);
    return CUDA_SUCCESS;
  });
}

CUresult set_exec_node(CUgraphExec exec, CUgraphNode node, CUgraphNodeParams& parameters, EntryName entry) {
  return in_context(entry, [&](Context& context) {
    const std::lock_guard lock(runtime::graph_mutex());
    const auto executable = runtime::find_graph_exec(exec);
    const auto found = runtime::find_graph_node(node);
    if (!executable || !found) return CUDA_ERROR_INVALID_VALUE;
    const runtime::ExecNode* const present = executable->find(found->id);
    if (!present || runtime::type_of(*present->payload) != parameters.type || !is_changeable(parameters.type))
      return CUDA_ERROR_INVALID_VALUE;
    auto read = runtime::read_parameters(context, *found->graph, parameters);
    if (!read) return driver_result(read.failure());
    std::shared_ptr<const runtime::Payload> payload = *std::move(read);
    keep_attributes(*present->payload, &payload);
    const auto* const child = std::get_if<runtime::ChildPayload>(payload.get());
    if (child) child->graph->end_handles();  // this clone's handles are never given out
    return driver_result(executable->set_payload(found->id, std::move(payload)));
  });
}

CUresult get_node(CUgraphNode node, CUgraphNodeType type, CUgraphNodeParams* parameters) {
  return of_node(node, [&](GraphNode& found) {
    if (runtime::type_of(*found.payload) != type) return CUDA_ERROR_INVALID_VALUE;
    runtime::write_parameters(*found.payload, parameters);
    return CUDA_SUCCESS;
  });
}

}  // namespace cucore::cpu::api

namespace {

CUgraphNodeParams of_type(CUgraphNodeType type) {
  CUgraphNodeParams parameters{};
  parameters.type = type;
  return parameters;
}

CUresult refuse(EntryName entry = EntryName(__builtin_FUNCTION())) {
  return in_context(entry, [](Context&) { return CUDA_ERROR_INVALID_VALUE; });
}

/// A structure of the form that names the type, into the general one. Null: none.
template <class T>
bool pack(CUgraphNodeType type, const T* given, CUgraphNodeParams* parameters) {
  *parameters = of_type(type);
  if (!given) return false;
  std::memcpy(&parameters->kernel, given, sizeof *given);  // every variant starts at the union's start
  return true;
}

template <class T>
CUresult unpack(CUgraphNode node, CUgraphNodeType type, T* out) {
  CUgraphNodeParams parameters{};
  const CUresult result = get_node(node, type, &parameters);
  if (result != CUDA_SUCCESS) return result;
  if (!out) return CUDA_ERROR_INVALID_VALUE;
  std::memcpy(out, &parameters.kernel, sizeof *out);
  return CUDA_SUCCESS;
}

bool pack_copy(const CUDA_MEMCPY3D* copy, CUcontext context, CUgraphNodeParams* parameters) {
  *parameters = of_type(CU_GRAPH_NODE_TYPE_MEMCPY);
  if (!copy) return false;
  parameters->memcpy.copyCtx = context;
  parameters->memcpy.copyParams = *copy;
  return true;
}

bool pack_fill(const CUDA_MEMSET_NODE_PARAMS* fill, CUcontext context, CUgraphNodeParams* parameters) {
  if (!pack(CU_GRAPH_NODE_TYPE_MEMSET, fill, parameters)) return false;
  parameters->memset.ctx = context;
  return true;
}

/// The context that a copy or a fill was made for.
CUcontext context_of(CUgraphNode node) {
  CUgraphNodeParams parameters{};
  if (get_node(node, CU_GRAPH_NODE_TYPE_MEMCPY, &parameters) == CUDA_SUCCESS) return parameters.memcpy.copyCtx;
  if (get_node(node, CU_GRAPH_NODE_TYPE_MEMSET, &parameters) == CUDA_SUCCESS) return parameters.memset.ctx;
  return nullptr;
}

template <class F>
CUresult of_kernel_node(CUgraphNode node, F&& call) {
  return of_node(node, [&](GraphNode& found) {
    const auto* const kernel = std::get_if<runtime::KernelPayload>(found.payload.get());
    return kernel ? call(found, *kernel) : CUDA_ERROR_INVALID_VALUE;
  });
}

CUresult set_attribute(GraphNode& node, const runtime::KernelPayload& old, CUlaunchAttribute attribute) {
  if (const auto checked = runtime::check_attribute(attribute); !checked) return driver_result(checked);
  if (attribute.id == CU_LAUNCH_ATTRIBUTE_PRIORITY)
    attribute.value.priority = std::clamp(attribute.value.priority, -5, 0);  // as streams have
  runtime::KernelPayload kernel = old;
  if (attribute.id == CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE)
    if (const auto made = runtime::make_updatable(attribute, &kernel); !made) return driver_result(made);
  std::erase_if(kernel.attributes, [&](const auto& each) { return each.id == attribute.id; });
  kernel.attributes.push_back(attribute);
  runtime::apply(attribute, &kernel.request);
  if (const CUresult result = driver_result(runtime::check_launch(*kernel.function, kernel.request));
      result != CUDA_SUCCESS)
    return result;
  if (const CUresult result = driver_result(runtime::check_cluster(*kernel.function, kernel.request));
      result != CUDA_SUCCESS)
    return result;
  kernel.rebase();
  node.payload = std::make_shared<runtime::Payload>(std::move(kernel));
  return CUDA_SUCCESS;
}

}  // namespace

CUresult cuGraphAddNode(CUgraphNode* phGraphNode, CUgraph hGraph, const CUgraphNode* dependencies,
                        size_t numDependencies, CUgraphNodeParams* nodeParams) {
  return cuGraphAddNode_v2(phGraphNode, hGraph, dependencies, nullptr, numDependencies, nodeParams);
}
CUresult cuGraphAddNode_v2(CUgraphNode* phGraphNode, CUgraph hGraph, const CUgraphNode* dependencies,
                           const CUgraphEdgeData* dependencyData, size_t numDependencies,
                           CUgraphNodeParams* nodeParams) {
  if (!nodeParams) return refuse();
  return add_node(phGraphNode, hGraph, dependencies, dependencyData, numDependencies, *nodeParams);
}
// From 13.4 on host functions and event records may name a context; here it makes no difference which.
CUresult cuGraphAddNode_v3(CUgraphNode* phGraphNode, CUgraph hGraph, const CUgraphNode* dependencies,
                           const CUgraphEdgeData* dependencyData, size_t numDependencies,
                           CUgraphNodeParams* nodeParams) {
  return cuGraphAddNode_v2(phGraphNode, hGraph, dependencies, dependencyData, numDependencies, nodeParams);
}
CUresult cuGraphNodeSetParams(CUgraphNode hNode, CUgraphNodeParams* nodeParams) {
  return nodeParams ? set_node(hNode, *nodeParams) : refuse();
}
CUresult cuGraphNodeSetParams_v2(CUgraphNode hNode, CUgraphNodeParams* nodeParams) {
  return cuGraphNodeSetParams(hNode, nodeParams);
}
CUresult cuGraphNodeGetParams(CUgraphNode hNode, CUgraphNodeParams* nodeParams) {
  return of_node(hNode, [&](GraphNode& node) {
    if (!nodeParams) return CUDA_ERROR_INVALID_VALUE;
    runtime::write_parameters(*node.payload, nodeParams);
    return CUDA_SUCCESS;
  });
}
CUresult cuGraphExecNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode, CUgraphNodeParams* nodeParams) {
  return nodeParams ? set_exec_node(hGraphExec, hNode, *nodeParams) : refuse();
}

// The forms that name the type, all alike: add, get, set, set in an executable graph.
#define NODE_ENTRIES(Name, TYPE, Params, Versioned)                                                       \
  CUresult cuGraphAdd##Name##Node##Versioned(CUgraphNode* phGraphNode, CUgraph hGraph,                    \
                                             const CUgraphNode* dependencies, size_t numDependencies,     \
                                             const Params* nodeParams) {                                  \
    CUgraphNodeParams parameters;                                                                         \
    if (!pack(TYPE, nodeParams, &parameters)) return refuse();                                            \
    return add_node(phGraphNode, hGraph, dependencies, nullptr, numDependencies, parameters);             \
  }                                                                                                       \
  CUresult cuGraph##Name##NodeGetParams##Versioned(CUgraphNode hNode, Params* nodeParams) {               \
    return unpack(hNode, TYPE, nodeParams);                                                               \
  }                                                                                                       \
  CUresult cuGraph##Name##NodeSetParams##Versioned(CUgraphNode hNode, const Params* nodeParams) {         \
    CUgraphNodeParams parameters;                                                                         \
    return pack(TYPE, nodeParams, &parameters) ? set_node(hNode, parameters) : refuse();                  \
  }                                                                                                       \
  CUresult cuGraphExec##Name##NodeSetParams##Versioned(CUgraphExec hGraphExec, CUgraphNode hNode,         \
                                                       const Params* nodeParams) {                        \
    CUgraphNodeParams parameters;                                                                         \
    return pack(TYPE, nodeParams, &parameters) ? set_exec_node(hGraphExec, hNode, parameters) : refuse(); \
  }

NODE_ENTRIES(Kernel, CU_GRAPH_NODE_TYPE_KERNEL, CUDA_KERNEL_NODE_PARAMS_v1, )
NODE_ENTRIES(Kernel, CU_GRAPH_NODE_TYPE_KERNEL, CUDA_KERNEL_NODE_PARAMS, _v2)
NODE_ENTRIES(Host, CU_GRAPH_NODE_TYPE_HOST, CUDA_HOST_NODE_PARAMS, )
NODE_ENTRIES(BatchMemOp, CU_GRAPH_NODE_TYPE_BATCH_MEM_OP, CUDA_BATCH_MEM_OP_NODE_PARAMS, )

CUresult cuGraphAddMemcpyNode(CUgraphNode* phGraphNode, CUgraph hGraph, const CUgraphNode* dependencies,
                              size_t numDependencies, const CUDA_MEMCPY3D* copyParams, CUcontext ctx) {
  CUgraphNodeParams parameters;
  if (!pack_copy(copyParams, ctx, &parameters)) return refuse();
  return add_node(phGraphNode, hGraph, dependencies, nullptr, numDependencies, parameters);
}
CUresult cuGraphMemcpyNodeGetParams(CUgraphNode hNode, CUDA_MEMCPY3D* nodeParams) {
  CUgraphNodeParams parameters{};
  const CUresult result = get_node(hNode, CU_GRAPH_NODE_TYPE_MEMCPY, &parameters);
  if (result != CUDA_SUCCESS || !nodeParams) return result == CUDA_SUCCESS ? CUDA_ERROR_INVALID_VALUE : result;
  *nodeParams = parameters.memcpy.copyParams;
  return CUDA_SUCCESS;
}
CUresult cuGraphMemcpyNodeSetParams(CUgraphNode hNode, const CUDA_MEMCPY3D* nodeParams) {
  CUgraphNodeParams parameters;
  return pack_copy(nodeParams, context_of(hNode), &parameters) ? set_node(hNode, parameters) : refuse();
}
CUresult cuGraphExecMemcpyNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode, const CUDA_MEMCPY3D* copyParams,
                                        CUcontext ctx) {
  CUgraphNodeParams parameters;
  return pack_copy(copyParams, ctx, &parameters) ? set_exec_node(hGraphExec, hNode, parameters) : refuse();
}

CUresult cuGraphAddMemsetNode(CUgraphNode* phGraphNode, CUgraph hGraph, const CUgraphNode* dependencies,
                              size_t numDependencies, const CUDA_MEMSET_NODE_PARAMS* memsetParams, CUcontext ctx) {
  CUgraphNodeParams parameters;
  if (!pack_fill(memsetParams, ctx, &parameters)) return refuse();
  return add_node(phGraphNode, hGraph, dependencies, nullptr, numDependencies, parameters);
}
CUresult cuGraphMemsetNodeGetParams(CUgraphNode hNode, CUDA_MEMSET_NODE_PARAMS* nodeParams) {
  return unpack(hNode, CU_GRAPH_NODE_TYPE_MEMSET, nodeParams);
}
CUresult cuGraphMemsetNodeSetParams(CUgraphNode hNode, const CUDA_MEMSET_NODE_PARAMS* nodeParams) {
  CUgraphNodeParams parameters;
  return pack_fill(nodeParams, context_of(hNode), &parameters) ? set_node(hNode, parameters) : refuse();
}
CUresult cuGraphExecMemsetNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode,
                                        const CUDA_MEMSET_NODE_PARAMS* memsetParams, CUcontext ctx) {
  CUgraphNodeParams parameters;
  return pack_fill(memsetParams, ctx, &parameters) ? set_exec_node(hGraphExec, hNode, parameters) : refuse();
}

CUresult cuGraphAddEmptyNode(CUgraphNode* phGraphNode, CUgraph hGraph, const CUgraphNode* dependencies,
                             size_t numDependencies) {
  CUgraphNodeParams parameters = of_type(CU_GRAPH_NODE_TYPE_EMPTY);
  return add_node(phGraphNode, hGraph, dependencies, nullptr, numDependencies, parameters);
}

CUresult cuGraphAddChildGraphNode(CUgraphNode* phGraphNode, CUgraph hGraph, const CUgraphNode* dependencies,
                                  size_t numDependencies, CUgraph childGraph) {
  CUgraphNodeParams parameters = of_type(CU_GRAPH_NODE_TYPE_GRAPH);
  parameters.graph.graph = childGraph;
  return add_node(phGraphNode, hGraph, dependencies, nullptr, numDependencies, parameters);
}
CUresult cuGraphChildGraphNodeGetGraph(CUgraphNode hNode, CUgraph* phGraph) {
  return unpack(hNode, CU_GRAPH_NODE_TYPE_GRAPH, phGraph);
}
CUresult cuGraphExecChildGraphNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode, CUgraph childGraph) {
  CUgraphNodeParams parameters = of_type(CU_GRAPH_NODE_TYPE_GRAPH);
  parameters.graph.graph = childGraph;
  return set_exec_node(hGraphExec, hNode, parameters);
}

#define EVENT_ENTRIES(Name, TYPE)                                                                            \
  CUresult cuGraphAdd##Name##Node(CUgraphNode* phGraphNode, CUgraph hGraph, const CUgraphNode* dependencies, \
                                  size_t numDependencies, CUevent event) {                                   \
    CUgraphNodeParams parameters;                                                                            \
    pack(TYPE, &event, &parameters);                                                                         \
    return add_node(phGraphNode, hGraph, dependencies, nullptr, numDependencies, parameters);                \
  }                                                                                                          \
  CUresult cuGraph##Name##NodeGetEvent(CUgraphNode hNode, CUevent* event_out) {                              \
    return unpack(hNode, TYPE, event_out);                                                                   \
  }                                                                                                          \
  CUresult cuGraph##Name##NodeSetEvent(CUgraphNode hNode, CUevent event) {                                   \
    CUgraphNodeParams parameters;                                                                            \
    pack(TYPE, &event, &parameters);                                                                         \
    return set_node(hNode, parameters);                                                                      \
  }                                                                                                          \
  CUresult cuGraphExec##Name##NodeSetEvent(CUgraphExec hGraphExec, CUgraphNode hNode, CUevent event) {       \
    CUgraphNodeParams parameters;                                                                            \
    pack(TYPE, &event, &parameters);                                                                         \
    return set_exec_node(hGraphExec, hNode, parameters);                                                     \
  }

EVENT_ENTRIES(EventRecord, CU_GRAPH_NODE_TYPE_EVENT_RECORD)
EVENT_ENTRIES(EventWait, CU_GRAPH_NODE_TYPE_WAIT_EVENT)

CUresult cuGraphAddMemAllocNode(CUgraphNode* phGraphNode, CUgraph hGraph, const CUgraphNode* dependencies,
                                size_t numDependencies, CUDA_MEM_ALLOC_NODE_PARAMS* nodeParams) {
  CUgraphNodeParams parameters;
  if (!pack(CU_GRAPH_NODE_TYPE_MEM_ALLOC, nodeParams, &parameters)) return refuse();
  const CUresult result = add_node(phGraphNode, hGraph, dependencies, nullptr, numDependencies, parameters);
  if (result == CUDA_SUCCESS) nodeParams->dptr = parameters.alloc.dptr;
  return result;
}
CUresult cuGraphMemAllocNodeGetParams(CUgraphNode hNode, CUDA_MEM_ALLOC_NODE_PARAMS* params_out) {
  return unpack(hNode, CU_GRAPH_NODE_TYPE_MEM_ALLOC, params_out);
}
CUresult cuGraphAddMemFreeNode(CUgraphNode* phGraphNode, CUgraph hGraph, const CUgraphNode* dependencies,
                               size_t numDependencies, CUdeviceptr dptr) {
  CUgraphNodeParams parameters = of_type(CU_GRAPH_NODE_TYPE_MEM_FREE);
  parameters.free.dptr = dptr;
  return add_node(phGraphNode, hGraph, dependencies, nullptr, numDependencies, parameters);
}
CUresult cuGraphMemFreeNodeGetParams(CUgraphNode hNode, CUdeviceptr* dptr_out) {
  return unpack(hNode, CU_GRAPH_NODE_TYPE_MEM_FREE, dptr_out);
}

CUresult cuGraphKernelNodeGetAttribute(CUgraphNode hNode, CUkernelNodeAttrID attr, CUkernelNodeAttrValue* value_out) {
  return of_kernel_node(hNode, [&](GraphNode&, const runtime::KernelPayload& kernel) {
    if (!value_out || attr <= CU_LAUNCH_ATTRIBUTE_IGNORE || attr >= CU_LAUNCH_ATTRIBUTE_MAX)
      return CUDA_ERROR_INVALID_VALUE;
    *value_out = {};
    for (const CUlaunchAttribute& each : kernel.attributes)
      if (each.id == attr) *value_out = each.value;
    return CUDA_SUCCESS;
  });
}

CUresult cuGraphKernelNodeSetAttribute(CUgraphNode hNode, CUkernelNodeAttrID attr, const CUkernelNodeAttrValue* value) {
  return of_kernel_node(hNode, [&](GraphNode& node, const runtime::KernelPayload& kernel) {
    if (!value || attr <= CU_LAUNCH_ATTRIBUTE_IGNORE || attr >= CU_LAUNCH_ATTRIBUTE_MAX)
      return CUDA_ERROR_INVALID_VALUE;
    CUlaunchAttribute attribute{};
    attribute.id = attr;
    attribute.value = *value;
    const CUresult result = set_attribute(node, kernel, attribute);
    if (result != CUDA_SUCCESS || attr != CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE) return result;
    // The one attribute that answers: whoever asks for it reads the node's handle there.
    const auto& made = std::get<runtime::KernelPayload>(*node.payload);
    if (made.updatable)
      const_cast<CUkernelNodeAttrValue*>(value)->deviceUpdatableKernelNode.devNode = runtime::device_node_of(made);
    return result;
  });
}

CUresult cuGraphKernelNodeCopyAttributes(CUgraphNode dst, CUgraphNode src) {
  return of_kernel_node(src, [&](GraphNode&, const runtime::KernelPayload& from) {
    const std::vector<CUlaunchAttribute> attributes = from.attributes;
    return of_kernel_node(dst, [&](GraphNode& node, const runtime::KernelPayload& to) {
      if (from.updatable || to.updatable) return CUDA_ERROR_INVALID_VALUE;  // their attributes are not copied
      for (const CUlaunchAttribute& each : attributes) {
        const auto& present = std::get<runtime::KernelPayload>(*node.payload);
        if (const CUresult result = set_attribute(node, present, each); result != CUDA_SUCCESS) return result;
      }
      return CUDA_SUCCESS;
    });
  });
}

namespace {

template <class F>
CUresult of_graph_memory(CUdevice device, F&& call) {
  return initialized([&] {
    const runtime::Device* const found = runtime::find_device(device);
    return found ? call(*found) : CUDA_ERROR_INVALID_DEVICE;
  });
}

}  // namespace

CUresult cuDeviceGraphMemTrim(CUdevice device) {
  return of_graph_memory(device, [](const runtime::Device& found) {
    runtime::GraphAllocation::trim(found);
    return CUDA_SUCCESS;
  });
}
CUresult cuDeviceGetGraphMemAttribute(CUdevice device, CUgraphMem_attribute attr, void* value) {
  return of_graph_memory(device, [&](const runtime::Device& found) {
    return value ? driver_result(runtime::graph_memory_attribute(found, attr), static_cast<cuuint64_t*>(value))
                 : CUDA_ERROR_INVALID_VALUE;
  });
}
CUresult cuDeviceSetGraphMemAttribute(CUdevice device, CUgraphMem_attribute attr, void* value) {
  return of_graph_memory(device, [&](const runtime::Device& found) {
    return value ? driver_result(runtime::set_graph_memory_attribute(found, attr, value)) : CUDA_ERROR_INVALID_VALUE;
  });
}
