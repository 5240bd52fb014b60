// Faults in generated code become errors of the context instead of the end of the process: a signal handler that acts
// only on threads of ours while they run a fiber, and passes every other signal on to the earlier handler.
#pragma once

#include <pthread.h>
#include <signal.h>

#include <atomic>
#include <cstdint>

#include "cpu/abi/float_control.hpp"

namespace cucore::cpu::runtime {

/// Installs the handler for SIGSEGV, SIGBUS, SIGFPE and SIGILL, once.
void install_fault_handler();

/// Code that a thread may be made to leave in the middle, as a fault would.
struct InterruptibleCode {
  std::uintptr_t begin = 0, end = 0;
  const std::atomic<bool>* is_wanted = nullptr;  ///< else an interrupt does nothing: it may come late
};

/// While it stands, interrupt() ends the fiber of the calling thread with a fault where it runs that code. The thread
/// takes the signal: one of ours, under TakesInterrupts, or one for which can_run_device_code() holds.
class InterruptScope {
 public:
  explicit InterruptScope(const InterruptibleCode& code);
  ~InterruptScope();
  InterruptScope(const InterruptScope&) = delete;
  InterruptScope& operator=(const InterruptScope&) = delete;

 private:
  const InterruptibleCode code_;
  const InterruptibleCode* const outer_;
};

/// While it exists, the calling thread, one of ours, which blocks the program's signals, takes that of interrupt().
class TakesInterrupts {
 public:
  TakesInterrupts();
  ~TakesInterrupts();
  TakesInterrupts(const TakesInterrupts&) = delete;
  TakesInterrupts& operator=(const TakesInterrupts&) = delete;
};

/// Does nothing if the thread is elsewhere, in a service for instance: then it has to be called again. The thread must
/// be alive. The first call installs the handler of the signal.
void interrupt(pthread_t thread);
/// Of the fault with which interrupt() ends a fiber. Ignored by default, and let through by debuggers: one
/// that comes late does no harm.
inline constexpr int interrupt_signal = SIGURG;

/// Gives the thread the alternate signal stack that the handler needs (the fiber's own may have overflowed).
class FaultGuardedThread {
 public:
  FaultGuardedThread();
  ~FaultGuardedThread();
  FaultGuardedThread(const FaultGuardedThread&) = delete;
  FaultGuardedThread& operator=(const FaultGuardedThread&) = delete;

 private:
  void* stack_;
};

/// Whether the calling thread of the program can run generated code while it waits: it must be able to take the faults,
/// and interrupts. Gives it a signal stack if it has none. Decided once for each thread.
bool can_run_device_code();

/// While it stands, the calling thread computes as a thread of ours does: in IEEE's default mode, subnormals included.
class DeviceFloatingPoint {
 public:
  DeviceFloatingPoint();
  ~DeviceFloatingPoint();
  DeviceFloatingPoint(const DeviceFloatingPoint&) = delete;
  DeviceFloatingPoint& operator=(const DeviceFloatingPoint&) = delete;

 private:
  FloatControl before_;
};

}  // namespace cucore::cpu::runtime
