// Starts this driver's own threads: see threads.hpp.
#include "cpu/runtime/threads/threads.hpp"

#include <pthread.h>
#include <signal.h>

#include <thread>

namespace cucore::cpu::runtime {

void start_thread(void (*body)()) {
  // Inherited mask: everything blocked but the faults of generated code, which the handler in faults.cpp takes.
  sigset_t blocked;
  sigset_t before;
  sigfillset(&blocked);
  for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT}) sigdelset(&blocked, fault);
  pthread_sigmask(SIG_SETMASK, &blocked, &before);
  std::thread(body).detach();
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

}  // namespace cucore::cpu::runtime
