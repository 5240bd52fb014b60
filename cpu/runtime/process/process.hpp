// The life of the driver in its process: before cuInit, ready, after exit began, or in a forked child. Nothing of the
// driver is ever destroyed, nor of the LLVM in it (abi/no_destructors.cpp): exit makes calls answer
// CUDA_ERROR_DEINITIALIZED, lets running work stop, and waits for nothing.
#pragma once

#include <cuda.h>

#include <string>
#include <string_view>

#include "cpu/error/result.hpp"

namespace cucore::cpu::runtime {

/// CUDA_SUCCESS, CUDA_ERROR_NOT_INITIALIZED (before cuInit, and in a child forked after it: its threads are gone)
/// or CUDA_ERROR_DEINITIALIZED; CUDA_ERROR_NOT_PERMITTED inside a host function, which could wait for itself. Every
/// entry asks this first, also those that launch, which a Result, returned in memory, would slow down.
CUresult process_state();

/// From now on the process is ready: `start`, which makes all that calls need, is called the first time, and `at_exit`
/// when the process ends. A failure is that of `start`, or says that the process has ended or is a forked child.
Result<void> start_process(Result<void> (*start)(), void (*at_exit)());

/// Stands while a stream's host function runs on this thread.
class HostFunctionScope {
 public:
  HostFunctionScope();
  ~HostFunctionScope();
  HostFunctionScope(const HostFunctionScope&) = delete;
  HostFunctionScope& operator=(const HostFunctionScope&) = delete;
};

/// True once exit has begun, in a process that is no forked child of one that used the device.
bool has_exited();

/// True once exit has begun or this is a forked child: running kernels are abandoned at their next block or wait.
bool is_shutting_down();

/// CUDA_LAUNCH_BLOCKING=1: every launch is waited for. Read once, when the process starts.
bool launches_block();

/// The last fault, deadlock or load failure in words, for cucore_cpu_last_report; also for `logs`, and written to
/// standard error where CUCORE_CPU_REPORT names `stderr`. Thread-safe.
void report(std::string text);
std::string last_report();

/// Whether CUCORE_CPU_REPORT names `what`, alone or in a list with commas.
bool is_reported(std::string_view what);

/// Reports what becomes a context's error, for cucore_cpu_last_fault; later reports of other things do not replace it.
/// Called before the error can be seen. Thread-safe.
void report_fault(std::string text);
std::string last_fault();

/// What the checker found: to standard error, and for cucore_cpu_findings. Thread-safe.
void report_finding(const std::string& text);
std::string findings_from(std::size_t from);

}  // namespace cucore::cpu::runtime
