// Destructors that a library registers with __cxa_atexit while it is in use. See running_call.hpp for why they must
// wait.
#pragma once

namespace cucore::toolkit {

/// From now on the destructors that `library` (of dlopen, never closed) registers are kept in a list: its reference to
/// __cxa_atexit is pointed at a function of ours. Where it has none that can be changed, they are registered as usual.
void keep_late_destructors(void* library) noexcept;

/// Registers the list's destructors with the C library, in the order they came in, so that they run when the process
/// exits (at once, if it is exiting), and lets the libraries register theirs themselves again. Thread-safe.
void release_late_destructors() noexcept;

}  // namespace cucore::toolkit
