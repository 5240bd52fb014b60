// Faults in generated code become errors of the context instead of the end of the process: a signal handler that acts
// only on threads of ours while they run a fiber, and hands every other signal to whoever was there before.
#pragma once

namespace cucore::cpu::runtime {

/// Installs the handler for SIGSEGV, SIGBUS, SIGFPE and SIGILL, once.
void install_fault_handler();

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

/// Whether the calling thread of the program can run generated code while it waits: it must be able to take the faults.
/// Gives it a signal stack if it has none. Decided once for each thread.
bool can_run_device_code();

/// While it stands, the calling thread computes as a thread of ours does: in IEEE's default mode, subnormals included.
class DeviceFloatingPoint {
 public:
  DeviceFloatingPoint();
  ~DeviceFloatingPoint();
  DeviceFloatingPoint(const DeviceFloatingPoint&) = delete;
  DeviceFloatingPoint& operator=(const DeviceFloatingPoint&) = delete;

 private:
  unsigned int before_;
};

}  // namespace cucore::cpu::runtime
