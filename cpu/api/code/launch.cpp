// Execution control chapter: functions and launches.
#include "cpu/runtime/execution/launch.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <span>
#include <utility>

#include "cpu/api/cuda_13_5.hpp"
#include "cpu/api/entry.hpp"
#include "cpu/runtime/loading/library.hpp"
#include "cpu/runtime/loading/module.hpp"
#include "cpu/runtime/objects/event.hpp"

using namespace cucore::cpu::api;
namespace runtime = cucore::cpu::runtime;
using runtime::Function;
using runtime::LaunchRequest;

namespace {

/// That of a function's module; null for a kernel, which is a function in whatever context is current.
Context* context_of_function(CUfunction handle) {
  const auto function = runtime::find_function(handle);
  return function ? &function->module().context() : nullptr;
}

using Find = CUresult (*)(Context& context, CUfunction handle, std::shared_ptr<Function>* function);

/// A function, or a kernel in the current context, as `find` finds it: `call(Function&)`.
template <class F>
CUresult of_function(CUfunction handle, F&& call, Find find = runtime::find_function) {
  return with_own_context([&] { return context_of_function(handle); }, CUDA_ERROR_INVALID_HANDLE,
                          [&](Context& context) {
                            std::shared_ptr<Function> function;
                            const CUresult result = find(context, handle, &function);
                            return result == CUDA_SUCCESS ? call(*function) : result;
                          });
}

/// The same for what needs none of its PTX.
template <class F>
CUresult of_named_function(CUfunction handle, F&& call) {
  return of_function(handle, std::forward<F>(call), runtime::find_named_function);
}

/// The launch as a graph node, into which what the call points at is copied.
CUresult capture_launch(Stream& stream, CUfunction f, const LaunchRequest& request,
                        std::span<CUlaunchAttribute> attributes) {
  CUgraphNodeParams node{};
  node.type = CU_GRAPH_NODE_TYPE_KERNEL;
  node.kernel = {f,
                 request.grid[0],
                 request.grid[1],
                 request.grid[2],
                 request.block[0],
                 request.block[1],
                 request.block[2],
                 request.dynamic_shared,
                 request.parameters,
                 request.extra,
                 nullptr,
                 stream.context().handle()};
  return driver_result(runtime::capture_node(stream, node, attributes));
}

CUresult launch_on(CUstream handle, CUfunction f, const LaunchRequest& request,
                   std::span<CUlaunchAttribute> attributes = {}, EntryName entry = EntryName(__builtin_FUNCTION())) {
  return in_stream_order(entry, handle, [&](Context&, Stream& stream) {
    if (stream.is_capturing()) return capture_launch(stream, f, request, attributes);
    const auto is_of_graphs = [](const CUlaunchAttribute& each) {
      return each.id == CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE;
    };
    if (std::any_of(attributes.begin(), attributes.end(), is_of_graphs)) return CUDA_ERROR_NOT_SUPPORTED;
    std::shared_ptr<Function> function;
    // A library's kernel runs in the stream's context.
    const CUresult result = runtime::find_function(stream.context(), f, &function);
    return result == CUDA_SUCCESS ? runtime::launch(function, request, stream) : result;
  });
}

/// An event to record behind the kernel, which stands for its blocks' end; as a GPU's driver, only without a time.
CUresult read_event(CUevent handle, int flags, CUevent* event) {
  const auto found = runtime::find_event(handle);
  if (!found) return CUDA_ERROR_INVALID_HANDLE;
  if (flags == CU_EVENT_RECORD_EXTERNAL) return CUDA_ERROR_ILLEGAL_STATE;
  if (flags != 0) return CUDA_ERROR_INVALID_VALUE;
  if (found->has_timing() || found->is_interprocess()) return CUDA_ERROR_NOT_SUPPORTED;
  *event = handle;
  return CUDA_SUCCESS;
}

/// Checks an attribute of cuLaunchKernelEx as an H100's driver does. `event`: to record behind the kernel.
CUresult read(const CUlaunchAttribute& attribute, CUevent* event) {
  const CUlaunchAttributeValue& value = attribute.value;
  if (attribute.id == launch_portable_cluster_mode || attribute.id == launch_shared_memory_mode) {
    int mode = 0;
    std::memcpy(&mode, &value, sizeof mode);
    return mode == 0 ? CUDA_SUCCESS : CUDA_ERROR_NOT_SUPPORTED;  // the default is what the function's attributes say
  }
  switch (attribute.id) {
    case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT:
      return read_event(value.programmaticEvent.event, value.programmaticEvent.flags, event);
    case CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT:
      return read_event(value.launchCompletionEvent.event, value.launchCompletionEvent.flags, event);
    // Hints, and permissions to overlap that need not be used.
    case CU_LAUNCH_ATTRIBUTE_IGNORE:
    case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION:
    case CU_LAUNCH_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION:
      return CUDA_SUCCESS;
    case CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE: {
      const auto policy = static_cast<int>(value.clusterSchedulingPolicyPreference);
      return policy >= CU_CLUSTER_SCHEDULING_POLICY_DEFAULT && policy <= CU_CLUSTER_SCHEDULING_POLICY_LOAD_BALANCING
                 ? CUDA_SUCCESS
                 : CUDA_ERROR_INVALID_VALUE;
    }
    default:
      return driver_result(runtime::check_attribute(attribute));
  }
}

}  // namespace

CUresult cuLaunchKernel(CUfunction f, unsigned int gridDimX, unsigned int gridDimY, unsigned int gridDimZ,
                        unsigned int blockDimX, unsigned int blockDimY, unsigned int blockDimZ,
                        unsigned int sharedMemBytes, CUstream hStream, void** kernelParams, void** extra) {
  return launch_on(hStream, f,
                   {{gridDimX, gridDimY, gridDimZ},
                    {blockDimX, blockDimY, blockDimZ},
                    sharedMemBytes,
                    false,
                    kernelParams,
                    extra,
                    nullptr});
}

CUresult cuLaunchCooperativeKernel(CUfunction f, unsigned int gridDimX, unsigned int gridDimY, unsigned int gridDimZ,
                                   unsigned int blockDimX, unsigned int blockDimY, unsigned int blockDimZ,
                                   unsigned int sharedMemBytes, CUstream hStream, void** kernelParams) {
  CUlaunchAttribute cooperative{};
  cooperative.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
  cooperative.value.cooperative = 1;
  return launch_on(hStream, f,
                   {{gridDimX, gridDimY, gridDimZ},
                    {blockDimX, blockDimY, blockDimZ},
                    sharedMemBytes,
                    true,
                    kernelParams,
                    nullptr,
                    nullptr},
                   std::span(&cooperative, 1));
}

CUresult cuLaunchKernelEx(const CUlaunchConfig* config, CUfunction f, void** kernelParams, void** extra) {
  if (!config || (config->numAttrs != 0 && !config->attrs))
    return in_context([](Context&) { return CUDA_ERROR_INVALID_VALUE; });
  CUevent handle = nullptr;
  for (unsigned int i = 0; i < config->numAttrs; ++i) {
    const CUresult result = read(config->attrs[i], &handle);
    if (result != CUDA_SUCCESS) return in_context([&](Context&) { return result; });
  }
  const LaunchRequest request = runtime::request_of(*config, kernelParams, extra);
  const CUresult result = launch_on(config->hStream, f, request, std::span(config->attrs, config->numAttrs));
  return result == CUDA_SUCCESS && handle ? cuEventRecord(handle, config->hStream) : result;
}

CUresult cuFuncGetAttribute(int* pi, CUfunction_attribute attrib, CUfunction hfunc) {
  return of_function(hfunc, [&](Function& function) {
    return pi ? driver_result(function.attribute(attrib), [&](int value) { *pi = value; }) : CUDA_ERROR_INVALID_VALUE;
  });
}

CUresult cuFuncSetAttribute(CUfunction hfunc, CUfunction_attribute attrib, int value) {
  return of_function(hfunc, [&](Function& function) { return driver_result(function.set_attribute(attrib, value)); });
}

CUresult cuFuncSetCacheConfig(CUfunction hfunc, CUfunc_cache config) {
  return of_function(hfunc, [&](Function&) {  // a hint
    return config < CU_FUNC_CACHE_PREFER_NONE || config > CU_FUNC_CACHE_PREFER_EQUAL ? CUDA_ERROR_INVALID_VALUE
                                                                                     : CUDA_SUCCESS;
  });
}

CUresult cuFuncSetSharedMemConfig(CUfunction hfunc, CUsharedconfig config) {
  return of_function(hfunc, [&](Function&) {
    return config < CU_SHARED_MEM_CONFIG_DEFAULT_BANK_SIZE || config > CU_SHARED_MEM_CONFIG_EIGHT_BYTE_BANK_SIZE
               ? CUDA_ERROR_INVALID_VALUE
               : CUDA_SUCCESS;
  });
}

CUresult cuFuncGetModule(CUmodule* hmod, CUfunction hfunc) {
  return of_named_function(hfunc, [&](Function& function) {
    if (!hmod) return CUDA_ERROR_INVALID_VALUE;
    *hmod = function.module().handle();
    return CUDA_SUCCESS;
  });
}

CUresult cuFuncGetName(const char** name, CUfunction hfunc) {
  if (!hfunc) return initialized([] { return CUDA_ERROR_INVALID_VALUE; });
  return of_named_function(hfunc, [&](Function& function) {
    if (!name) return CUDA_ERROR_INVALID_VALUE;
    *name = function.description().name.c_str();
    return CUDA_SUCCESS;
  });
}

CUresult cuFuncGetParamCount(CUfunction func, size_t* paramCount) {
  return of_function(func, [&](Function& function) {
    if (!paramCount) return CUDA_ERROR_INVALID_VALUE;
    *paramCount = function.description().parameters.size();
    return CUDA_SUCCESS;
  });
}

CUresult cuFuncGetParamInfo(CUfunction func, size_t paramIndex, size_t* paramOffset, size_t* paramSize) {
  return of_function(func, [&](Function& function) {
    const auto& parameters = function.description().parameters;
    if (!paramOffset || paramIndex >= parameters.size()) return CUDA_ERROR_INVALID_VALUE;
    *paramOffset = parameters[paramIndex].offset;
    if (paramSize) *paramSize = parameters[paramIndex].size;
    return CUDA_SUCCESS;
  });
}

CUresult cuFuncIsLoaded(CUfunctionLoadingState* state, CUfunction function) {
  return of_function(function, [&](Function&) {
    if (!state) return CUDA_ERROR_INVALID_VALUE;
    *state = CU_FUNCTION_LOADING_STATE_LOADED;
    return CUDA_SUCCESS;
  });
}

CUresult cuFuncLoad(CUfunction function) {
  return of_function(function, [](Function&) { return CUDA_SUCCESS; });
}
