// Starts this driver's own threads: see threads.hpp.
#include "cpu/runtime/threads/threads.hpp"

#include <pthread.h>
#include <signal.h>

#include <system_error>

namespace cucore::cpu::runtime {

namespace {

thread_local bool is_of_ours = false;

void* run(void* body) {
  is_of_ours = true;
  reinterpret_cast<void (*)()>(body)();
  return nullptr;
}

}  // namespace

bool is_thread_of_ours() { return is_of_ours; }

void start_thread(void (*body)()) {
  // Inherited mask: everything blocked but the faults of generated code, which the handler in faults.cpp takes.
  sigset_t blocked;
  sigset_t before;
  sigfillset(&blocked);
  for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT}) sigdelset(&blocked, fault);
  pthread_sigmask(SIG_SETMASK, &blocked, &before);
  // Not std::thread, whose state the new thread frees, for which glibc makes a heap of its own.
  pthread_t thread{};
  const int error = pthread_create(&thread, nullptr, run, reinterpret_cast<void*>(body));
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (error != 0) throw std::system_error(error, std::generic_category(), "pthread_create");
  pthread_detach(thread);
}

}  // namespace cucore::cpu::runtime
