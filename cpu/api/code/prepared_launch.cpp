// Execution control chapter, its deprecated part: a function keeps block shape and parameters until it is launched.
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "cpu/api/entry.hpp"
#include "cpu/runtime/loading/module.hpp"

using namespace cucore::cpu::api;
namespace runtime = cucore::cpu::runtime;
using runtime::Function;
using runtime::PreparedLaunch;

namespace {

constexpr std::size_t most_parameter_bytes = 32764;  // of one kernel, since CUDA 12.1

template <class F>
CUresult prepare(CUfunction handle, bool is_valid, F&& change, EntryName entry = EntryName(__builtin_FUNCTION())) {
  return in_context(entry, [&](Context& context) {
    std::shared_ptr<Function> function;
    if (const CUresult result = runtime::find_function(context, handle, &function); result != CUDA_SUCCESS)
      return result;
    if (!is_valid) return CUDA_ERROR_INVALID_VALUE;
    function->prepare_launch(change);
    return CUDA_SUCCESS;
  });
}

CUresult set_parameter(CUfunction handle, int offset, const void* value, std::size_t bytes,
                       EntryName entry = EntryName(__builtin_FUNCTION())) {
  const auto from = static_cast<std::size_t>(offset);
  const bool is_valid = offset >= 0 && value && bytes <= most_parameter_bytes && from <= most_parameter_bytes - bytes;
  return prepare(
      handle, is_valid,
      [&](PreparedLaunch& launch) {
        if (launch.parameters.size() < from + bytes) launch.parameters.resize(from + bytes);
        std::memcpy(launch.parameters.data() + from, value, bytes);
      },
      entry);
}

CUresult launch(CUfunction handle, int width, int height, CUstream stream,
                EntryName entry = EntryName(__builtin_FUNCTION())) {
  PreparedLaunch prepared;
  const CUresult result = in_context(entry, [&](Context& context) {
    std::shared_ptr<Function> function;
    const CUresult found = runtime::find_function(context, handle, &function);
    if (found == CUDA_SUCCESS) prepared = function->prepared_launch();
    return found == CUDA_SUCCESS && (width <= 0 || height <= 0) ? CUDA_ERROR_INVALID_VALUE : found;
  });
  if (result != CUDA_SUCCESS) return result;
  std::size_t size = prepared.parameters.size();
  void* extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, prepared.parameters.data(), CU_LAUNCH_PARAM_BUFFER_SIZE, &size,
                   CU_LAUNCH_PARAM_END};
  return cuLaunchKernel(handle, static_cast<unsigned int>(width), static_cast<unsigned int>(height), 1,
                        prepared.block[0], prepared.block[1], prepared.block[2], prepared.dynamic_shared, stream,
                        nullptr, extra);
}

}  // namespace

CUresult cuFuncSetBlockShape(CUfunction hfunc, int x, int y, int z) {
  return prepare(hfunc, x > 0 && y > 0 && z > 0, [&](PreparedLaunch& launch) {
    launch.block[0] = static_cast<unsigned int>(x);
    launch.block[1] = static_cast<unsigned int>(y);
    launch.block[2] = static_cast<unsigned int>(z);
  });
}

CUresult cuFuncSetSharedSize(CUfunction hfunc, unsigned int bytes) {
  return prepare(hfunc, true, [&](PreparedLaunch& launch) { launch.dynamic_shared = bytes; });
}

CUresult cuParamSetSize(CUfunction hfunc, unsigned int numbytes) {
  return prepare(hfunc, numbytes <= most_parameter_bytes,
                 [&](PreparedLaunch& launch) { launch.parameters.resize(numbytes); });
}

CUresult cuParamSeti(CUfunction hfunc, int offset, unsigned int value) {
  return set_parameter(hfunc, offset, &value, sizeof value);
}

CUresult cuParamSetf(CUfunction hfunc, int offset, float value) {
  return set_parameter(hfunc, offset, &value, sizeof value);
}

CUresult cuParamSetv(CUfunction hfunc, int offset, void* ptr, unsigned int numbytes) {
  return set_parameter(hfunc, offset, ptr, numbytes);
}

CUresult cuLaunch(CUfunction f) { return launch(f, 1, 1, nullptr); }

CUresult cuLaunchGrid(CUfunction f, int grid_width, int grid_height) {
  return launch(f, grid_width, grid_height, nullptr);
}

CUresult cuLaunchGridAsync(CUfunction f, int grid_width, int grid_height, CUstream hStream) {
  return launch(f, grid_width, grid_height, hStream);
}

// The references that a kernel names are bound by its module.
CUresult cuParamSetTexRef(CUfunction hfunc, int texunit, CUtexref) {
  return prepare(hfunc, texunit == CU_PARAM_TR_DEFAULT, [](PreparedLaunch&) {});
}
