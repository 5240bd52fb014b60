// Errors: one object says which call failed, on what, with which code, and what to do about it.
//
//   try {
//     auto stream = device.create_stream();
//   } catch (const cucore::DriverError& e) {
//     e.code();       // 2
//     e.code_name();  // "CUDA_ERROR_OUT_OF_MEMORY"
//     e.call();       // "cuStreamCreateWithPriority"
//     e.what();       // all of it in a sentence
//   }
//
// The library never prints and never aborts. What cannot be thrown (a release that fails in a destructor) goes to one
// handler, see set_release_failure_handler().
//
// Thread-safety: error objects are immutable; the handler may be set and called from any thread.
#pragma once

#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>

#include "cucore/export.hpp"

namespace cucore {

/// The parts of an error. An empty string: does not apply.
struct ErrorInfo {
  std::string call = {};       ///< the driver or toolkit function, or the cucore function that refused
  int code = 0;                ///< the library's own code; 0 when cucore itself refused
  std::string code_name = {};  ///< symbolic name of `code`, e.g. "CUDA_ERROR_INVALID_PTX"
  std::string message = {};    ///< what happened, with the objects named
  std::string log = {};        ///< compiler, linker or JIT log; of a fault, what the CPU device tells of it
  std::string hint = {};       ///< what to do
};

/// Base of everything cucore throws. Copying never throws.
class CUCORE_API Error : public std::runtime_error {
 public:
  explicit Error(ErrorInfo info);

  const std::string& call() const noexcept { return info_->call; }
  int code() const noexcept { return info_->code; }
  const std::string& code_name() const noexcept { return info_->code_name; }
  const std::string& message() const noexcept { return info_->message; }
  const std::string& log() const noexcept { return info_->log; }
  const std::string& hint() const noexcept { return info_->hint; }

 private:
  explicit Error(std::shared_ptr<const ErrorInfo> info);

  std::shared_ptr<const ErrorInfo> info_;
};

/// A CUDA driver call failed (Python: CUDAError). The frequent cases have classes of their own.
class CUCORE_API DriverError : public Error {
 public:
  using Error::Error;
  /// Whether the context is unusable now: every later call in it fails with this error until the process ends.
  bool is_sticky() const noexcept;
};

/// CUDA_ERROR_OUT_OF_MEMORY (Python: CUDAOutOfMemoryError, which is a MemoryError too).
class CUCORE_API OutOfMemoryError : public DriverError {
 public:
  using DriverError::DriverError;
};

/// CUDA_ERROR_NOT_READY: what was asked about has not completed (Python: CUDANotReadyError).
class CUCORE_API NotReadyError : public DriverError {
 public:
  using DriverError::DriverError;
};

/// CUDA_ERROR_INVALID_CONTEXT or CUDA_ERROR_CONTEXT_IS_DESTROYED (Python: CUDAInvalidContextError).
class CUCORE_API InvalidContextError : public DriverError {
 public:
  using DriverError::DriverError;
};

/// An error after which the context is unusable: is_sticky() (Python: CUDAStickyError).
class CUCORE_API StickyError : public DriverError {
 public:
  using DriverError::DriverError;
};

/// An NVRTC call failed; log() holds the compilation log (Python: NVRTCError).
class CUCORE_API NvrtcError : public Error {
 public:
  using Error::Error;
};

/// An nvJitLink call failed; log() holds the linker's error log (Python: nvJitLinkError).
class CUCORE_API NvJitLinkError : public Error {
 public:
  using Error::Error;
};

/// A libNVVM call failed; log() holds its program log (Python: NVVMError).
class CUCORE_API NvvmError : public Error {
 public:
  using Error::Error;
};

/// An argument has a value that is not allowed (Python: ValueError).
class CUCORE_API ValueError : public Error {
 public:
  using Error::Error;
};

/// A number does not fit where it is to go (Python: OverflowError).
class CUCORE_API OverflowError : public Error {
 public:
  using Error::Error;
};

/// Options are set that the back end, or its version, does not have; all of them are named (Python:
/// UnsupportedOptionError, which is a CUDAError and a ValueError).
class CUCORE_API UnsupportedOptionError : public ValueError {
 public:
  using ValueError::ValueError;
};

/// A value that the driver would refuse with code(), CUDA_ERROR_INVALID_VALUE in most cases, found before it is asked
/// (Python: CUDAInvalidValueError, which is a CUDAError and a ValueError).
class CUCORE_API InvalidValueError : public ValueError {
 public:
  using ValueError::ValueError;
};

/// An argument is of the wrong kind, e.g. a kernel argument that does not fit its parameter (Python: TypeError).
class CUCORE_API TypeError : public Error {
 public:
  using Error::Error;
};

/// A launch lacks arguments, for which the driver would refuse it with code(), CUDA_ERROR_INVALID_VALUE (Python:
/// CUDAInvalidArgumentError, which is a CUDAError and a TypeError).
class CUCORE_API InvalidArgumentError : public TypeError {
 public:
  using TypeError::TypeError;
};

/// An object is not in a state that allows the call: closed, never recorded, not loaded (Python: RuntimeError).
class CUCORE_API StateError : public Error {
 public:
  using Error::Error;
};

/// A library that is needed (driver, NVRTC, nvJitLink, libNVVM) is not there or too old (Python: RuntimeError).
class CUCORE_API UnavailableError : public Error {
 public:
  using Error::Error;
};

/// Called when a driver object could not be released: from destructors, on any thread, possibly at process exit.
/// Must not throw. `error.call()` names the release call, `error.message()` the handle.
using ReleaseFailureHandler = void (*)(const Error& error, void* user) noexcept;

/// Replaces the process-wide handler and returns the previous one. With none set (nullptr, the default) reports are
/// counted (release_failures()) and otherwise dropped: the library prints nothing.
CUCORE_API ReleaseFailureHandler set_release_failure_handler(ReleaseFailureHandler handler,
                                                             void* user = nullptr) noexcept;

/// How many releases have failed in this process.
CUCORE_API unsigned long release_failures() noexcept;

}  // namespace cucore
