// Stream management chapter, host functions and memory operations. Capture is in capture.cpp.
#include "cpu/runtime/objects/stream.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "cpu/api/cuda_13_5.hpp"
#include "cpu/api/entry.hpp"
#include "cpu/runtime/memory/memory.hpp"
#include "cpu/runtime/memory/memory_operations.hpp"
#include "cpu/runtime/memory/memory_pool.hpp"
#include "cpu/runtime/objects/device.hpp"
#include "cpu/runtime/objects/event.hpp"

using namespace cucore::cpu::api;
namespace runtime = cucore::cpu::runtime;

namespace {

constexpr int least_priority = 0;
constexpr int greatest_priority = -5;

/// A query of a stream: works in a context whose kernel failed.
template <class F>
CUresult query_stream(CUstream handle, F&& call) {
  const auto own = [&] { return context_of_stream(handle); };
  return with_own_context(own, CUDA_ERROR_INVALID_CONTEXT, [&](Context& context) {
    const auto stream = runtime::find_stream(context, handle);
    return stream ? call(*stream) : CUDA_ERROR_INVALID_HANDLE;
  });
}

/// One memory operation or several, in stream order.
CUresult memory_operations(CUstream handle, std::vector<CUstreamBatchMemOpParams> operations,
                           EntryName entry = EntryName(__builtin_FUNCTION())) {
  return in_stream_order(entry, handle, [&](Context&, Stream& stream) {
    for (const CUstreamBatchMemOpParams& each : operations)
      if (const CUresult result = driver_result(runtime::check_memory_operation(each)); result != CUDA_SUCCESS)
        return result;
    if (stream.is_capturing()) {
      CUgraphNodeParams node{};
      node.type = CU_GRAPH_NODE_TYPE_BATCH_MEM_OP;
      node.memOp.count = static_cast<unsigned int>(operations.size());
      node.memOp.paramArray = operations.data();
      return driver_result(runtime::capture_node(stream, node));
    }
    stream.enqueue(runtime::make_work([taken = std::move(operations)](const Result<void>& context) {
      if (!context) return;
      for (const CUstreamBatchMemOpParams& each : taken) runtime::run_memory_operation(each);
    }));
    return CUDA_SUCCESS;
  });
}

// As bytes: a policy that was not set is none of the enumeration's values.
void copy_sync_policy(const Stream& stream, CUstreamAttrValue& value) {
  const int policy = stream.sync_policy.load();
  static_assert(sizeof policy == sizeof value.syncPolicy);
  std::memcpy(&value.syncPolicy, &policy, sizeof policy);
}

/// Misses cannot persist. Programs do set other kinds of hits, which an H100's driver accepts as well.
CUresult wait_value(CUstream handle, CUstreamBatchMemOpType type, CUdeviceptr addr, cuuint64_t value,
                    unsigned int flags) {
  CUstreamBatchMemOpParams operation{};
  operation.waitValue.operation = type;
  operation.waitValue.address = addr;
  operation.waitValue.value64 = value;
  operation.waitValue.flags = flags;
  return memory_operations(handle, {operation});
}

CUresult write_value(CUstream handle, CUstreamBatchMemOpType type, CUdeviceptr addr, cuuint64_t value,
                     unsigned int flags) {
  CUstreamBatchMemOpParams operation{};
  operation.writeValue.operation = type;
  operation.writeValue.address = addr;
  operation.writeValue.value64 = value;
  operation.writeValue.flags = flags;
  return memory_operations(handle, {operation});
}

}  // namespace

CUresult cuStreamCreate(CUstream* phStream, unsigned int Flags) {
  return cuStreamCreateWithPriority(phStream, Flags, least_priority);
}

CUresult cuStreamCreateWithPriority(CUstream* phStream, unsigned int flags, int priority) {
  return in_context([&](Context& context) {
    if (!phStream) return CUDA_ERROR_INVALID_VALUE;
    return driver_result(Stream::create(context, flags, std::clamp(priority, greatest_priority, least_priority)),
                         phStream);
  });
}

CUresult cuStreamDestroy(CUstream hStream) { return cuStreamDestroy_v2(hStream); }
CUresult cuStreamDestroy_v2(CUstream hStream) {
  return initialized([&] { return driver_result(runtime::destroy_stream(hStream)); });
}

CUresult cuStreamQuery(CUstream hStream) {
  return on_stream(hStream, [](Context&, Stream& stream) {
    if (stream.is_ready()) return CUDA_SUCCESS;
    stream.flush();
    return CUDA_ERROR_NOT_READY;
  });
}

CUresult cuStreamSynchronize(CUstream hStream) {
  return on_stream(hStream, [](Context&, Stream& stream) {
    stream.wait_until_done();
    stream.context().home().printf_buffer.flush();
    runtime::release_unused_pool_memory();
    return driver_result(stream.context().error());
  });
}

CUresult cuStreamWaitEvent(CUstream hStream, CUevent hEvent, unsigned int Flags) {
  return in_stream_order(hStream, [&](Context&, Stream& stream) {
    if ((Flags & ~static_cast<unsigned int>(CU_EVENT_WAIT_EXTERNAL)) != 0) return CUDA_ERROR_INVALID_VALUE;
    const auto event = runtime::find_event(hEvent);
    if (!event) return CUDA_ERROR_INVALID_HANDLE;
    if (Flags == CU_EVENT_WAIT_EXTERNAL) {
      if (!stream.is_capturing()) return CUDA_ERROR_ILLEGAL_STATE;
      CUgraphNodeParams node{};
      node.type = CU_GRAPH_NODE_TYPE_WAIT_EVENT;
      node.eventWait.event = hEvent;
      return driver_result(runtime::capture_node(stream, node));
    }
    if (stream.is_capturing() || event->captured()) {
      const std::lock_guard lock(runtime::graph_mutex());
      return driver_result(runtime::Capture::wait(stream, *event));
    }
    event->make_wait(stream);
    return CUDA_SUCCESS;
  });
}

CUresult cuStreamAddCallback(CUstream hStream, CUstreamCallback callback, void* userData, unsigned int flags) {
  return on_stream(hStream, [&](Context&, Stream& stream) {
    if (!callback || flags != 0) return CUDA_ERROR_INVALID_VALUE;
    stream.enqueue(runtime::make_work([hStream, callback, userData](const Result<void>& context) {
      const runtime::HostFunctionScope scope;
      callback(hStream, driver_result(context), userData);
    }));
    return CUDA_SUCCESS;
  });
}

CUresult cuLaunchHostFunc(CUstream hStream, CUhostFn fn, void* userData) {
  return in_stream_order(hStream, [&](Context&, Stream& stream) {
    if (!fn) return CUDA_ERROR_INVALID_VALUE;
    if (stream.is_capturing()) {
      CUgraphNodeParams node{};
      node.type = CU_GRAPH_NODE_TYPE_HOST;
      node.host = {fn, userData};
      return driver_result(runtime::capture_node(stream, node));
    }
    stream.enqueue(runtime::make_work([fn, userData](const Result<void>& context) {
      const runtime::HostFunctionScope scope;
      if (context) fn(userData);
    }));
    return CUDA_SUCCESS;
  });
}

CUresult cuLaunchHostFunc_v2(CUstream hStream, CUhostFn fn, void* userData, unsigned int syncMode) {
  if (syncMode > host_task_spin_wait) return in_context([](Context&) { return CUDA_ERROR_INVALID_VALUE; });
  return cuLaunchHostFunc(hStream, fn, userData);  // how a thread of the driver waits is the driver's affair
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

CUresult cuStreamGetAttribute(CUstream hStream, CUstreamAttrID attr, CUstreamAttrValue* value) {
  return query_stream(hStream, [&](Stream& stream) {
    if (!value) return CUDA_ERROR_INVALID_VALUE;
    *value = {};
    switch (attr) {
      case CU_LAUNCH_ATTRIBUTE_PRIORITY:
        value->priority = stream.priority();
        return CUDA_SUCCESS;
      case CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY:
        copy_sync_policy(stream, *value);
        return CUDA_SUCCESS;
      case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN:
        value->memSyncDomain = stream.mem_sync_domain.load();
        return CUDA_SUCCESS;
      case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP:
        value->memSyncDomainMap = {.default_ = 0, .remote = 1};
        return CUDA_SUCCESS;
      case CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW:
        value->accessPolicyWindow = stream.access_window();
        return CUDA_SUCCESS;
      default:
        return CUDA_ERROR_INVALID_VALUE;
    }
  });
}

CUresult cuStreamSetAttribute(CUstream hStream, CUstreamAttrID attr, const CUstreamAttrValue* param) {
  return query_stream(hStream, [&](Stream& stream) {
    if (!param) return CUDA_ERROR_INVALID_VALUE;
    switch (attr) {  // hints
      case CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY:
        if (param->syncPolicy < CU_SYNC_POLICY_AUTO || param->syncPolicy > CU_SYNC_POLICY_BLOCKING_SYNC)
          return CUDA_ERROR_INVALID_VALUE;
        stream.sync_policy.store(param->syncPolicy);
        return CUDA_SUCCESS;
      case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN:
        if (param->memSyncDomain < CU_LAUNCH_MEM_SYNC_DOMAIN_DEFAULT ||
            param->memSyncDomain > CU_LAUNCH_MEM_SYNC_DOMAIN_REMOTE)
          return CUDA_ERROR_INVALID_VALUE;
        stream.mem_sync_domain.store(param->memSyncDomain);
        return CUDA_SUCCESS;
      case CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW:
        if (!runtime::is_access_window(param->accessPolicyWindow)) return CUDA_ERROR_INVALID_VALUE;
        stream.set_access_window(param->accessPolicyWindow);
        return CUDA_SUCCESS;
      case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP:
        return CUDA_SUCCESS;
      case CU_LAUNCH_ATTRIBUTE_PRIORITY:
        stream.set_priority(std::clamp(param->priority, greatest_priority, least_priority));
        return CUDA_SUCCESS;
      default:
        return CUDA_ERROR_INVALID_VALUE;
    }
  });
}

CUresult cuStreamCopyAttributes(CUstream dst, CUstream src) {
  return query_stream(dst, [&](Stream& to) {
    return query_stream(src, [&](Stream& from) {
      to.sync_policy.store(from.sync_policy.load());
      to.mem_sync_domain.store(from.mem_sync_domain.load());
      to.set_access_window(from.access_window());
      return CUDA_SUCCESS;
    });
  });
}

CUresult cuStreamAttachMemAsync(CUstream hStream, CUdeviceptr dptr, size_t length, unsigned int flags) {
  return on_stream(hStream, [&](Context&, Stream&) {
    if (flags != CU_MEM_ATTACH_GLOBAL && flags != CU_MEM_ATTACH_HOST && flags != CU_MEM_ATTACH_SINGLE)
      return CUDA_ERROR_INVALID_VALUE;
    if (flags == CU_MEM_ATTACH_SINGLE && !hStream) return CUDA_ERROR_INVALID_VALUE;  // null is not one stream
    const auto allocation = runtime::find_allocation(dptr);
    if (!allocation || allocation->kind != runtime::Allocation::Kind::Managed || dptr != allocation->base)
      return CUDA_ERROR_INVALID_VALUE;
    if (length != 0 && length != allocation->size) return CUDA_ERROR_INVALID_VALUE;  // all of it or nothing
    return CUDA_SUCCESS;  // all memory is always visible to host and devices: attaching changes nothing
  });
}

CUresult cuStreamWaitValue32_v2(CUstream stream, CUdeviceptr addr, cuuint32_t value, unsigned int flags) {
  return wait_value(stream, CU_STREAM_MEM_OP_WAIT_VALUE_32, addr, value, flags);
}
CUresult cuStreamWaitValue64_v2(CUstream stream, CUdeviceptr addr, cuuint64_t value, unsigned int flags) {
  return wait_value(stream, CU_STREAM_MEM_OP_WAIT_VALUE_64, addr, value, flags);
}
CUresult cuStreamWriteValue32_v2(CUstream stream, CUdeviceptr addr, cuuint32_t value, unsigned int flags) {
  return write_value(stream, CU_STREAM_MEM_OP_WRITE_VALUE_32, addr, value, flags);
}
CUresult cuStreamWriteValue64_v2(CUstream stream, CUdeviceptr addr, cuuint64_t value, unsigned int flags) {
  return write_value(stream, CU_STREAM_MEM_OP_WRITE_VALUE_64, addr, value, flags);
}

CUresult cuStreamBatchMemOp_v2(CUstream stream, unsigned int count, CUstreamBatchMemOpParams* paramArray,
                               unsigned int flags) {
  constexpr unsigned int most_of_them = 256;
  if (!paramArray || count == 0 || count > most_of_them || flags != 0)
    return in_stream_order(stream, [](Context&, Stream&) { return CUDA_ERROR_INVALID_VALUE; });
  return memory_operations(stream, {paramArray, paramArray + count});
}
