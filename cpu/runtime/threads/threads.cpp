// Starts this driver's own threads: see threads.hpp.
#include "cpu/runtime/threads/threads.hpp"

#include <pthread.h>
#include <signal.h>

#include <thread>

namespace cucore::cpu::runtime {

namespace {

thread_local bool is_of_ours = false;

}  // namespace

bool is_thread_of_ours() { return is_of_ours; }

void start_thread(void (*body)()) {
  // Inherited mask: everything blocked but the faults of generated code, which the handler in faults.cpp takes.
  sigset_t blocked;
  sigset_t before;
  sigfillset(&blocked);
  for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT}) sigdelset(&blocked, fault);
  pthread_sigmask(SIG_SETMASK, &blocked, &before);
  std::thread([body] {
    is_of_ours = true;
    body();
  }).detach();
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

}  // namespace cucore::cpu::runtime
