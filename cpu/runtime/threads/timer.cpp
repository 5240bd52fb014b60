// The timer: see timer.hpp. Whoever adds a call wakes its thread only if that would sleep past the call.
#include "cpu/runtime/threads/timer.hpp"

#include <algorithm>
#include <condition_variable>
#include <iterator>
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
};

struct Timer {
  std::mutex mutex;
  std::condition_variable earlier;
  std::vector<Call> calls;
  Clock::time_point wakes = Clock::time_point::min();  ///< how long its thread sleeps; min() while it is awake
  bool is_started = false;
};

Timer& timer() {
  static auto* instance = new Timer;  // its thread runs until the process ends
  return *instance;
}

/// Takes the calls whose time has come.
std::vector<Call> take_due(Timer& self) {
  const Clock::time_point now = Clock::now();
  const auto due =
      std::partition(self.calls.begin(), self.calls.end(), [&](const Call& call) { return call.when > now; });
  std::vector<Call> taken(std::make_move_iterator(due), std::make_move_iterator(self.calls.end()));
  self.calls.erase(due, self.calls.end());
  return taken;
}

/// Calls, and keeps those that are to be called again.
void make(std::vector<Call>& calls) {
  std::erase_if(calls, [](Call& call) {
    const std::optional<Clock::time_point> next = call.whom->on_time();
    if (next) call.when = *next;
    return !next;
  });
}

void run_timer() {
  Timer& self = timer();
  std::unique_lock lock(self.mutex);
  for (;;) {
    std::vector<Call> due = take_due(self);
    if (!due.empty()) {
      lock.unlock();
      make(due);
      lock.lock();
      std::move(due.begin(), due.end(), std::back_inserter(self.calls));
      continue;
    }
    self.wakes = Clock::time_point::max();
    for (const Call& call : self.calls) self.wakes = std::min(self.wakes, call.when);
    self.earlier.wait_until(lock, self.wakes);
    self.wakes = Clock::time_point::min();
  }
}

}  // namespace

bool call_at(Clock::time_point when, std::shared_ptr<Timed> whom) {
  Timer& self = timer();
  const std::lock_guard lock(self.mutex);
  try {
    if (!self.is_started) start_thread(run_timer);
  } catch (const std::system_error&) {
    return false;
  }
  self.is_started = true;
  self.calls.push_back({when, std::move(whom)});
  if (when < self.wakes) self.earlier.notify_one();
  return true;
}

}  // namespace cucore::cpu::runtime
