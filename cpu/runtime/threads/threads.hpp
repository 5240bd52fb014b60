// Starts this driver's own threads: detached (they run until the process ends), with the program's signals blocked. And
// thread-local objects of all threads, ours and the program's.
#pragma once

#include <pthread.h>

namespace cucore::cpu::runtime {

/// Throws std::system_error if no thread can be started.
void start_thread(void (*body)());
/// Whether it has started the calling thread.
bool is_thread_of_ours();

/// The calling thread's own T, made at first use and gone with the thread; what is left at the end of the process
/// stays.
template <class T>
T& of_this_thread() {
  thread_local T* mine = nullptr;
  if (mine) return *mine;
  static const pthread_key_t key = [] {
    pthread_key_t made{};
    pthread_key_create(&made, [](void* of_ended_thread) { delete static_cast<T*>(of_ended_thread); });
    return made;
  }();
  mine = new T;
  pthread_setspecific(key, mine);
  return *mine;
}

}  // namespace cucore::cpu::runtime
