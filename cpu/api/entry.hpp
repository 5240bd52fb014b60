// What every entry checks first: is the driver initialised, is there a context, has a kernel failed in it. An entry is
// then one call into the run-time. No exception leaves an entry.
#pragma once

// Built with __CUDA_API_VERSION_INTERNAL: plain, `_vN` and 32-bit names side by side.
#include <cuda.h>

#include <memory>
#include <new>
#include <utility>

#include "cpu/runtime/graph/capture.hpp"
#include "cpu/runtime/objects/context.hpp"
#include "cpu/runtime/objects/created_stream.hpp"
#include "cpu/runtime/objects/stream.hpp"
#include "cpu/runtime/process/driver_result.hpp"
#include "cpu/runtime/process/process.hpp"
#include "cpu/runtime/process/trace.hpp"

namespace cucore::cpu::api {

using cpu::Result;
using runtime::Context;
using runtime::driver_result;
using runtime::Stream;

/// Which entry of the API a call is, for traces: the function that calls, in whose name the entry's is (it is the
/// entry, or one that the entry hands a lambda). Others in between take an EntryName and hand it on.
class EntryName {
 public:
  constexpr explicit EntryName(const char* function) : function_(function) {}
  const char* function() const { return function_; }

 private:
  const char* function_;
};

/// "CUDA_ERROR_INVALID_VALUE".
inline const char* name_of(CUresult result) {
  const char* name = "CUDA_ERROR_UNKNOWN";
  (void)cuGetErrorName(result, &name);
  return name;
}

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

// Each takes the entry that it is called in first; where that calls it itself, it need not say so.

/// Needs cuInit.
template <class F>
CUresult initialized(EntryName entry, F&& call) {
  if (const CUresult state = runtime::process_state(); state != CUDA_SUCCESS) return state;
  runtime::trace::Call traced(entry.function());
  const CUresult result = guarded(std::forward<F>(call));
  if (traced.is_written() && result != CUDA_SUCCESS) traced.set_failure(name_of(result));
  // Exit may have begun meanwhile, and what the call waited for was then dropped.
  const bool dropped = result == CUDA_SUCCESS && runtime::process_state() == CUDA_ERROR_DEINITIALIZED;
  return dropped ? CUDA_ERROR_DEINITIALIZED : result;
}

/// Needs a context: the current one or, in a thread that has none, that of the object which the call names, as an
/// H100's driver has it: `own()`, or null and then the call answers `if_none`. `call(Context&)` runs even if a kernel
/// failed in it (queries, releases).
template <class Own, class F>
CUresult with_own_context(EntryName entry, Own&& own, CUresult if_none, F&& call) {
  return initialized(entry, [&] {
    Context* context = runtime::current_context();
    if (!context) context = std::forward<Own>(own)();
    if (!context) return if_none;
    if (!context->is_active()) return CUDA_ERROR_CONTEXT_IS_DESTROYED;
    return call(*context);
  });
}

/// Needs a current context, for calls that name no object that brings one along.
template <class F>
CUresult with_context(EntryName entry, F&& call) {
  return with_own_context(entry, [] { return nullptr; }, CUDA_ERROR_INVALID_CONTEXT, std::forward<F>(call));
}

/// The call, for contexts in which no kernel failed.
template <class F>
auto unless_failed(F& call) {
  return [&call](Context& context) {
    const Result<void> error = context.error();
    return error ? call(context) : driver_result(error);
  };
}

/// The call, which could wait for a capture in progress: refused then, as the capture's mode says.
template <class F>
auto outside_capture(F call) {
  return [call](Context& context) {
    const CUresult result = driver_result(runtime::check_unsafe_call());
    return result == CUDA_SUCCESS ? call(context) : result;
  };
}

/// Needs a current context in which no kernel failed.
template <class F>
CUresult in_context(EntryName entry, F&& call) {
  return with_context(entry, unless_failed(call));
}

/// As with_own_context, in which no kernel failed.
template <class Own, class F>
CUresult in_own_context(EntryName entry, Own&& own, CUresult if_none, F&& call) {
  return with_own_context(entry, std::forward<Own>(own), if_none, unless_failed(call));
}

template <class F>
CUresult in_context_outside_capture(EntryName entry, F&& call) {
  return in_context(entry, outside_capture(std::forward<F>(call)));
}

/// Null for default streams, which are those of the current context.
inline Context* context_of_stream(CUstream handle) {
  const auto stream = runtime::find_created_stream(handle);
  return stream ? &stream->context() : nullptr;
}

/// As in_own_context, of a stream.
template <class F>
CUresult in_context_of(EntryName entry, CUstream handle, F&& call) {
  return in_own_context(
      entry, [&] { return context_of_stream(handle); }, CUDA_ERROR_INVALID_CONTEXT, std::forward<F>(call));
}

/// As in_context_of, plus a live stream, which may be capturing: `call(Context&, Stream&)`.
template <class F>
CUresult in_stream_order(EntryName entry, CUstream handle, F&& call) {
  return in_context_of(entry, handle, [&](Context& context) {
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
CUresult on_stream(EntryName entry, CUstream handle, F&& call) {
  return in_stream_order(entry, handle, [&](Context& context, Stream& stream) {
    return stream.is_capturing() ? driver_result(runtime::refuse_capture(stream)) : call(context, stream);
  });
}

/// The default stream of a call without a stream argument: `call(Context&, Stream&)`.
template <class F>
CUresult on_default_stream(EntryName entry, F&& call) {
  return on_stream(entry, nullptr, std::forward<F>(call));
}

// The same, called by the entry itself.
template <class F>
CUresult initialized(F&& call, EntryName entry = EntryName(__builtin_FUNCTION())) {
  return initialized(entry, std::forward<F>(call));
}

template <class F>
CUresult with_context(F&& call, EntryName entry = EntryName(__builtin_FUNCTION())) {
  return with_context(entry, std::forward<F>(call));
}

template <class F>
CUresult in_context(F&& call, EntryName entry = EntryName(__builtin_FUNCTION())) {
  return in_context(entry, std::forward<F>(call));
}

template <class Own, class F>
CUresult with_own_context(Own&& own, CUresult if_none, F&& call, EntryName entry = EntryName(__builtin_FUNCTION())) {
  return with_own_context(entry, std::forward<Own>(own), if_none, std::forward<F>(call));
}

template <class Own, class F>
CUresult in_own_context(Own&& own, CUresult if_none, F&& call, EntryName entry = EntryName(__builtin_FUNCTION())) {
  return in_own_context(entry, std::forward<Own>(own), if_none, std::forward<F>(call));
}

template <class F>
CUresult in_context_outside_capture(F&& call, EntryName entry = EntryName(__builtin_FUNCTION())) {
  return in_context_outside_capture(entry, std::forward<F>(call));
}

template <class F>
CUresult on_default_stream(F&& call, EntryName entry = EntryName(__builtin_FUNCTION())) {
  return on_default_stream(entry, std::forward<F>(call));
}

template <class F>
CUresult in_stream_order(CUstream handle, F&& call, EntryName entry = EntryName(__builtin_FUNCTION())) {
  return in_stream_order(entry, handle, std::forward<F>(call));
}

template <class F>
CUresult on_stream(CUstream handle, F&& call, EntryName entry = EntryName(__builtin_FUNCTION())) {
  return on_stream(entry, handle, std::forward<F>(call));
}

}  // namespace cucore::cpu::api

#pragma GCC visibility push(default)
