// What every entry checks first: is the driver initialised, is there a context, has a kernel failed in it. An entry is
// then one call into the run-time. No exception leaves an entry.
#pragma once

// Built with __CUDA_API_VERSION_INTERNAL: plain, `_vN` and 32-bit names side by side.
#include <cuda.h>

#include <new>
#include <utility>

#include "cpu/runtime/graph/capture.hpp"
#include "cpu/runtime/objects/context.hpp"
#include "cpu/runtime/objects/stream.hpp"
#include "cpu/runtime/process/driver_result.hpp"
#include "cpu/runtime/process/process.hpp"

namespace cucore::cpu::api {

using cpu::Result;
using runtime::Context;
using runtime::driver_result;
using runtime::Stream;

template <class F>
CUresult guarded(F&& call) {
  try {
    return std::forward<F>(call)();
  } catch (const std::bad_alloc&) {
    return CUDA_ERROR_OUT_OF_MEMORY;
  } catch (...) {
    return CUDA_ERROR_UNKNOWN;
  }
}

/// Needs cuInit.
template <class F>
CUresult initialized(F&& call) {
  if (const CUresult state = runtime::process_state(); state != CUDA_SUCCESS) return state;
  const CUresult result = guarded(std::forward<F>(call));
  // Exit may have begun meanwhile, and what the call waited for was then dropped.
  const bool dropped = result == CUDA_SUCCESS && runtime::process_state() == CUDA_ERROR_DEINITIALIZED;
  return dropped ? CUDA_ERROR_DEINITIALIZED : result;
}

/// Needs a current context; `call(Context&)` runs even if a kernel failed in it (queries, releases).
template <class F>
CUresult with_context(F&& call) {
  return initialized([&] {
    Context* const context = runtime::current_context();
    if (!context) return CUDA_ERROR_INVALID_CONTEXT;
    if (!context->is_active()) return CUDA_ERROR_CONTEXT_IS_DESTROYED;
    return call(*context);
  });
}

/// Needs a current context in which no kernel failed.
template <class F>
CUresult in_context(F&& call) {
  return with_context([&](Context& context) {
    if (const Result<void> error = context.error(); !error) return driver_result(error);
    return call(context);
  });
}

/// As in_context, for calls that could wait for a capture in progress: refused, as the capture's mode says.
template <class F>
CUresult in_context_outside_capture(F&& call) {
  return in_context([&](Context& context) {
    if (const CUresult result = driver_result(runtime::check_unsafe_call()); result != CUDA_SUCCESS) return result;
    return call(context);
  });
}

/// As in_context, plus a live stream, which may be capturing: `call(Context&, Stream&)`.
template <class F>
CUresult in_stream_order(CUstream handle, F&& call) {
  return in_context([&](Context& context) {
    const auto stream = runtime::find_stream(context, handle);
    if (!stream) return CUDA_ERROR_INVALID_HANDLE;
    if (runtime::is_anything_capturing())
      if (const CUresult result = driver_result(runtime::check_stream_use(*stream)); result != CUDA_SUCCESS)
        return result;
    return call(context, *stream);
  });
}

/// As in_stream_order, for what cannot be captured: on a capturing stream it fails and makes the capture invalid.
template <class F>
CUresult on_stream(CUstream handle, F&& call) {
  return in_stream_order(handle, [&](Context& context, Stream& stream) {
    return stream.is_capturing() ? driver_result(runtime::refuse_capture(stream)) : call(context, stream);
  });
}

/// The default stream of a call without a stream argument: `call(Context&, Stream&)`.
template <class F>
CUresult on_default_stream(F&& call) {
  return on_stream(nullptr, std::forward<F>(call));
}

}  // namespace cucore::cpu::api

#pragma GCC visibility push(default)
