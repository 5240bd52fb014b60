// Context management and peer access chapters.
#include "cpu/runtime/objects/context.hpp"

#include "cpu/api/entry.hpp"
#include "cpu/runtime/memory/memory_pool.hpp"
#include "cpu/runtime/objects/device.hpp"
#include "cpu/runtime/process/device_identity.hpp"

using namespace cucore::cpu::api;
namespace runtime = cucore::cpu::runtime;

namespace {

/// A context argument, where null means the current one: `call(Context&)`.
template <class F>
CUresult of_context(CUcontext handle, F&& call) {
  if (!handle) return with_context(std::forward<F>(call));
  return initialized([&] {
    Context* const context = runtime::find_context(handle);
    if (!context) return CUDA_ERROR_INVALID_CONTEXT;
    if (!context->is_active()) return CUDA_ERROR_CONTEXT_IS_DESTROYED;
    return call(*context);
  });
}

/// The same for what an H100's driver tells of a primary context that nobody holds, too. Run-time libraries before CUDA
/// 12 make that one current in cudaSetDevice, ask it this, and retain it when they need more.
template <class F>
CUresult of_context_held_or_not(CUcontext handle, F&& call, EntryName entry = EntryName(__builtin_FUNCTION())) {
  return initialized(entry, [&] {
    const Context* const context = handle ? runtime::find_context(handle) : runtime::current_context();
    if (!context) return CUDA_ERROR_INVALID_CONTEXT;
    if (!context->is_active() && !context->is_primary()) return CUDA_ERROR_CONTEXT_IS_DESTROYED;
    return call(*context);
  });
}

CUresult create(CUcontext* pctx, unsigned int flags, CUdevice dev, EntryName entry = EntryName(__builtin_FUNCTION())) {
  return initialized(entry, [&] {
    if (!pctx) return CUDA_ERROR_INVALID_VALUE;
    runtime::Device* const device = runtime::find_device(dev);
    return device ? driver_result(Context::create(*device, flags), pctx) : CUDA_ERROR_INVALID_DEVICE;
  });
}

}  // namespace

CUresult cuCtxCreate(CUcontext* pctx, unsigned int flags, CUdevice dev) { return create(pctx, flags, dev); }
CUresult cuCtxCreate_v2(CUcontext* pctx, unsigned int flags, CUdevice dev) { return create(pctx, flags, dev); }

CUresult cuCtxCreate_v3(CUcontext* pctx, CUexecAffinityParam* paramsArray, int numParams, unsigned int flags,
                        CUdevice dev) {
  if (paramsArray || numParams != 0) return initialized([] { return CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY; });
  return create(pctx, flags, dev);
}

CUresult cuCtxCreate_v4(CUcontext* pctx, CUctxCreateParams* ctxCreateParams, unsigned int flags, CUdevice dev) {
  if (ctxCreateParams && (ctxCreateParams->execAffinityParams || ctxCreateParams->numExecAffinityParams != 0))
    return initialized([] { return CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY; });
  if (ctxCreateParams && ctxCreateParams->cigParams) return initialized([] { return CUDA_ERROR_NOT_SUPPORTED; });
  return create(pctx, flags, dev);
}

CUresult cuCtxDestroy(CUcontext ctx) { return cuCtxDestroy_v2(ctx); }
CUresult cuCtxDestroy_v2(CUcontext ctx) {
  return initialized([&] {
    if (!ctx) return CUDA_ERROR_INVALID_VALUE;
    Context* const context = runtime::find_context(ctx);
    return context ? driver_result(context->destroy()) : CUDA_ERROR_INVALID_CONTEXT;
  });
}

CUresult cuCtxPushCurrent(CUcontext ctx) { return cuCtxPushCurrent_v2(ctx); }
CUresult cuCtxPushCurrent_v2(CUcontext ctx) {
  return initialized([&] {
    if (!ctx) return CUDA_ERROR_INVALID_VALUE;
    Context* const context = runtime::find_context(ctx);
    return context ? driver_result(runtime::push_current(*context)) : CUDA_ERROR_INVALID_CONTEXT;
  });
}

CUresult cuCtxPopCurrent(CUcontext* pctx) { return cuCtxPopCurrent_v2(pctx); }
CUresult cuCtxPopCurrent_v2(CUcontext* pctx) {
  return initialized([&] {
    if (pctx) *pctx = nullptr;
    return driver_result(runtime::pop_current(), [&](Context* popped) {
      if (pctx) *pctx = popped->handle();
    });
  });
}

CUresult cuCtxSetCurrent(CUcontext ctx) {
  return initialized([&] {
    Context* const context = ctx ? runtime::find_context(ctx) : nullptr;
    if (ctx && !context) return CUDA_ERROR_INVALID_CONTEXT;
    return driver_result(runtime::set_current(context));
  });
}

CUresult cuCtxGetCurrent(CUcontext* pctx) {
  return initialized([&] {
    if (!pctx) return CUDA_ERROR_INVALID_VALUE;
    const Context* const context = runtime::current_context();
    *pctx = context ? context->handle() : nullptr;
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxGetDevice(CUdevice* device) { return cuCtxGetDevice_v2(device, nullptr); }
CUresult cuCtxGetDevice_v2(CUdevice* device, CUcontext ctx) {
  return of_context_held_or_not(ctx, [&](const Context& context) {
    if (!device) return CUDA_ERROR_INVALID_VALUE;
    *device = context.device().ordinal();
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxGetFlags(unsigned int* flags) {
  return of_context_held_or_not(nullptr, [&](const Context& context) {
    if (!flags) return CUDA_ERROR_INVALID_VALUE;
    // With unified addressing all host memory is mapped; a GPU's driver says so of primary contexts.
    *flags = context.flags();
    if (context.is_primary() && context.is_active()) *flags |= CU_CTX_MAP_HOST;
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxSetFlags(unsigned int flags) {
  return with_context([&](Context& context) { return driver_result(context.set_flags(flags)); });
}

CUresult cuCtxGetId(CUcontext ctx, unsigned long long* ctxId) {
  return of_context(ctx, [&](Context& context) {
    if (!ctxId) return CUDA_ERROR_INVALID_VALUE;
    *ctxId = context.id();
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxSynchronize() { return cuCtxSynchronize_v2(nullptr); }
CUresult cuCtxSynchronize_v2(CUcontext ctx) {
  return of_context(ctx, [](Context& context) {
    if (const CUresult unsafe = driver_result(runtime::check_unsafe_call()); unsafe != CUDA_SUCCESS) return unsafe;
    const CUresult result = driver_result(context.synchronize());
    runtime::release_unused_pool_memory();
    return result;
  });
}

CUresult cuCtxSetLimit(CUlimit limit, size_t value) {
  return with_context([&](Context& context) { return driver_result(context.set_limit(limit, value)); });
}

CUresult cuCtxGetLimit(size_t* pvalue, CUlimit limit) {
  return with_context([&](Context& context) {
    return pvalue ? driver_result(context.limit(limit), pvalue) : CUDA_ERROR_INVALID_VALUE;
  });
}

CUresult cuCtxGetCacheConfig(CUfunc_cache* pconfig) {
  return with_context([&](Context& context) {
    if (!pconfig) return CUDA_ERROR_INVALID_VALUE;
    *pconfig = context.cache_config;
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxSetCacheConfig(CUfunc_cache config) {
  return with_context([&](Context& context) {
    if (config < CU_FUNC_CACHE_PREFER_NONE || config > CU_FUNC_CACHE_PREFER_EQUAL) return CUDA_ERROR_INVALID_VALUE;
    context.cache_config = config;
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxGetSharedMemConfig(CUsharedconfig* pConfig) {
  return with_context([&](Context& context) {
    if (!pConfig) return CUDA_ERROR_INVALID_VALUE;
    *pConfig = context.shared_config;
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxSetSharedMemConfig(CUsharedconfig config) {
  return with_context([&](Context&) {  // fixed on this device, as on every one since sm_50
    return config < CU_SHARED_MEM_CONFIG_DEFAULT_BANK_SIZE || config > CU_SHARED_MEM_CONFIG_EIGHT_BYTE_BANK_SIZE
               ? CUDA_ERROR_INVALID_VALUE
               : CUDA_SUCCESS;
  });
}

CUresult cuCtxGetApiVersion(CUcontext ctx, unsigned int* version) {
  return of_context_held_or_not(ctx, [&](const Context& context) {
    if (!context.is_active()) return ctx ? CUDA_ERROR_INVALID_CONTEXT : CUDA_ERROR_CONTEXT_IS_DESTROYED;  // an H100's
    if (!version) return CUDA_ERROR_INVALID_VALUE;
    *version = 3020;  // the ABI of cuCtxCreate_v2 and later
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxGetStreamPriorityRange(int* leastPriority, int* greatestPriority) {
  return with_context([&](Context&) {
    if (leastPriority) *leastPriority = 0;
    if (greatestPriority) *greatestPriority = -5;
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxResetPersistingL2Cache() {
  return with_context([](Context&) { return CUDA_SUCCESS; });
}

/// A context has all multiprocessors of its device.
CUresult cuCtxGetExecAffinity(CUexecAffinityParam* pExecAffinity, CUexecAffinityType type) {
  return with_context([&](Context&) {
    if (!pExecAffinity) return CUDA_ERROR_INVALID_VALUE;
    if (type != CU_EXEC_AFFINITY_TYPE_SM_COUNT) return CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY;
    pExecAffinity->type = type;
    pExecAffinity->param.smCount.val = runtime::multiprocessor_count();
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxAttach(CUcontext* pctx, unsigned int flags) {
  return with_context([&](Context& context) {
    if (!pctx || flags != 0) return CUDA_ERROR_INVALID_VALUE;
    *pctx = context.handle();
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxDetach(CUcontext ctx) {
  return with_context(
      [&](Context& context) { return ctx == context.handle() ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT; });
}

CUresult cuCtxEnablePeerAccess(CUcontext peerContext, unsigned int Flags) {
  return in_context([&](Context& context) {
    if (Flags != 0) return CUDA_ERROR_INVALID_VALUE;
    Context* const peer = peerContext ? runtime::find_context(peerContext) : nullptr;
    return peer ? driver_result(context.enable_peer(*peer)) : CUDA_ERROR_INVALID_CONTEXT;
  });
}

CUresult cuCtxDisablePeerAccess(CUcontext peerContext) {
  return in_context([&](Context& context) {
    Context* const peer = peerContext ? runtime::find_context(peerContext) : nullptr;
    return peer ? driver_result(context.disable_peer(*peer)) : CUDA_ERROR_INVALID_CONTEXT;
  });
}
