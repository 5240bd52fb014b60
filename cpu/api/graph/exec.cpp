// Graph management chapter: executable graphs.
#include "cpu/api/cuda_13_5.hpp"
#include "cpu/api/graph/entry.hpp"
#include "cpu/runtime/graph/capture.hpp"

using namespace cucore::cpu::api;
namespace runtime = cucore::cpu::runtime;

namespace {

CUresult instantiate(CUgraphExec* out, CUgraph graph, cuuint64_t flags, CUgraphInstantiateResult* reason,
                     CUgraphNode* error_node, EntryName entry = EntryName(__builtin_FUNCTION())) {
  return in_context(entry, [&](Context&) {
    const std::lock_guard lock(runtime::graph_mutex());
    const auto found = runtime::find_graph(graph);
    if (!found || !out) return CUDA_ERROR_INVALID_VALUE;
    return driver_result(GraphExec::instantiate(*found, flags, reason, error_node), out);
  });
}

}  // namespace

CUresult cuGraphInstantiate(CUgraphExec* phGraphExec, CUgraph hGraph, CUgraphNode* phErrorNode, char* logBuffer,
                            size_t bufferSize) {
  return cuGraphInstantiate_v2(phGraphExec, hGraph, phErrorNode, logBuffer, bufferSize);
}
CUresult cuGraphInstantiate_v2(CUgraphExec* phGraphExec, CUgraph hGraph, CUgraphNode* phErrorNode, char* logBuffer,
                               size_t bufferSize) {
  if (logBuffer && bufferSize > 0) *logBuffer = '\0';
  return instantiate(phGraphExec, hGraph, 0, nullptr, phErrorNode);
}
CUresult cuGraphInstantiateWithFlags(CUgraphExec* phGraphExec, CUgraph hGraph, unsigned long long flags) {
  return instantiate(phGraphExec, hGraph, flags, nullptr, nullptr);
}
CUresult cuGraphInstantiateWithParams(CUgraphExec* phGraphExec, CUgraph hGraph,
                                      CUDA_GRAPH_INSTANTIATE_PARAMS* instantiateParams) {
  if (!instantiateParams) return in_context([](Context&) { return CUDA_ERROR_INVALID_VALUE; });
  return instantiate(phGraphExec, hGraph, instantiateParams->flags, &instantiateParams->result_out,
                     &instantiateParams->hErrNode_out);
}

CUresult cuGraphExecGetId(CUgraphExec hGraphExec, unsigned int* graphId) {
  return of_exec(hGraphExec, [&](GraphExec& exec) { return put(exec.id(), graphId); });
}
CUresult cuGraphExecGetFlags(CUgraphExec hGraphExec, cuuint64_t* flags) {
  return of_exec(hGraphExec, [&](GraphExec& exec) {
    if (!flags) return CUDA_ERROR_INVALID_VALUE;
    *flags = exec.flags();
    return CUDA_SUCCESS;
  });
}

CUresult cuGraphExecDestroy(CUgraphExec hGraphExec) {
  return with_graphs([&] { return driver_result(runtime::destroy_graph_exec(hGraphExec)); });
}

CUresult cuGraphLaunch(CUgraphExec hGraphExec, CUstream hStream) {
  return on_stream(hStream, [&](Context&, Stream& stream) {
    const std::lock_guard lock(runtime::graph_mutex());
    const auto exec = runtime::find_graph_exec(hGraphExec);
    return exec ? driver_result(exec->launch(stream)) : CUDA_ERROR_INVALID_VALUE;
  });
}

CUresult cuGraphUpload(CUgraphExec hGraphExec, CUstream hStream) {
  return on_stream(hStream, [&](Context&, Stream&) {  // instantiation has put everything in place already
    const std::lock_guard lock(runtime::graph_mutex());
    return runtime::find_graph_exec(hGraphExec) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
  });
}

CUresult cuGraphExecUpdate(CUgraphExec hGraphExec, CUgraph hGraph, CUgraphNode* hErrorNode_out,
                           CUgraphExecUpdateResult* updateResult_out) {
  CUgraphExecUpdateResultInfo info{};
  const CUresult result = cuGraphExecUpdate_v2(hGraphExec, hGraph, &info);
  if (hErrorNode_out) *hErrorNode_out = info.errorNode;
  if (updateResult_out) *updateResult_out = info.result;
  return result;
}
CUresult cuGraphExecUpdate_v2(CUgraphExec hGraphExec, CUgraph hGraph, CUgraphExecUpdateResultInfo* resultInfo) {
  return of_exec(hGraphExec, [&](GraphExec& exec) {
    const auto graph = runtime::find_graph(hGraph);
    if (!graph || !resultInfo) return CUDA_ERROR_INVALID_VALUE;
    return driver_result(exec.update(*graph, resultInfo));
  });
}

CUresult cuGraphNodeSetEnabled(CUgraphExec hGraphExec, CUgraphNode hNode, unsigned int isEnabled) {
  return of_exec(hGraphExec, [&](GraphExec& exec) {
    const auto node = runtime::find_graph_node(hNode);
    return node ? driver_result(exec.set_enabled(node->id, isEnabled != 0)) : CUDA_ERROR_INVALID_VALUE;
  });
}

CUresult cuGraphNodeGetEnabled(CUgraphExec hGraphExec, CUgraphNode hNode, unsigned int* isEnabled) {
  return of_exec(hGraphExec, [&](GraphExec& exec) {
    const auto node = runtime::find_graph_node(hNode);
    const runtime::ExecNode* const found = node ? exec.find(node->id) : nullptr;
    if (!found || !isEnabled) return CUDA_ERROR_INVALID_VALUE;
    const CUgraphNodeType type = runtime::type_of(*found->payload);
    if (type != CU_GRAPH_NODE_TYPE_KERNEL && type != CU_GRAPH_NODE_TYPE_MEMCPY && type != CU_GRAPH_NODE_TYPE_MEMSET)
      return CUDA_ERROR_INVALID_VALUE;
    *isEnabled = found->is_enabled;
    return CUDA_SUCCESS;
  });
}
