// The watchdog of running grids: see watchdog.hpp. One thread, started with the first grid that is watched, sleeps
// until a grid is overdue, and then interrupts all who run it, again and again until they are gone: they may be in a
// service.
#include "cpu/runtime/grid/watchdog.hpp"

#include <pthread.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <system_error>
#include <vector>

#include "cpu/runtime/grid/grid.hpp"
#include "cpu/runtime/process/process.hpp"
#include "cpu/runtime/process/settings.hpp"
#include "cpu/runtime/threads/threads.hpp"

namespace cucore::cpu::runtime {

namespace {

using Clock = std::chrono::steady_clock;

/// Between two interrupts of a thread that runs an overdue grid.
constexpr std::chrono::milliseconds again_after{2};

/// How long a grid may run; zero: there is no limit.
Clock::duration limit_from_environment() {
  const std::string text = setting(Setting::timeout).value_or("");
  if (text.empty()) return {};
  double seconds = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, seconds);
  constexpr double longest = 1e9;
  if (error != std::errc() || rest != end || !(seconds >= 0 && seconds <= longest)) {
    report(std::string(variable_of(Setting::timeout)) + "=" + text + " is no number of seconds: there is no limit");
    return {};
  }
  return std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
}

Clock::duration limit() {
  static const Clock::duration answer = limit_from_environment();
  return answer;
}

struct Watched {
  Grid* grid;
  pthread_t thread;
};

struct Watchdog {
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<Watched> participants;
  bool is_started = false;
};

Watchdog& watchdog() {
  static auto* instance = new Watchdog;  // its thread runs until the process ends
  return *instance;
}

void watch() {
  Watchdog& self = watchdog();
  std::unique_lock lock(self.mutex);
  for (;;) {
    const Clock::time_point now = Clock::now();
    Clock::time_point next = Clock::time_point::max();
    for (const Watched& watched : self.participants) {
      const Clock::time_point end = watched.grid->began + limit();
      if (end > now) {
        next = std::min(next, end);
        continue;
      }
      watched.grid->is_overdue.store(true, std::memory_order_relaxed);
      interrupt(watched.thread);
      next = now + again_after;
    }
    if (next == Clock::time_point::max())
      self.changed.wait(lock);
    else
      self.changed.wait_until(lock, next);
  }
}

}  // namespace

WatchedParticipant::WatchedParticipant(Grid& grid) {
  if (limit() == Clock::duration::zero()) return;
  scope_.emplace(InterruptibleCode{grid.code->begin, grid.code->end, &grid.is_overdue});
  Watchdog& self = watchdog();
  const std::lock_guard lock(self.mutex);
  if (grid.began == Clock::time_point()) grid.began = Clock::now();
  self.participants.push_back({&grid, pthread_self()});
  try {
    if (!self.is_started) start_thread(watch);
    self.is_started = true;
  } catch (const std::system_error&) {
    report("there is no thread for the watchdog: the grid runs without a limit");
  }
  self.changed.notify_one();
}

WatchedParticipant::~WatchedParticipant() {
  if (!scope_) return;
  Watchdog& self = watchdog();
  const std::lock_guard lock(self.mutex);
  std::erase_if(self.participants,
                [](const Watched& watched) { return pthread_equal(watched.thread, pthread_self()) != 0; });
}

}  // namespace cucore::cpu::runtime
