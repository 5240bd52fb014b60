// Stream management chapter, host functions, and the capture queries (nothing captures yet).
#include "cpu/runtime/stream.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "cpu/api/entry.hpp"
#include "cpu/runtime/device.hpp"
#include "cpu/runtime/event.hpp"
#include "cpu/runtime/memory.hpp"
#include "cpu/runtime/memory_pool.hpp"

using namespace cucore::cpu::api;
namespace runtime = cucore::cpu::runtime;

namespace {

constexpr int kLeastPriority = 0;
constexpr int kGreatestPriority = -5;

/// A query of a stream: works in a context whose kernel failed.
template <class F>
CUresult query_stream(CUstream handle, F&& call) {
  return with_context([&](Context& context) {
    const auto stream = runtime::find_stream(context, handle);
    return stream ? call(*stream) : CUDA_ERROR_INVALID_HANDLE;
  });
}

thread_local CUstreamCaptureMode capture_mode = CU_STREAM_CAPTURE_MODE_GLOBAL;

/// cuStreamWaitValue: a stream waits for a word of memory that the host, a kernel or another stream writes.
template <class T>
bool is_met(T now, T value, unsigned int flags) {
  switch (flags & 3u) {
    case CU_STREAM_WAIT_VALUE_GEQ:
      return static_cast<std::make_signed_t<T>>(now - value) >= 0;
    case CU_STREAM_WAIT_VALUE_EQ:
      return now == value;
    case CU_STREAM_WAIT_VALUE_AND:
      return (now & value) != 0;
    default:
      return ~(now | value) != 0;
  }
}

template <class T>
CUresult wait_value(CUstream handle, CUdeviceptr addr, T value, unsigned int flags) {
  return on_stream(handle, [&](Context&, Stream& stream) {
    if ((flags & ~(3u | CU_STREAM_WAIT_VALUE_FLUSH)) != 0 || addr % sizeof(T) != 0) return CUDA_ERROR_INVALID_VALUE;
    if (!runtime::is_device_range(addr, sizeof(T))) return CUDA_ERROR_INVALID_VALUE;
    stream.enqueue(runtime::make_work([addr, value, flags](CUresult error) {
      if (error != CUDA_SUCCESS) return;
      const std::atomic_ref<T> word(*reinterpret_cast<T*>(addr));
      runtime::sleep_until([&] { return is_met(word.load(std::memory_order_acquire), value, flags); });
    }));
    return CUDA_SUCCESS;
  });
}

template <class T>
CUresult write_value(CUstream handle, CUdeviceptr addr, T value, unsigned int flags) {
  return on_stream(handle, [&](Context&, Stream& stream) {
    if ((flags & ~static_cast<unsigned int>(CU_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER)) != 0 || addr % sizeof(T) != 0)
      return CUDA_ERROR_INVALID_VALUE;
    if (!runtime::is_device_range(addr, sizeof(T))) return CUDA_ERROR_INVALID_VALUE;
    stream.enqueue(runtime::make_work([addr, value](CUresult error) {
      if (error == CUDA_SUCCESS)
        std::atomic_ref<T>(*reinterpret_cast<T*>(addr)).store(value, std::memory_order_release);
    }));
    return CUDA_SUCCESS;
  });
}

}  // namespace

CUresult cuStreamCreate(CUstream* phStream, unsigned int Flags) {
  return cuStreamCreateWithPriority(phStream, Flags, kLeastPriority);
}

CUresult cuStreamCreateWithPriority(CUstream* phStream, unsigned int flags, int priority) {
  return in_context([&](Context& context) {
    if (!phStream) return CUDA_ERROR_INVALID_VALUE;
    return Stream::create(context, flags, std::clamp(priority, kGreatestPriority, kLeastPriority), phStream);
  });
}

CUresult cuStreamDestroy(CUstream hStream) { return cuStreamDestroy_v2(hStream); }
CUresult cuStreamDestroy_v2(CUstream hStream) {
  return initialized([&] { return runtime::destroy_stream(hStream); });
}

CUresult cuStreamQuery(CUstream hStream) {
  return on_stream(hStream,
                   [](Context&, Stream& stream) { return stream.is_ready() ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY; });
}

CUresult cuStreamSynchronize(CUstream hStream) {
  return on_stream(hStream, [](Context& context, Stream& stream) {
    stream.wait_until_done();
    context.printf_buffer.flush();
    runtime::release_unused_pool_memory();
    return stream.context().error();
  });
}

CUresult cuStreamWaitEvent(CUstream hStream, CUevent hEvent, unsigned int Flags) {
  return on_stream(hStream, [&](Context&, Stream& stream) {
    if ((Flags & ~static_cast<unsigned int>(CU_EVENT_WAIT_EXTERNAL)) != 0) return CUDA_ERROR_INVALID_VALUE;
    if (Flags == CU_EVENT_WAIT_EXTERNAL) return CUDA_ERROR_ILLEGAL_STATE;  // only while capturing
    const auto event = runtime::find_event(hEvent);
    if (!event) return CUDA_ERROR_INVALID_HANDLE;
    event->make_wait(stream);
    return CUDA_SUCCESS;
  });
}

CUresult cuStreamAddCallback(CUstream hStream, CUstreamCallback callback, void* userData, unsigned int flags) {
  return on_stream(hStream, [&](Context&, Stream& stream) {
    if (!callback || flags != 0) return CUDA_ERROR_INVALID_VALUE;
    stream.enqueue(runtime::make_work([hStream, callback, userData](CUresult error) {
      const runtime::HostFunctionScope scope;
      callback(hStream, error, userData);
    }));
    return CUDA_SUCCESS;
  });
}

CUresult cuLaunchHostFunc(CUstream hStream, CUhostFn fn, void* userData) {
  return on_stream(hStream, [&](Context&, Stream& stream) {
    if (!fn) return CUDA_ERROR_INVALID_VALUE;
    stream.enqueue(runtime::make_work([fn, userData](CUresult error) {
      const runtime::HostFunctionScope scope;
      if (error == CUDA_SUCCESS) fn(userData);
    }));
    return CUDA_SUCCESS;
  });
}

CUresult cuStreamGetPriority(CUstream hStream, int* priority) {
  return query_stream(hStream, [&](Stream& stream) {
    if (!priority) return CUDA_ERROR_INVALID_VALUE;
    *priority = stream.priority();
    return CUDA_SUCCESS;
  });
}

CUresult cuStreamGetFlags(CUstream hStream, unsigned int* flags) {
  return query_stream(hStream, [&](Stream& stream) {
    if (!flags) return CUDA_ERROR_INVALID_VALUE;
    *flags = stream.flags();
    return CUDA_SUCCESS;
  });
}

CUresult cuStreamGetId(CUstream hStream, unsigned long long* streamId) {
  return query_stream(hStream, [&](Stream& stream) {
    if (!streamId) return CUDA_ERROR_INVALID_VALUE;
    *streamId = stream.id();
    return CUDA_SUCCESS;
  });
}

CUresult cuStreamGetDevice(CUstream hStream, CUdevice* device) {
  return query_stream(hStream, [&](Stream& stream) {
    if (!device) return CUDA_ERROR_INVALID_VALUE;
    *device = stream.context().device().ordinal();
    return CUDA_SUCCESS;
  });
}

CUresult cuStreamGetCtx(CUstream hStream, CUcontext* pctx) {
  return query_stream(hStream, [&](Stream& stream) {
    if (!pctx) return CUDA_ERROR_INVALID_VALUE;
    *pctx = stream.context().handle();
    return CUDA_SUCCESS;
  });
}

CUresult cuStreamGetCtx_v2(CUstream hStream, CUcontext* pCtx, CUgreenCtx* pGreenCtx) {
  return query_stream(hStream, [&](Stream& stream) {
    if (!pCtx) return CUDA_ERROR_INVALID_VALUE;
    *pCtx = stream.context().handle();
    if (pGreenCtx) *pGreenCtx = nullptr;
    return CUDA_SUCCESS;
  });
}

CUresult cuStreamGetAttribute(CUstream hStream, CUstreamAttrID attr, CUstreamAttrValue* value) {
  return query_stream(hStream, [&](Stream& stream) {
    if (!value) return CUDA_ERROR_INVALID_VALUE;
    *value = {};
    switch (attr) {
      case CU_LAUNCH_ATTRIBUTE_PRIORITY:
        value->priority = stream.priority();
        return CUDA_SUCCESS;
      case CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY:
        value->syncPolicy = CU_SYNC_POLICY_AUTO;
        return CUDA_SUCCESS;
      case CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW:
      case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN:
      case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP:
        return CUDA_SUCCESS;
      default:
        return CUDA_ERROR_INVALID_VALUE;
    }
  });
}

CUresult cuStreamSetAttribute(CUstream hStream, CUstreamAttrID attr, const CUstreamAttrValue* param) {
  return query_stream(hStream, [&](Stream&) {
    if (!param) return CUDA_ERROR_INVALID_VALUE;
    switch (attr) {  // hints; priority is fixed at creation
      case CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY:
      case CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW:
      case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN:
      case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP:
      case CU_LAUNCH_ATTRIBUTE_PRIORITY:
        return CUDA_SUCCESS;
      default:
        return CUDA_ERROR_INVALID_VALUE;
    }
  });
}

CUresult cuStreamCopyAttributes(CUstream dst, CUstream src) {
  return query_stream(dst, [&](Stream&) { return query_stream(src, [](Stream&) { return CUDA_SUCCESS; }); });
}

CUresult cuStreamIsCapturing(CUstream hStream, CUstreamCaptureStatus* captureStatus) {
  return on_stream(hStream, [&](Context&, Stream&) {
    if (!captureStatus) return CUDA_ERROR_INVALID_VALUE;
    *captureStatus = CU_STREAM_CAPTURE_STATUS_NONE;
    return CUDA_SUCCESS;
  });
}

CUresult cuStreamGetCaptureInfo(CUstream hStream, CUstreamCaptureStatus* captureStatus_out, cuuint64_t*) {
  return cuStreamIsCapturing(hStream, captureStatus_out);
}

CUresult cuStreamGetCaptureInfo_v2(CUstream hStream, CUstreamCaptureStatus* captureStatus_out, cuuint64_t*, CUgraph*,
                                   const CUgraphNode**, size_t*) {
  return cuStreamIsCapturing(hStream, captureStatus_out);
}

CUresult cuStreamGetCaptureInfo_v3(CUstream hStream, CUstreamCaptureStatus* captureStatus_out, cuuint64_t*, CUgraph*,
                                   const CUgraphNode**, const CUgraphEdgeData**, size_t*) {
  return cuStreamIsCapturing(hStream, captureStatus_out);
}

CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode* mode) {
  return initialized([&] {
    if (!mode || *mode < CU_STREAM_CAPTURE_MODE_GLOBAL || *mode > CU_STREAM_CAPTURE_MODE_RELAXED)
      return CUDA_ERROR_INVALID_VALUE;
    std::swap(*mode, capture_mode);
    return CUDA_SUCCESS;
  });
}

CUresult cuStreamAttachMemAsync(CUstream hStream, CUdeviceptr dptr, size_t, unsigned int flags) {
  return on_stream(hStream, [&](Context&, Stream&) {
    if (flags != CU_MEM_ATTACH_GLOBAL && flags != CU_MEM_ATTACH_HOST && flags != CU_MEM_ATTACH_SINGLE)
      return CUDA_ERROR_INVALID_VALUE;
    const auto allocation = runtime::find_allocation(dptr);
    // All memory is always visible to host and devices: attaching changes nothing.
    return allocation && allocation->kind == runtime::Allocation::Kind::Managed ? CUDA_SUCCESS
                                                                                : CUDA_ERROR_INVALID_VALUE;
  });
}

CUresult cuStreamWaitValue32_v2(CUstream stream, CUdeviceptr addr, cuuint32_t value, unsigned int flags) {
  return wait_value<std::uint32_t>(stream, addr, value, flags);
}
CUresult cuStreamWaitValue64_v2(CUstream stream, CUdeviceptr addr, cuuint64_t value, unsigned int flags) {
  return wait_value<std::uint64_t>(stream, addr, value, flags);
}
CUresult cuStreamWriteValue32_v2(CUstream stream, CUdeviceptr addr, cuuint32_t value, unsigned int flags) {
  return write_value<std::uint32_t>(stream, addr, value, flags);
}
CUresult cuStreamWriteValue64_v2(CUstream stream, CUdeviceptr addr, cuuint64_t value, unsigned int flags) {
  return write_value<std::uint64_t>(stream, addr, value, flags);
}

CUresult cuStreamBatchMemOp_v2(CUstream stream, unsigned int count, CUstreamBatchMemOpParams* paramArray,
                               unsigned int flags) {
  constexpr unsigned int kMost = 256;
  return on_stream(stream, [&](Context&, Stream&) {
    if (!paramArray || count == 0 || count > kMost || flags != 0) return CUDA_ERROR_INVALID_VALUE;
    for (unsigned int i = 0; i < count; ++i) {
      const CUstreamBatchMemOpParams& each = paramArray[i];
      CUresult result = CUDA_SUCCESS;
      switch (each.operation) {
        case CU_STREAM_MEM_OP_WAIT_VALUE_32:
          result =
              wait_value<std::uint32_t>(stream, each.waitValue.address, each.waitValue.value, each.waitValue.flags);
          break;
        case CU_STREAM_MEM_OP_WAIT_VALUE_64:
          result =
              wait_value<std::uint64_t>(stream, each.waitValue.address, each.waitValue.value64, each.waitValue.flags);
          break;
        case CU_STREAM_MEM_OP_WRITE_VALUE_32:
          result =
              write_value<std::uint32_t>(stream, each.writeValue.address, each.writeValue.value, each.writeValue.flags);
          break;
        case CU_STREAM_MEM_OP_WRITE_VALUE_64:
          result = write_value<std::uint64_t>(stream, each.writeValue.address, each.writeValue.value64,
                                              each.writeValue.flags);
          break;
        case CU_STREAM_MEM_OP_BARRIER:
        case CU_STREAM_MEM_OP_FLUSH_REMOTE_WRITES:
          break;  // the operations of a stream are ordered anyway
        default:
          result = CUDA_ERROR_INVALID_VALUE;
      }
      if (result != CUDA_SUCCESS) return result;
    }
    return CUDA_SUCCESS;
  });
}
