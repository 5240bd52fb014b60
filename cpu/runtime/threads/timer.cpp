// The timer: see timer.hpp. Adding a call wakes its thread only if that would sleep past the call.
#include "cpu/runtime/threads/timer.hpp"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <system_error>
#include <utility>
#include <vector>

#include "cpu/runtime/threads/threads.hpp"

namespace cucore::cpu::runtime {

namespace {

using Clock = Timed::Clock;

struct Call {
  Clock::time_point when;
  std::shared_ptr<Timed> whom;

  friend bool operator<(const Call& a, const Call& b) { return a.when > b.when; }  // the next one is a heap's top
};

struct Timer {
  std::mutex mutex;
  std::condition_variable earlier;
  std::vector<Call> calls;                             ///< a heap
  Clock::time_point wakes = Clock::time_point::min();  ///< when its thread looks again; min() while it does not sleep

  std::mutex start_mutex;
  std::atomic<bool> is_started{false};
};

Timer& timer() {
  static auto* instance = new Timer;  // its thread runs until the process ends
  return *instance;
}

void add(Timer& self, Call call) {
  self.calls.push_back(std::move(call));
  std::push_heap(self.calls.begin(), self.calls.end());
}

Call take_next(Timer& self) {
  std::pop_heap(self.calls.begin(), self.calls.end());
  Call next = std::move(self.calls.back());
  self.calls.pop_back();
  return next;
}

void run_timer() {
  Timer& self = timer();
  std::unique_lock lock(self.mutex);
  for (;;) {
    const Clock::time_point next = self.calls.empty() ? Clock::time_point::max() : self.calls.front().when;
    if (next > Clock::now()) {
      self.wakes = next;
      self.earlier.wait_until(lock, next);
      self.wakes = Clock::time_point::min();
      continue;
    }
    Call call = take_next(self);
    lock.unlock();
    const std::optional<Clock::time_point> again = call.whom->on_time();
    if (!again) call.whom.reset();  // whose end may take the lock
    lock.lock();
    if (again) add(self, {*again, std::move(call.whom)});
  }
}

/// Not under the lock that the new thread takes first.
bool has_thread(Timer& self) {
  if (self.is_started.load(std::memory_order_acquire)) return true;
  const std::lock_guard lock(self.start_mutex);
  try {
    if (!self.is_started.load(std::memory_order_relaxed)) start_thread(run_timer);
  } catch (const std::system_error&) {
    return false;
  }
  self.is_started.store(true, std::memory_order_release);
  return true;
}

}  // namespace

bool call_at(Clock::time_point when, std::shared_ptr<Timed> whom) {
  Timer& self = timer();
  if (!has_thread(self)) return false;
  const std::lock_guard lock(self.mutex);
  add(self, {when, std::move(whom)});
  if (when < self.wakes) self.earlier.notify_one();
  return true;
}

}  // namespace cucore::cpu::runtime
