// Which threads of the program wait in the driver: see waits.hpp.
#include "cpu/runtime/threads/waits.hpp"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <vector>

#include "cpu/runtime/threads/threads.hpp"

namespace cucore::cpu::runtime {

namespace {

struct WaitingThreads {
  std::mutex mutex;
  std::vector<const ThreadWait*> threads;
  std::uint64_t next = 0;
};

WaitingThreads& waiting_threads() {
  static auto* instance = new WaitingThreads;  // threads outlive static destruction
  return *instance;
}

}  // namespace

/// A thread of the program that has waited, as long as it lives. It alone writes.
struct ThreadWait {
  ThreadWait() {
    WaitingThreads& all = waiting_threads();
    const std::lock_guard lock(all.mutex);
    thread = all.next++;
    all.threads.push_back(this);
  }
  ~ThreadWait() {
    if (getpid() != process) return;  // a forked child, where someone else may hold the lock
    WaitingThreads& all = waiting_threads();
    const std::lock_guard lock(all.mutex);
    std::erase(all.threads, this);
  }
  ThreadWait(const ThreadWait&) = delete;
  ThreadWait& operator=(const ThreadWait&) = delete;

  const pid_t process = getpid();
  const bool is_main_thread = gettid() == process;
  std::uint64_t thread = 0;
  std::atomic<std::uint64_t> number{0};
  std::atomic<const void*> whom{nullptr};
};

WaitOfProgram::WaitOfProgram(const void* whom) : mine_(is_thread_of_ours() ? nullptr : &of_this_thread<ThreadWait>()) {
  if (!mine_) return;
  mine_->number.store(mine_->number.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  mine_->whom.store(whom, std::memory_order_release);
}

WaitOfProgram::~WaitOfProgram() {
  if (mine_) mine_->whom.store(nullptr, std::memory_order_release);
}

void look_at_waits(const std::function<void(const WaitSeen&)>& look) {
  WaitingThreads& all = waiting_threads();
  const std::lock_guard lock(all.mutex);
  for (const ThreadWait* const wait : all.threads)
    if (const void* const whom = wait->whom.load(std::memory_order_acquire))
      look({wait->thread, wait->number.load(std::memory_order_relaxed), whom, wait->is_main_thread});
}

}  // namespace cucore::cpu::runtime
