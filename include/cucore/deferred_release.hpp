// Deferred releases: what graphs kept alive and nobody needs any more.
//
// The driver says so on a thread of its own where CUDA must not be called, and where a Python interpreter has no
// business. So it is only put aside there, and let go at the next safe point: when a graph is made, changed, launched
// or closed, when a stream, event or context was waited for, and when release_deferred() is called. At process exit,
// and in a forked child, it is left to the end of the process.
//
// Thread-safety: all of it may be called from any thread; release_deferred() not from a callback of the driver.
#pragma once

#include <cstddef>

#include "cucore/export.hpp"

namespace cucore {

/// Lets go of what has been put aside; returns how much.
CUCORE_API std::size_t release_deferred() noexcept;

/// Asked, on a thread of the driver's, to have release_deferred() called soon in a thread where that is allowed. Once
/// for everything put aside until then. Returns whether that will happen; if not, it is asked again with the next.
using SafePointHook = bool (*)() noexcept;

/// Replaces the process-wide hook (null, the default: nobody is asked) and returns the one before.
CUCORE_API SafePointHook set_safe_point_hook(SafePointHook hook) noexcept;

}  // namespace cucore
