// checkpoint::Process.
#include "cucore/checkpoint.hpp"

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "cucore/error.hpp"
#include "src/driver/table.hpp"

namespace cucore::checkpoint {
namespace {

void check(driver::CUresult code, const char* call, int pid) {
  // NOT_FOUND: a driver that has the functions but does not implement them.
  if (code == driver::CUDA_ERROR_NOT_SUPPORTED || code == driver::CUDA_ERROR_NOT_FOUND) {
    throw UnavailableError({.call = call,
                            .code = code,
                            .code_name = driver::result_name(code),
                            .message = "this driver does not support checkpoints of processes",
                            .hint = "a GPU's driver of CUDA 12.8 or newer does; the CPU device does not"});
  }
  driver::check(
      code, call, [&] { return "process " + std::to_string(pid); },
      "the order is lock(), checkpoint(), restore(), unlock()");
}

}  // namespace

Process::Process(int pid) : pid_(pid) {
  if (pid <= 0) {
    throw ValueError(
        {.call = "checkpoint::Process", .message = "a process ID must be positive, not " + std::to_string(pid)});
  }
}

ProcessState Process::state() const {
  int state = 0;
  check(driver::table().cuCheckpointProcessGetState(pid_, &state), "cuCheckpointProcessGetState", pid_);
  if (state < driver::CU_PROCESS_STATE_RUNNING || state > driver::CU_PROCESS_STATE_FAILED) {
    throw StateError({.call = "cuCheckpointProcessGetState",
                      .message = "process " + std::to_string(pid_) +
                                 " is in a state that cucore does not know: " + std::to_string(state),
                      .hint = "use a newer cucore with this driver"});
  }
  return static_cast<ProcessState>(state);
}

int Process::restore_thread_id() const {
  int thread = 0;
  check(driver::table().cuCheckpointProcessGetRestoreThreadId(pid_, &thread), "cuCheckpointProcessGetRestoreThreadId",
        pid_);
  return thread;
}

void Process::lock(std::chrono::milliseconds timeout) const {
  if (timeout.count() < 0 || timeout.count() > std::numeric_limits<unsigned>::max()) {
    throw ValueError({.call = "checkpoint::Process::lock",
                      .message = "the timeout must be 0 (none) to " +
                                 std::to_string(std::numeric_limits<unsigned>::max()) + " milliseconds, not " +
                                 std::to_string(timeout.count())});
  }
  driver::CUcheckpointLockArgs arguments{};
  arguments.timeoutMs = static_cast<unsigned>(timeout.count());
  check(driver::table().cuCheckpointProcessLock(pid_, &arguments), "cuCheckpointProcessLock", pid_);
}

void Process::checkpoint() const {
  driver::CUcheckpointCheckpointArgs arguments{};
  check(driver::table().cuCheckpointProcessCheckpoint(pid_, &arguments), "cuCheckpointProcessCheckpoint", pid_);
}

void Process::restore(std::span<const GpuPair> pairs) const {
  std::vector<driver::CUcheckpointGpuPair> natives(pairs.size());
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    std::ranges::copy(pairs[i].checkpointed, natives[i].oldUuid.bytes);
    std::ranges::copy(pairs[i].restored, natives[i].newUuid.bytes);
  }
  driver::CUcheckpointRestoreArgs arguments{};
  arguments.gpuPairs = natives.empty() ? nullptr : natives.data();
  arguments.gpuPairsCount = static_cast<unsigned>(natives.size());
  check(driver::table().cuCheckpointProcessRestore(pid_, &arguments), "cuCheckpointProcessRestore", pid_);
}

void Process::unlock() const {
  driver::CUcheckpointUnlockArgs arguments{};
  check(driver::table().cuCheckpointProcessUnlock(pid_, &arguments), "cuCheckpointProcessUnlock", pid_);
}

}  // namespace cucore::checkpoint
