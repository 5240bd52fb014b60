// Graph management chapter: definitions as a whole, their nodes and edges, user objects.
#include <algorithm>
#include <fstream>

#include "cpu/api/cuda_13_5.hpp"
#include "cpu/api/graph/entry.hpp"
#include "cpu/runtime/graph/user_object.hpp"

using namespace cucore::cpu::api;
namespace runtime = cucore::cpu::runtime;
using runtime::UserObject;

namespace {

/// The driver's way with lists: null asks for the count; else at most *count are written, the rest is nulled.
template <class T>
CUresult list(const std::vector<T>& items, T* out, size_t* count) {
  if (!count) return CUDA_ERROR_INVALID_VALUE;
  if (!out) {
    *count = items.size();
    return CUDA_SUCCESS;
  }
  const size_t taken = std::min(*count, items.size());
  std::copy_n(items.begin(), taken, out);
  std::fill(out + taken, out + *count, T{});
  *count = taken;
  return CUDA_SUCCESS;
}

/// Nodes at the other ends of edges. Without room for edge data, edges that carry any are LOSSY_QUERY.
CUresult list_edges(const std::vector<GraphNode::Edge>& edges, CUgraphNode* nodes, CUgraphEdgeData* data,
                    size_t* count) {
  if (!count || (data && !nodes)) return CUDA_ERROR_INVALID_VALUE;
  std::vector<CUgraphNode> handles;
  for (size_t i = 0; i < edges.size(); ++i) {
    handles.push_back(edges[i].node->handle);
    if (nodes && !data && edges[i].data.type != 0) return CUDA_ERROR_LOSSY_QUERY;
    if (data && i < *count) data[i] = edges[i].data;
  }
  return list(handles, nodes, count);
}

template <class F>
CUresult for_pairs(CUgraph graph, const CUgraphNode* from, const CUgraphNode* to, size_t count, F&& call) {
  return of_graph(graph, [&](Graph& found) {
    if (count != 0 && (!from || !to)) return CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; i < count; ++i) {
      const auto first = runtime::find_graph_node(from[i]);
      const auto second = runtime::find_graph_node(to[i]);
      if (!first || !second) return CUDA_ERROR_INVALID_VALUE;
      if (const CUresult result = call(found, *first, *second, i); result != CUDA_SUCCESS) return result;
    }
    return CUDA_SUCCESS;
  });
}

template <class F>
CUresult of_user_object(CUuserObject handle, F&& call) {
  return initialized([&] {
    const auto object = runtime::find_user_object(handle);
    return object ? call(object) : CUDA_ERROR_INVALID_VALUE;
  });
}

}  // namespace

CUresult cuGraphCreate(CUgraph* phGraph, unsigned int flags) {
  return with_graphs([&] {
    if (!phGraph || flags != 0) return CUDA_ERROR_INVALID_VALUE;
    *phGraph = Graph::create()->handle();
    return CUDA_SUCCESS;
  });
}

CUresult cuGraphDestroy(CUgraph hGraph) {
  return with_graphs([&] { return driver_result(runtime::destroy_graph(hGraph)); });
}

CUresult cuGraphClone(CUgraph* phGraphClone, CUgraph originalGraph) {
  return of_graph(originalGraph, [&](Graph& graph) {
    if (!phGraphClone) return CUDA_ERROR_INVALID_VALUE;
    if (graph.has_memory_nodes() || !graph.conditions().empty()) return CUDA_ERROR_NOT_SUPPORTED;
    *phGraphClone = graph.clone()->handle();
    return CUDA_SUCCESS;
  });
}

CUresult cuGraphNodeFindInClone(CUgraphNode* phNode, CUgraphNode hOriginalNode, CUgraph hClonedGraph) {
  return of_graph(hClonedGraph, [&](Graph& clone) {
    const auto original = runtime::find_graph_node(hOriginalNode);
    if (!phNode || !original) return CUDA_ERROR_INVALID_VALUE;
    const auto found = std::find_if(clone.nodes().begin(), clone.nodes().end(),
                                    [&](const auto& node) { return node->original == original->id; });
    if (found == clone.nodes().end()) return CUDA_ERROR_INVALID_VALUE;
    *phNode = (*found)->handle;
    return CUDA_SUCCESS;
  });
}

CUresult cuGraphGetNodes(CUgraph hGraph, CUgraphNode* nodes, size_t* numNodes) {
  return of_graph(hGraph, [&](Graph& graph) {
    std::vector<CUgraphNode> handles;
    for (const auto& node : graph.nodes()) handles.push_back(node->handle);
    return list(handles, nodes, numNodes);
  });
}

CUresult cuGraphGetRootNodes(CUgraph hGraph, CUgraphNode* rootNodes, size_t* numRootNodes) {
  return of_graph(hGraph, [&](Graph& graph) {
    std::vector<CUgraphNode> handles;
    for (const auto& node : graph.nodes())
      if (node->dependencies.empty()) handles.push_back(node->handle);
    return list(handles, rootNodes, numRootNodes);
  });
}

CUresult cuGraphGetEdges(CUgraph hGraph, CUgraphNode* from, CUgraphNode* to, size_t* numEdges) {
  return cuGraphGetEdges_v2(hGraph, from, to, nullptr, numEdges);
}

CUresult cuGraphGetEdges_v2(CUgraph hGraph, CUgraphNode* from, CUgraphNode* to, CUgraphEdgeData* edgeData,
                            size_t* numEdges) {
  return of_graph(hGraph, [&](Graph& graph) {
    if (!numEdges || (from == nullptr) != (to == nullptr)) return CUDA_ERROR_INVALID_VALUE;
    std::vector<CUgraphNode> starts, ends;
    for (const auto& node : graph.nodes())
      for (const auto& edge : node->dependents) {
        if (from && !edgeData && edge.data.type != 0) return CUDA_ERROR_LOSSY_QUERY;
        if (edgeData && starts.size() < *numEdges) edgeData[starts.size()] = edge.data;
        starts.push_back(node->handle);
        ends.push_back(edge.node->handle);
      }
    size_t count = *numEdges;
    if (const CUresult result = list(starts, from, &count); result != CUDA_SUCCESS) return result;
    return list(ends, to, numEdges);
  });
}

CUresult cuGraphNodeGetType(CUgraphNode hNode, CUgraphNodeType* type) {
  return of_node(hNode, [&](GraphNode& node) {
    if (!type) return CUDA_ERROR_INVALID_VALUE;
    *type = runtime::type_of(*node.payload);
    return CUDA_SUCCESS;
  });
}

CUresult cuGraphGetId(CUgraph hGraph, unsigned int* graphId) {
  return of_graph(hGraph, [&](Graph& graph) { return put(graph.id(), graphId); });
}
CUresult cuGraphNodeGetLocalId(CUgraphNode hNode, unsigned int* nodeId) {
  return of_node(hNode, [&](GraphNode& node) { return put(static_cast<unsigned int>(node.id), nodeId); });
}
CUresult cuGraphNodeGetToolsId(CUgraphNode hNode, unsigned long long* toolsNodeId) {
  return of_node(hNode, [&](GraphNode& node) {  // node ids are never reused, in any graph
    return put(static_cast<unsigned long long>(node.id), toolsNodeId);
  });
}
CUresult cuGraphNodeGetContainingGraph(CUgraphNode hNode, CUgraph* phGraph) {
  return of_node(hNode, [&](GraphNode& node) { return put(node.graph->handle(), phGraph); });
}

CUresult cuGraphNodeGetDependencies(CUgraphNode hNode, CUgraphNode* dependencies, size_t* numDependencies) {
  return cuGraphNodeGetDependencies_v2(hNode, dependencies, nullptr, numDependencies);
}
CUresult cuGraphNodeGetDependencies_v2(CUgraphNode hNode, CUgraphNode* dependencies, CUgraphEdgeData* edgeData,
                                       size_t* numDependencies) {
  return of_node(
      hNode, [&](GraphNode& node) { return list_edges(node.dependencies, dependencies, edgeData, numDependencies); });
}

CUresult cuGraphNodeGetDependentNodes(CUgraphNode hNode, CUgraphNode* dependentNodes, size_t* numDependentNodes) {
  return cuGraphNodeGetDependentNodes_v2(hNode, dependentNodes, nullptr, numDependentNodes);
}
CUresult cuGraphNodeGetDependentNodes_v2(CUgraphNode hNode, CUgraphNode* dependentNodes, CUgraphEdgeData* edgeData,
                                         size_t* numDependentNodes) {
  return of_node(
      hNode, [&](GraphNode& node) { return list_edges(node.dependents, dependentNodes, edgeData, numDependentNodes); });
}

CUresult cuGraphAddDependencies(CUgraph hGraph, const CUgraphNode* from, const CUgraphNode* to,
                                size_t numDependencies) {
  return cuGraphAddDependencies_v2(hGraph, from, to, nullptr, numDependencies);
}
CUresult cuGraphAddDependencies_v2(CUgraph hGraph, const CUgraphNode* from, const CUgraphNode* to,
                                   const CUgraphEdgeData* edgeData, size_t numDependencies) {
  return for_pairs(hGraph, from, to, numDependencies, [&](Graph& graph, GraphNode& first, GraphNode& second, size_t i) {
    return driver_result(graph.connect(first, second, edgeData ? edgeData + i : nullptr));
  });
}

CUresult cuGraphRemoveDependencies(CUgraph hGraph, const CUgraphNode* from, const CUgraphNode* to,
                                   size_t numDependencies) {
  return cuGraphRemoveDependencies_v2(hGraph, from, to, nullptr, numDependencies);
}
CUresult cuGraphRemoveDependencies_v2(CUgraph hGraph, const CUgraphNode* from, const CUgraphNode* to,
                                      const CUgraphEdgeData*, size_t numDependencies) {
  return for_pairs(hGraph, from, to, numDependencies, [](Graph& graph, GraphNode& first, GraphNode& second, size_t) {
    return graph.has_memory_nodes() ? CUDA_ERROR_NOT_SUPPORTED : driver_result(graph.disconnect(first, second));
  });
}

CUresult cuGraphDestroyNode(CUgraphNode hNode) {
  return of_node(hNode, [](GraphNode& node) { return driver_result(node.graph->remove(node)); });
}

CUresult cuGraphConditionalHandleCreate(CUgraphConditionalHandle* pHandle_out, CUgraph hGraph, CUcontext ctx,
                                        unsigned int defaultLaunchValue, unsigned int flags) {
  return of_graph(hGraph, [&](Graph& graph) {
    if (!pHandle_out || (flags & ~static_cast<unsigned int>(CU_GRAPH_COND_ASSIGN_DEFAULT)) != 0)
      return CUDA_ERROR_INVALID_VALUE;
    if (!ctx || !runtime::find_context(ctx)) return CUDA_ERROR_INVALID_CONTEXT;
    *pHandle_out = graph.create_condition(defaultLaunchValue, flags == CU_GRAPH_COND_ASSIGN_DEFAULT);
    return CUDA_SUCCESS;
  });
}

CUresult cuGraphDebugDotPrint(CUgraph hGraph, const char* path, unsigned int flags) {
  return of_graph(hGraph, [&](Graph& graph) {
    if (!path) return CUDA_ERROR_INVALID_VALUE;
    std::ofstream file(path);
    file << runtime::dot_of(graph, flags);
    file.close();
    return file ? CUDA_SUCCESS : CUDA_ERROR_OPERATING_SYSTEM;
  });
}

CUresult cuUserObjectCreate(CUuserObject* object_out, void* ptr, CUhostFn destroy, unsigned int initialRefcount,
                            unsigned int flags) {
  return initialized([&] {
    return object_out ? driver_result(UserObject::create(ptr, destroy, initialRefcount, flags), object_out)
                      : CUDA_ERROR_INVALID_VALUE;
  });
}

CUresult cuUserObjectRetain(CUuserObject object, unsigned int count) {
  return of_user_object(object, [&](const auto& found) { return driver_result(found->retain(count)); });
}

CUresult cuUserObjectRelease(CUuserObject object, unsigned int count) {
  return of_user_object(object, [&](const auto& found) { return driver_result(found->release(count)); });
}

CUresult cuGraphRetainUserObject(CUgraph graph, CUuserObject object, unsigned int count, unsigned int flags) {
  return of_graph(graph, [&](Graph& found) {
    const auto owned = runtime::find_user_object(object);
    if (!owned || count == 0 || (flags & ~static_cast<unsigned int>(CU_GRAPH_USER_OBJECT_MOVE)) != 0)
      return CUDA_ERROR_INVALID_VALUE;
    if (flags != CU_GRAPH_USER_OBJECT_MOVE)
      if (const CUresult result = driver_result(owned->retain(count)); result != CUDA_SUCCESS) return result;
    found.user_objects.adopt(owned, count);
    return CUDA_SUCCESS;
  });
}

CUresult cuGraphReleaseUserObject(CUgraph graph, CUuserObject object, unsigned int count) {
  return of_graph(graph, [&](Graph& found) {
    const auto owned = runtime::find_user_object(object);
    return owned ? driver_result(found.user_objects.release(*owned, count)) : CUDA_ERROR_INVALID_VALUE;
  });
}
