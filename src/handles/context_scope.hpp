// Scopes that make a call happen in the right context and leave the thread as it was found.
#pragma once

#include "cucore/driver_types.hpp"
#include "src/driver/table.hpp"

namespace cucore::detail {

/// The calling thread's context; null if it has none. @throws DriverError
ContextHandle current_handle();

/// Makes `context` current if it is not, for the life of the scope. Null: leaves the current context alone.
/// A creating call ends with restore(), so that a failure to restore is thrown while what was made can still be
/// destroyed; without it the destructor restores and reports a failure to the release failure handler.
class ContextScope {
 public:
  explicit ContextScope(ContextHandle context);
  ~ContextScope();
  ContextScope(const ContextScope&) = delete;
  ContextScope& operator=(const ContextScope&) = delete;
  /// @throws DriverError the caller's context could not be made current again; the text names the one now current
  void restore();

 private:
  ContextHandle previous_ = nullptr;
  bool switched_ = false;
};

/// The driver's answer to `call`, which is about a stream or an event. Its context (`context_of()`, null if it has
/// none) seldom needs to be current for that: it is made current, for a second call, only if the driver asks for a
/// context or knows no such handle in the current one.
template <class ContextOf, class Call>
driver::CUresult ask_in_any_context(ContextOf&& context_of, Call&& call) {
  const driver::CUresult code = call();
  if (code != driver::CUDA_ERROR_INVALID_CONTEXT && code != driver::CUDA_ERROR_INVALID_HANDLE) [[likely]] {
    return code;
  }
  const ContextHandle context = context_of();
  if (context == nullptr) return code;
  ContextScope scope(context);
  const driver::CUresult again = call();
  scope.restore();
  return again;
}

/// For releases: as ContextScope, never throws, and exempt from the rules of a stream capture that happens to be active
/// in this thread (a release unrelated to the capture must not invalidate it).
class ReleaseScope {
 public:
  ReleaseScope(const driver::Table& table, ContextHandle context) noexcept;
  ~ReleaseScope();
  ReleaseScope(const ReleaseScope&) = delete;
  ReleaseScope& operator=(const ReleaseScope&) = delete;

 private:
  const driver::Table& table_;
  ContextHandle previous_ = nullptr;
  int capture_mode_;
  bool switched_ = false;
  bool exchanged_ = false;
};

/// Exempts the calls in it from the rules of an active stream capture, for lazy set-up that records nothing.
class RelaxedCaptureScope {
 public:
  RelaxedCaptureScope() noexcept;
  ~RelaxedCaptureScope();
  RelaxedCaptureScope(const RelaxedCaptureScope&) = delete;
  RelaxedCaptureScope& operator=(const RelaxedCaptureScope&) = delete;

 private:
  int mode_;
  bool exchanged_ = false;
};

}  // namespace cucore::detail
