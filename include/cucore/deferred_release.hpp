// Deferred releases: letting go of what graphs kept alive and no longer need.
//
// The driver reports it on a thread of its own, where CUDA must not be called and Python code must not run. So it is
// only put aside there, and let go at the next safe point: when a graph is made, changed, launched or closed, after
// waiting for a stream, event or context, and when release_deferred() is called. At process exit,
// and in a forked child, it is left to the end of the process.
//
// Thread-safety: all functions may be called from any thread, but release_deferred() not from a callback of the driver.
#pragma once

#include <cstddef>

#include "cucore/export.hpp"

namespace cucore {

/// Lets go of what has been put aside; returns how many objects that were.
CUCORE_API std::size_t release_deferred() noexcept;

/// Called on one of the driver's threads, to have release_deferred() called soon in a thread where that is allowed:
/// once for everything put aside until then. Returns whether that will happen; if not, it is called again for the next
/// object.
using SafePointHook = bool (*)() noexcept;

/// Replaces the process-wide hook (null, the default: none) and returns the previous one.
CUCORE_API SafePointHook set_safe_point_hook(SafePointHook hook) noexcept;

}  // namespace cucore
