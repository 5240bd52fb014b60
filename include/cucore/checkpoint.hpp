// checkpoint::Process: another process that uses CUDA, stopped, brought to host memory and back.
//
//   cucore::checkpoint::Process process(pid);
//   process.lock(std::chrono::seconds(5));   // its CUDA calls block from here on
//   process.checkpoint();                    // its device memory is now host memory; the GPUs are free
//   ...                                      // for example: save the process with CRIU, and restore it elsewhere
//   process.restore();
//   process.unlock();
//
// Needs a driver of CUDA 12.8; the CPU device has no checkpoints. Calls in the wrong order are the driver's errors.
// Ownership: a value that holds the number of the process. Thread-safety: all members may be called concurrently.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <span>

#include "cucore/export.hpp"

namespace cucore::checkpoint {

enum class ProcessState { running = 0, locked = 1, checkpointed = 2, failed = 3 };

using Uuid = std::array<unsigned char, 16>;

/// A GPU at the time of the checkpoint, and the one that is to take its place.
struct GpuPair {
  Uuid checkpointed{};
  Uuid restored{};
};

/// Every member that calls the driver:  @throws UnavailableError the driver has no checkpoints  @throws DriverError
class CUCORE_API Process {
 public:
  /// @throws ValueError `pid` is not positive
  explicit Process(int pid);

  int pid() const noexcept { return pid_; }
  /// cuCheckpointProcessGetState. @throws StateError the driver names a state that is none of these
  ProcessState state() const;
  /// The thread of the process that restore() is called on behalf of (cuCheckpointProcessGetRestoreThreadId).
  int restore_thread_id() const;
  /// Makes its CUDA calls block, and waits for those under way; at most for `timeout`, unless that is 0.
  /// @throws ValueError negative, or more milliseconds than 32 bits hold
  void lock(std::chrono::milliseconds timeout = std::chrono::milliseconds(0)) const;
  /// Brings the device memory of a locked process to the host.
  void checkpoint() const;
  /// Brings the memory back; to other GPUs if `pairs` says so. It must then name every GPU of the machine, also those
  /// that were hidden from the process.
  void restore(std::span<const GpuPair> pairs = {}) const;
  /// Lets the process go on.
  void unlock() const;

 private:
  int pid_;
};

}  // namespace cucore::checkpoint
