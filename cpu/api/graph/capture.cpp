// Stream management chapter: capture.
#include "cpu/runtime/graph/capture.hpp"

#include <array>

#include "cpu/api/graph/entry.hpp"

using namespace cucore::cpu::api;
namespace runtime = cucore::cpu::runtime;
using runtime::Capture;

namespace {

/// A stream, capturing or not: `call(Stream&)`.
template <class F>
CUresult of_stream(CUstream handle, F&& call) {
  const auto own = [&] { return context_of_stream(handle); };
  return in_own_context(own, CUDA_ERROR_INVALID_CONTEXT, [&](Context& context) {
    const std::lock_guard lock(runtime::graph_mutex());
    const auto stream = runtime::find_stream(context, handle);
    return stream ? call(*stream) : CUDA_ERROR_INVALID_HANDLE;
  });
}

CUstreamCaptureStatus status_of(const Stream& stream) {
  const auto capture = stream.capture();
  if (!capture) return CU_STREAM_CAPTURE_STATUS_NONE;
  return capture->is_valid() ? CU_STREAM_CAPTURE_STATUS_ACTIVE : CU_STREAM_CAPTURE_STATUS_INVALIDATED;
}

CUresult capture_info(CUstream handle, CUstreamCaptureStatus* status, cuuint64_t* id, CUgraph* graph,
                      const CUgraphNode** dependencies, const CUgraphEdgeData** data, size_t* count) {
  return of_stream(handle, [&](Stream& stream) {
    if (!status) return CUDA_ERROR_INVALID_VALUE;
    if (stream.kind() == Stream::Kind::Legacy && runtime::is_anything_capturing() && runtime::is_forbidden(stream))
      return CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
    *status = status_of(stream);
    const auto capture = stream.capture();
    if (*status != CU_STREAM_CAPTURE_STATUS_ACTIVE) return CUDA_SUCCESS;
    if (id) *id = capture->id();
    if (graph) *graph = capture->graph().handle();
    const std::vector<CUgraphNode>& nodes = capture->dependencies(stream);
    if (dependencies) *dependencies = nodes.data();
    if (data) {
      static const std::array<CUgraphEdgeData, 64> plain{};  // no captured edge carries data
      static auto* const longer = new std::vector<CUgraphEdgeData>;
      if (nodes.size() > plain.size() && longer->size() < nodes.size()) longer->resize(nodes.size());
      *data = nodes.size() > plain.size() ? longer->data() : plain.data();
    }
    if (count) *count = nodes.size();
    return CUDA_SUCCESS;
  });
}

}  // namespace

CUresult cuStreamBeginCapture(CUstream hStream) {
  return cuStreamBeginCapture_v2(hStream, CU_STREAM_CAPTURE_MODE_GLOBAL);
}

CUresult cuStreamBeginCapture_v2(CUstream hStream, CUstreamCaptureMode mode) {
  return of_stream(hStream, [&](Stream& stream) {
    auto graph = Graph::create();
    const CUresult result = driver_result(Capture::begin(stream, mode, graph, {}));
    if (result != CUDA_SUCCESS) graph->end_handles();
    return result;
  });
}

CUresult cuStreamBeginCaptureToGraph(CUstream hStream, CUgraph hGraph, const CUgraphNode* dependencies,
                                     const CUgraphEdgeData*, size_t numDependencies, CUstreamCaptureMode mode) {
  return of_stream(hStream, [&](Stream& stream) {
    auto graph = runtime::find_graph(hGraph);
    if (!graph || (numDependencies != 0 && !dependencies)) return CUDA_ERROR_INVALID_VALUE;
    Capture::Nodes nodes;
    for (size_t i = 0; i < numDependencies; ++i) {
      auto node = runtime::find_graph_node(dependencies[i]);
      if (!node || node->graph != graph.get()) return CUDA_ERROR_INVALID_VALUE;
      nodes.push_back(std::move(node));
    }
    return driver_result(Capture::begin(stream, mode, std::move(graph), nodes));
  });
}

CUresult cuStreamEndCapture(CUstream hStream, CUgraph* phGraph) {
  return of_stream(hStream, [&](Stream& stream) {
    if (phGraph) *phGraph = nullptr;
    return driver_result(Capture::end(stream), [&](CUgraph graph) {
      if (phGraph) *phGraph = graph;
    });
  });
}

CUresult cuStreamIsCapturing(CUstream hStream, CUstreamCaptureStatus* captureStatus) {
  return capture_info(hStream, captureStatus, nullptr, nullptr, nullptr, nullptr, nullptr);
}

CUresult cuStreamGetCaptureInfo(CUstream hStream, CUstreamCaptureStatus* captureStatus_out, cuuint64_t* id_out) {
  return capture_info(hStream, captureStatus_out, id_out, nullptr, nullptr, nullptr, nullptr);
}
CUresult cuStreamGetCaptureInfo_v2(CUstream hStream, CUstreamCaptureStatus* captureStatus_out, cuuint64_t* id_out,
                                   CUgraph* graph_out, const CUgraphNode** dependencies_out,
                                   size_t* numDependencies_out) {
  return capture_info(hStream, captureStatus_out, id_out, graph_out, dependencies_out, nullptr, numDependencies_out);
}
CUresult cuStreamGetCaptureInfo_v3(CUstream hStream, CUstreamCaptureStatus* captureStatus_out, cuuint64_t* id_out,
                                   CUgraph* graph_out, const CUgraphNode** dependencies_out,
                                   const CUgraphEdgeData** edgeData_out, size_t* numDependencies_out) {
  return capture_info(hStream, captureStatus_out, id_out, graph_out, dependencies_out, edgeData_out,
                      numDependencies_out);
}

CUresult cuStreamUpdateCaptureDependencies(CUstream hStream, CUgraphNode* dependencies, size_t numDependencies,
                                           unsigned int flags) {
  return cuStreamUpdateCaptureDependencies_v2(hStream, dependencies, nullptr, numDependencies, flags);
}
CUresult cuStreamUpdateCaptureDependencies_v2(CUstream hStream, CUgraphNode* dependencies, const CUgraphEdgeData*,
                                              size_t numDependencies, unsigned int flags) {
  return of_stream(hStream, [&](Stream& stream) {
    const auto capture = stream.capture();
    if (!capture || !capture->is_valid()) return CUDA_ERROR_ILLEGAL_STATE;
    if ((numDependencies != 0 && !dependencies) || flags > CU_STREAM_SET_CAPTURE_DEPENDENCIES)
      return CUDA_ERROR_INVALID_VALUE;
    return driver_result(capture->set_dependencies(stream, std::span(dependencies, numDependencies),
                                                   flags == CU_STREAM_ADD_CAPTURE_DEPENDENCIES));
  });
}

CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode* mode) {
  return initialized([&] {
    if (!mode || *mode < CU_STREAM_CAPTURE_MODE_GLOBAL || *mode > CU_STREAM_CAPTURE_MODE_RELAXED)
      return CUDA_ERROR_INVALID_VALUE;
    *mode = runtime::exchange_capture_mode(*mode);
    return CUDA_SUCCESS;
  });
}
