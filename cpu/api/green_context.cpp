// Green context chapter: contexts that own a share of a device's multiprocessors. The share is bookkeeping: all cores
// serve all contexts, so a green context limits nobody and is never slower than asked for.
#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>

#include "cpu/api/entry.hpp"
#include "cpu/runtime/device.hpp"
#include "cpu/runtime/event.hpp"
#include "cpu/runtime/handle_table.hpp"

using namespace cucore::cpu::api;
namespace runtime = cucore::cpu::runtime;

namespace {

constexpr unsigned int kSmallestPartition = 1;

struct GreenContext {
  CUgreenCtx handle = nullptr;
  CUcontext context = nullptr;
  CUdevResource resource{};
};

using GreenTable = runtime::HandleTable<GreenContext, runtime::HandleKind::GreenContext>;
GreenTable& green_contexts() {
  static auto* table = new GreenTable;
  return *table;
}

/// What a resource carries in its padding: which device it is of.
constexpr std::uint64_t kMagic = 0x6563727565726f63;
struct Padding {
  std::uint64_t magic;
  CUdevice device;
};

CUdevResource make_resource(CUdevice device, unsigned int count) {
  CUdevResource resource{};
  resource.type = CU_DEV_RESOURCE_TYPE_SM;
  resource.sm = {count, kSmallestPartition, kSmallestPartition};
  const Padding padding{kMagic, device};
  std::memcpy(resource._internal_padding, &padding, sizeof padding);
  return resource;
}

bool read_resource(const CUdevResource& resource, CUdevice* device) {
  Padding padding{};
  std::memcpy(&padding, resource._internal_padding, sizeof padding);
  *device = padding.device;
  return resource.type == CU_DEV_RESOURCE_TYPE_SM && padding.magic == kMagic && resource.sm.smCount > 0;
}

CUresult put(CUdevResource* out, CUdevResourceType type, const CUdevResource& resource) {
  if (!out) return CUDA_ERROR_INVALID_VALUE;
  if (type != CU_DEV_RESOURCE_TYPE_SM) return CUDA_ERROR_INVALID_RESOURCE_TYPE;
  *out = resource;
  return CUDA_SUCCESS;
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

/// Descriptors live for ever: they are a few bytes, and the driver has no call that ends one.
CUdevResource* keep(const CUdevResource& resource) { return new CUdevResource(resource); }

}  // namespace

CUresult cuDeviceGetDevResource(CUdevice device, CUdevResource* resource, CUdevResourceType type) {
  return initialized([&] {
    if (!runtime::find_device(device)) return CUDA_ERROR_INVALID_DEVICE;
    return put(resource, type, make_resource(device, runtime::worker_count()));
  });
}

CUresult cuCtxGetDevResource(CUcontext hCtx, CUdevResource* resource, CUdevResourceType type) {
  return initialized([&] {
    const Context* const context = hCtx ? runtime::find_context(hCtx) : runtime::current_context();
    if (!context) return CUDA_ERROR_INVALID_CONTEXT;
    if (const auto green = green_of(context->handle())) return put(resource, type, green->resource);
    return put(resource, type, make_resource(context->device().ordinal(), runtime::worker_count()));
  });
}

CUresult cuGreenCtxGetDevResource(CUgreenCtx hCtx, CUdevResource* resource, CUdevResourceType type) {
  return of_green(hCtx, [&](GreenContext& green) { return put(resource, type, green.resource); });
}

CUresult cuDevSmResourceSplitByCount(CUdevResource* result, unsigned int* nbGroups, const CUdevResource* input,
                                     CUdevResource* remaining, unsigned int useFlags, unsigned int minCount) {
  constexpr unsigned int kKnown =
      CU_DEV_SM_RESOURCE_SPLIT_IGNORE_SM_COSCHEDULING | CU_DEV_SM_RESOURCE_SPLIT_MAX_POTENTIAL_CLUSTER_SIZE;
  return initialized([&] {
    CUdevice device = 0;
    if (!nbGroups || !input || (useFlags & ~kKnown) != 0) return CUDA_ERROR_INVALID_VALUE;
    if (!read_resource(*input, &device)) return CUDA_ERROR_INVALID_RESOURCE_TYPE;
    const unsigned int all = input->sm.smCount;
    const unsigned int each = std::max(minCount, kSmallestPartition);
    if (each > all) return CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION;
    const unsigned int most = all / each;
    if (!result) {  // how many would there be
      *nbGroups = most;
      return CUDA_SUCCESS;
    }
    if (*nbGroups == 0) return CUDA_ERROR_INVALID_VALUE;
    *nbGroups = std::min(*nbGroups, most);
    for (unsigned int i = 0; i < *nbGroups; ++i) result[i] = make_resource(device, each);
    const unsigned int rest = all - *nbGroups * each;
    if (remaining) {
      *remaining = make_resource(device, rest);
      if (rest == 0) remaining->type = CU_DEV_RESOURCE_TYPE_INVALID;
    }
    return CUDA_SUCCESS;
  });
}

CUresult cuDevResourceGenerateDesc(CUdevResourceDesc* phDesc, CUdevResource* resources, unsigned int nbResources) {
  return initialized([&] {
    CUdevice device = 0;
    if (!phDesc || !resources || nbResources == 0) return CUDA_ERROR_INVALID_VALUE;
    unsigned int count = 0;
    for (unsigned int i = 0; i < nbResources; ++i) {
      CUdevice own = 0;
      if (!read_resource(resources[i], &own)) return CUDA_ERROR_INVALID_RESOURCE_TYPE;
      if (i > 0 && own != device) return CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION;
      device = own;
      count += resources[i].sm.smCount;
    }
    if (count > runtime::worker_count()) return CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION;
    *phDesc = reinterpret_cast<CUdevResourceDesc>(keep(make_resource(device, count)));
    return CUDA_SUCCESS;
  });
}

CUresult cuGreenCtxCreate(CUgreenCtx* phCtx, CUdevResourceDesc desc, CUdevice dev, unsigned int flags) {
  return initialized([&] {
    if (!phCtx || !desc || flags != CU_GREEN_CTX_DEFAULT_STREAM) return CUDA_ERROR_INVALID_VALUE;
    runtime::Device* const device = runtime::find_device(dev);
    if (!device) return CUDA_ERROR_INVALID_DEVICE;
    const auto& resource = *reinterpret_cast<const CUdevResource*>(desc);
    CUdevice own = 0;
    if (!read_resource(resource, &own) || own != dev) return CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION;
    auto green = std::make_shared<GreenContext>();
    green->resource = resource;
    if (const CUresult result = Context::create(*device, 0, &green->context); result != CUDA_SUCCESS) return result;
    Context* popped = nullptr;
    runtime::pop_current(&popped);  // a green context does not become current
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
    return context ? context->destroy() : CUDA_SUCCESS;
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
  return of_green(greenCtx, [&](GreenContext& green) {
    Context* const context = runtime::find_context(green.context);
    if (!phStream || flags != CU_STREAM_NON_BLOCKING || !context) return CUDA_ERROR_INVALID_VALUE;
    return Stream::create(*context, flags, std::clamp(priority, -5, 0), phStream);
  });
}

CUresult cuStreamGetGreenCtx(CUstream hStream, CUgreenCtx* phCtx) {
  CUcontext context = nullptr;
  return phCtx ? cuStreamGetCtx_v2(hStream, &context, phCtx) : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuStreamGetCtx_v2(CUstream hStream, CUcontext* pCtx, CUgreenCtx* pGreenCtx) {
  return with_context([&](Context& current) {
    const auto stream = runtime::find_stream(current, hStream);
    if (!stream) return CUDA_ERROR_INVALID_HANDLE;
    if (!pCtx) return CUDA_ERROR_INVALID_VALUE;
    *pCtx = stream->context().handle();
    if (pGreenCtx) {
      const auto green = green_of(*pCtx);
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
        legacy.enqueue(runtime::make_work([stream, number = stream->last()](CUresult) { stream->wait_for(number); }));
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
