// What the entries of the graph chapter start with: the lock on all graphs, and look-ups of what handles name.
#pragma once

#include <memory>
#include <mutex>

#include "cpu/api/entry.hpp"
#include "cpu/runtime/graph/exec.hpp"
#include "cpu/runtime/graph/graph.hpp"

namespace cucore::cpu::api {

using runtime::Graph;
using runtime::GraphExec;
using runtime::GraphNode;

template <class F>
CUresult with_graphs(F&& call) {
  return initialized([&] {
    const std::lock_guard lock(runtime::graph_mutex());
    return call();
  });
}

/// `call(Graph&)`; a graph handle that is none is INVALID_VALUE, as in the driver.
template <class F>
CUresult of_graph(CUgraph handle, F&& call) {
  return with_graphs([&] {
    const auto graph = runtime::find_graph(handle);
    return graph ? call(*graph) : CUDA_ERROR_INVALID_VALUE;
  });
}

template <class F>
CUresult of_node(CUgraphNode handle, F&& call) {
  return with_graphs([&] {
    const auto node = runtime::find_graph_node(handle);
    return node ? call(*node) : CUDA_ERROR_INVALID_VALUE;
  });
}

template <class F>
CUresult of_exec(CUgraphExec handle, F&& call) {
  return with_graphs([&] {
    const auto exec = runtime::find_graph_exec(handle);
    return exec ? call(*exec) : CUDA_ERROR_INVALID_VALUE;
  });
}

/// An answer, where there is a place for it.
template <class T>
CUresult put(T value, T* out) {
  if (!out) return CUDA_ERROR_INVALID_VALUE;
  *out = value;
  return CUDA_SUCCESS;
}

/// The common end of every way to add a node, to replace its parameters, and to replace them in an executable graph.
CUresult add_node(CUgraphNode* out, CUgraph graph, const CUgraphNode* dependencies, const CUgraphEdgeData* data,
                  size_t count, CUgraphNodeParams& parameters, EntryName entry = EntryName(__builtin_FUNCTION()));
CUresult set_node(CUgraphNode node, CUgraphNodeParams& parameters, EntryName entry = EntryName(__builtin_FUNCTION()));
CUresult set_exec_node(CUgraphExec exec, CUgraphNode node, CUgraphNodeParams& parameters,
                       EntryName entry = EntryName(__builtin_FUNCTION()));
/// INVALID_VALUE unless the node is of this type.
CUresult get_node(CUgraphNode node, CUgraphNodeType type, CUgraphNodeParams* parameters);

}  // namespace cucore::cpu::api
