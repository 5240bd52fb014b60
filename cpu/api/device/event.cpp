// Event management chapter.
#include "cpu/runtime/objects/event.hpp"

#include "cpu/api/entry.hpp"
#include "cpu/runtime/memory/memory_pool.hpp"

using namespace cucore::cpu::api;
namespace runtime = cucore::cpu::runtime;
using runtime::Event;

namespace {

/// A live event: `call(Event&)`. Events are used without a current context.
template <class F>
CUresult of_event(CUevent handle, F&& call) {
  return initialized([&] {
    const auto event = runtime::find_event(handle);
    return event ? call(*event) : CUDA_ERROR_INVALID_HANDLE;
  });
}

}  // namespace

CUresult cuEventCreate(CUevent* phEvent, unsigned int Flags) {
  return in_context([&](Context& context) {
    return phEvent ? driver_result(Event::create(context, Flags), phEvent) : CUDA_ERROR_INVALID_VALUE;
  });
}

CUresult cuEventDestroy(CUevent hEvent) { return cuEventDestroy_v2(hEvent); }
CUresult cuEventDestroy_v2(CUevent hEvent) {
  return initialized([&] { return driver_result(runtime::destroy_event(hEvent)); });
}

CUresult cuEventRecord(CUevent hEvent, CUstream hStream) { return cuEventRecordWithFlags(hEvent, hStream, 0); }

CUresult cuEventRecordWithFlags(CUevent hEvent, CUstream hStream, unsigned int flags) {
  return in_stream_order(hStream, [&](Context&, Stream& stream) {
    if ((flags & ~static_cast<unsigned int>(CU_EVENT_RECORD_EXTERNAL)) != 0) return CUDA_ERROR_INVALID_VALUE;
    const auto event = runtime::find_event(hEvent);
    // Green contexts of one device, and its primary one, are the same to events.
    if (!event || &event->context().home() != &stream.context().home()) return CUDA_ERROR_INVALID_HANDLE;
    if (flags == CU_EVENT_RECORD_EXTERNAL) {
      if (!stream.is_capturing()) return CUDA_ERROR_ILLEGAL_STATE;
      CUgraphNodeParams node{};
      node.type = CU_GRAPH_NODE_TYPE_EVENT_RECORD;
      node.eventRecord.event = hEvent;
      return driver_result(runtime::capture_node(stream, node));
    }
    if (stream.is_capturing()) {
      const std::lock_guard lock(runtime::graph_mutex());
      const auto capture = stream.capture();
      return capture ? driver_result(capture->record(stream, *event)) : CUDA_ERROR_ILLEGAL_STATE;
    }
    event->record(stream);
    return CUDA_SUCCESS;
  });
}

namespace {

/// Whether what it recorded is of a capture that became invalid or is over: of that there is nothing to ask, as an
/// H100's driver has it.
bool is_of_no_capture(const Event& event) {
  const auto captured = event.captured();
  if (!captured) return false;
  const std::lock_guard lock(runtime::graph_mutex());
  return !*captured->is_of_valid;
}

/// Asking for work that a capture has recorded makes the capture invalid.
CUresult answer_of(const Event& event, const Result<void>& result) {
  if (const auto captured = event.captured()) {
    const std::lock_guard lock(runtime::graph_mutex());
    if (!*captured->is_of_valid) return CUDA_ERROR_INVALID_VALUE;
    if (const auto capture = captured->capture.lock()) capture->invalidate();
  }
  return driver_result(result);
}

}  // namespace

CUresult cuEventQuery(CUevent hEvent) {
  return of_event(hEvent, [](Event& event) { return answer_of(event, event.query()); });
}

CUresult cuEventSynchronize(CUevent hEvent) {
  return of_event(hEvent, [](Event& event) {
    const CUresult result = answer_of(event, event.synchronize());
    runtime::release_unused_pool_memory();
    return result;
  });
}

CUresult cuEventElapsedTime(float* pMilliseconds, CUevent hStart, CUevent hEnd) {
  return cuEventElapsedTime_v2(pMilliseconds, hStart, hEnd);
}

CUresult cuEventElapsedTime_v2(float* pMilliseconds, CUevent hStart, CUevent hEnd) {
  return of_event(hStart, [&](Event& start) {
    const auto end = runtime::find_event(hEnd);
    if (!end) return CUDA_ERROR_INVALID_HANDLE;
    if (is_of_no_capture(start) || is_of_no_capture(*end)) return CUDA_ERROR_INVALID_VALUE;
    return pMilliseconds ? driver_result(Event::elapsed(start, *end), pMilliseconds) : CUDA_ERROR_INVALID_VALUE;
  });
}

CUresult cuIpcGetEventHandle(CUipcEventHandle* pHandle, CUevent event) {
  return with_context([&](Context&) {
    const auto found = runtime::find_event(event);
    if (!found) return CUDA_ERROR_INVALID_HANDLE;
    return pHandle ? driver_result(found->share(), pHandle) : CUDA_ERROR_INVALID_VALUE;
  });
}

CUresult cuIpcOpenEventHandle(CUevent* phEvent, CUipcEventHandle handle) {
  return in_context([&](Context& context) {
    return phEvent ? driver_result(Event::open(context, handle), phEvent) : CUDA_ERROR_INVALID_VALUE;
  });
}
