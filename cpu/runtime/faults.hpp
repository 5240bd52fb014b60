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

}  // namespace cucore::cpu::runtime
