// Green context chapter: contexts that own a share of a device's multiprocessors. The share is bookkeeping: all cores
// serve all contexts, so a green context imposes no limit and is never slower than asked for.
#include <algorithm>
#include <memory>

#include "cpu/api/cuda_13_5.hpp"
#include "cpu/api/device/device_resource.hpp"
#include "cpu/api/entry.hpp"
#include "cpu/runtime/objects/device.hpp"
#include "cpu/runtime/objects/event.hpp"
#include "cpu/runtime/process/handle_table.hpp"

using namespace cucore::cpu::api;
namespace runtime = cucore::cpu::runtime;

namespace {

struct GreenContext {
  CUgreenCtx handle = nullptr;
  CUcontext context = nullptr;
  Provision provision;
};

using GreenTable = runtime::HandleTable<GreenContext, runtime::HandleKind::GreenContext>;
GreenTable& green_contexts() {
  static auto* table = new GreenTable;
  return *table;
}

template <class F>
CUresult of_green(CUgreenCtx handle, F&& call) {
  return initialized([&] {
    const auto green = green_contexts().find(handle);
    return green ? call(*green) : CUDA_ERROR_INVALID_CONTEXT;
  });
}

std::shared_ptr<GreenContext> green_of(CUcontext context) {
  for (const auto& green : green_contexts().all())
    if (green->context == context) return green;
  return nullptr;
}

}  // namespace

CUresult cuCtxGetDevResource(CUcontext hCtx, CUdevResource* resource, CUdevResourceType type) {
  return initialized([&] {
    const Context* const context = hCtx ? runtime::find_context(hCtx) : runtime::current_context();
    if (!context) return CUDA_ERROR_INVALID_CONTEXT;
    const auto green = green_of(context->handle());
    return answer_query(green ? green->provision : whole_device(context->device().ordinal()), type, resource);
  });
}

CUresult cuGreenCtxGetDevResource(CUgreenCtx hCtx, CUdevResource* resource, CUdevResourceType type) {
  return of_green(hCtx, [&](GreenContext& green) { return answer_query(green.provision, type, resource); });
}

CUresult cuGreenCtxCreate(CUgreenCtx* phCtx, CUdevResourceDesc desc, CUdevice dev, unsigned int flags) {
  return initialized([&] {
    if (!phCtx || !desc || (flags & ~static_cast<unsigned int>(CU_GREEN_CTX_DEFAULT_STREAM)) != 0)
      return CUDA_ERROR_INVALID_VALUE;
    runtime::Device* const device = runtime::find_device(dev);
    if (!device) return CUDA_ERROR_INVALID_DEVICE;
    const auto provision = provision_of(desc, dev);
    if (!provision) return CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION;
    auto green = std::make_shared<GreenContext>();
    green->provision = *provision;
    Result<CUcontext> context = Context::create_green(*device);
    if (!context) return driver_result(context.failure());
    green->context = *context;
    green->handle = reinterpret_cast<CUgreenCtx>(green_contexts().insert(green));
    *phCtx = green->handle;
    return CUDA_SUCCESS;
  });
}

CUresult cuGreenCtxDestroy(CUgreenCtx hCtx) {
  return initialized([&] {
    const auto green = green_contexts().remove(hCtx);
    if (!green) return CUDA_ERROR_INVALID_CONTEXT;
    Context* const context = runtime::find_context(green->context);
    return context ? driver_result(context->destroy()) : CUDA_SUCCESS;
  });
}

CUresult cuCtxFromGreenCtx(CUcontext* pContext, CUgreenCtx hCtx) {
  return of_green(hCtx, [&](GreenContext& green) {
    if (!pContext) return CUDA_ERROR_INVALID_VALUE;
    *pContext = green.context;
    return CUDA_SUCCESS;
  });
}

CUresult cuGreenCtxGetId(CUgreenCtx greenCtx, unsigned long long* greenCtxId) {
  return of_green(greenCtx, [&](GreenContext& green) { return cuCtxGetId(green.context, greenCtxId); });
}

CUresult cuGreenCtxStreamCreate(CUstream* phStream, CUgreenCtx greenCtx, unsigned int flags, int priority) {
  if (!greenCtx) return initialized([] { return CUDA_ERROR_INVALID_VALUE; });
  return of_green(greenCtx, [&](GreenContext& green) {
    Context* const context = runtime::find_context(green.context);
    if (!phStream || flags != CU_STREAM_NON_BLOCKING || !context) return CUDA_ERROR_INVALID_VALUE;
    return driver_result(Stream::create(*context, flags, std::clamp(priority, -5, 0)), phStream);
  });
}

CUresult cuStreamGetGreenCtx(CUstream hStream, CUgreenCtx* phCtx) {
  CUcontext context = nullptr;
  return phCtx ? cuStreamGetCtx_v2(hStream, &context, phCtx) : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuStreamGetDevResource(CUstream hStream, CUdevResource* resource, CUdevResourceType type) {
  return with_context([&](Context& current) {
    const auto stream = runtime::find_stream(current, hStream);
    if (!stream) return CUDA_ERROR_INVALID_HANDLE;
    if (type != CU_DEV_RESOURCE_TYPE_SM) return CUDA_ERROR_INVALID_RESOURCE_TYPE;
    const auto green = green_of(stream->context().handle());
    return answer_query(green ? green->provision : whole_device(stream->context().device().ordinal()), type, resource);
  });
}

CUresult cuStreamGetCtx_v2(CUstream hStream, CUcontext* pCtx, CUgreenCtx* pGreenCtx) {
  return with_context([&](Context& current) {
    const auto stream = runtime::find_stream(current, hStream);
    if (!stream) return CUDA_ERROR_INVALID_HANDLE;
    if (!pCtx) return CUDA_ERROR_INVALID_VALUE;
    *pCtx = stream->context().home().handle();
    if (pGreenCtx) {
      const auto green = green_of(stream->context().handle());
      *pGreenCtx = green ? green->handle : nullptr;
    }
    return CUDA_SUCCESS;
  });
}

// An event that stands for all work of a context so far, and a wait of all its later work.
CUresult cuCtxRecordEvent(CUcontext hCtx, CUevent hEvent) {
  return initialized([&] {
    Context* const context = hCtx ? runtime::find_context(hCtx) : nullptr;
    const auto event = runtime::find_event(hEvent);
    if (!context || !event) return CUDA_ERROR_INVALID_HANDLE;
    Stream& legacy = context->legacy_stream();
    for (const auto& stream : context->streams())
      if (stream.get() != &legacy)
        legacy.enqueue(
            runtime::make_work([stream, number = stream->last()](const Result<void>&) { stream->wait_for(number); }));
    event->record(legacy);
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxWaitEvent(CUcontext hCtx, CUevent hEvent) {
  return initialized([&] {
    Context* const context = hCtx ? runtime::find_context(hCtx) : nullptr;
    const auto event = runtime::find_event(hEvent);
    if (!context || !event) return CUDA_ERROR_INVALID_HANDLE;
    for (const auto& stream : context->streams()) event->make_wait(*stream);
    return CUDA_SUCCESS;
  });
}

CUresult cuGreenCtxRecordEvent(CUgreenCtx hCtx, CUevent hEvent) {
  return of_green(hCtx, [&](GreenContext& green) { return cuCtxRecordEvent(green.context, hEvent); });
}

CUresult cuGreenCtxWaitEvent(CUgreenCtx hCtx, CUevent hEvent) {
  return of_green(hCtx, [&](GreenContext& green) { return cuCtxWaitEvent(green.context, hEvent); });
}
