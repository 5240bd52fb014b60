// The watchdog of running grids: see watchdog.hpp. While grids run, the timer's thread looks at them from time to time,
// which costs a launch next to nothing; when one is to end it interrupts all who run it, again and again until they are
// gone: they may be in a service.
#include "cpu/runtime/grid/watchdog.hpp"

#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cpu/runtime/grid/grid.hpp"
#include "cpu/runtime/process/process.hpp"
#include "cpu/runtime/process/settings.hpp"
#include "cpu/runtime/threads/ctrl_c.hpp"
#include "cpu/runtime/threads/threads.hpp"
#include "cpu/runtime/threads/timer.hpp"
#include "cpu/runtime/threads/waits.hpp"

namespace cucore::cpu::runtime {

namespace {

using Clock = Timed::Clock;

/// Between two looks at grids that run; a wait that lasts for two looks is a long one.
constexpr std::chrono::milliseconds look_after{50};
/// How many looks find nothing running before there are no more until something runs again.
constexpr int idle_looks = 20;
/// Between two interrupts of a thread that runs a cancelled grid.
constexpr std::chrono::milliseconds again_after{2};

/// A number of seconds in a setting; nothing if it is not set, or is none.
std::optional<Clock::duration> seconds_in(Setting which, const char* otherwise) {
  const std::string text = setting(which).value_or("");
  if (text.empty()) return std::nullopt;
  double seconds = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, seconds);
  constexpr double longest = 1e9;
  if (error != std::errc() || rest != end || !(seconds >= 0 && seconds <= longest)) {
    ignore(which, text, std::string("no number of seconds; ") + otherwise);
    return std::nullopt;
  }
  return std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
}

/// How long a grid may run; zero: there is no limit.
Clock::duration limit() {
  static const Clock::duration answer =
      seconds_in(Setting::timeout, "there is no limit").value_or(Clock::duration::zero());
  return answer;
}

/// How long a wait may last after Ctrl-C; nothing: for ever.
std::optional<Clock::duration> patience() {
  static const std::optional<Clock::duration> answer = []() -> std::optional<Clock::duration> {
    if (is_set_to(Setting::interrupt, "never")) return std::nullopt;
    return seconds_in(Setting::interrupt, "it is one second").value_or(std::chrono::seconds(1));
  }();
  return answer;
}

/// A thread that runs grids, as long as it lives: which grid that is now. The thread itself changes it, unless the
/// watchdog is looking at the grid, which must not end meanwhile.
class Participant {
 public:
  Participant();
  ~Participant();
  Participant(const Participant&) = delete;
  Participant& operator=(const Participant&) = delete;

  /// By the thread: returns what it ran before.
  Grid* run(Grid* next) {
    const std::uintptr_t before = mine_;
    mine_ = reinterpret_cast<std::uintptr_t>(next);
    if (before == 0)
      running_.store(mine_, std::memory_order_release);
    else
      for (std::uintptr_t expected = before; !running_.compare_exchange_weak(expected, mine_); expected = before)
        sched_yield();  // the watchdog looks
    if (next) runs_.store(runs_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    return reinterpret_cast<Grid*>(before);
  }
  /// By the watchdog: calls `look(grid)` if it runs one.
  template <class F>
  void look(F&& look) {
    std::uintptr_t grid = running_.load();
    if (grid == 0 || !running_.compare_exchange_strong(grid, grid | looked_at)) return;
    look(*reinterpret_cast<Grid*>(grid));
    running_.store(grid, std::memory_order_release);
  }
  std::uint64_t runs() const { return runs_.load(std::memory_order_relaxed); }  ///< so far
  pthread_t thread() const { return thread_; }

 private:
  static constexpr std::uintptr_t looked_at = 1;

  const pthread_t thread_ = pthread_self();
  std::uintptr_t mine_ = 0;
  std::atomic<std::uintptr_t> running_{0};
  std::atomic<std::uint64_t> runs_{0};
};

/// A wait of the program for a context, which had a grid that ran at some look since.
struct Wait {
  WaitSeen seen;
  std::uint64_t signals_before;  ///< ctrl_c_count() when it was seen first
  bool is_long = false;          ///< it was there at the last look too
  bool is_over = false;
  std::optional<Clock::time_point> end;  ///< when the context's grids are cancelled
  Cancellation why = Cancellation::CtrlC;
};

struct Watchdog final : Timed, std::enable_shared_from_this<Watchdog> {
  std::optional<Clock::time_point> on_time() override;

  std::mutex mutex;
  std::vector<Participant*> participants;
  bool is_timed = false;              ///< the timer has it
  std::atomic<bool> is_awake{false};  ///< else a thread that begins to run a grid wakes it
  int idle = 0;                       ///< looks since anything ran
  std::uint64_t runs = 0;             ///< of all participants at the last look

  // Of the timer's thread:
  std::vector<Wait> waits;
  bool is_listening = false;
};

Watchdog& watchdog() {
  static auto* instance = new auto(std::make_shared<Watchdog>());  // the timer's thread runs until the process ends
  return **instance;
}

Participant::Participant() {
  const std::lock_guard lock(watchdog().mutex);
  watchdog().participants.push_back(this);
}

Participant::~Participant() {
  if (process_state() == CUDA_ERROR_NOT_INITIALIZED) return;  // a forked child, where someone else may hold the lock
  const std::lock_guard lock(watchdog().mutex);
  std::erase(watchdog().participants, this);
}

void cancel(Grid& grid, Cancellation why) {
  if (grid.is_cancelled.load(std::memory_order_relaxed)) return;
  grid.cancellation.store(why, std::memory_order_relaxed);
  grid.is_cancelled.store(true, std::memory_order_release);
}

/// Forgets waits that are over, and notes those for contexts whose grids run.
void note_waits(Watchdog& self) {
  std::vector<const void*> running;
  for (Participant* const participant : self.participants)
    participant->look([&](const Grid& grid) { running.push_back(grid.context); });
  if (running.empty() && self.waits.empty()) return;
  for (Wait& wait : self.waits) wait.is_over = true;
  look_at_waits([&](const WaitSeen& seen) {
    const auto known =
        std::find_if(self.waits.begin(), self.waits.end(), [&](const Wait& wait) { return wait.seen == seen; });
    if (known != self.waits.end())
      known->is_over = false;
    else if (std::find(running.begin(), running.end(), seen.whom) != running.end())
      self.waits.push_back({.seen = seen, .signals_before = ctrl_c_count(), .end = {}});
  });
  std::erase_if(self.waits, [](const Wait& wait) { return wait.is_over; });
}

/// Decides which waits have lasted for long enough.
void judge_waits(Watchdog& self, Clock::time_point now) {
  if (std::none_of(self.waits.begin(), self.waits.end(), [](const Wait& wait) { return wait.is_long; })) {
    if (std::exchange(self.is_listening, false)) stop_listening_for_ctrl_c();
  } else {
    self.is_listening = true;
    const CtrlCTaker taker = listen_for_ctrl_c();
    const bool is_leaving = interpreter_is_leaving();
    for (Wait& wait : self.waits) {
      if (wait.end) continue;
      const std::uint64_t enough = taker == CtrlCTaker::Interpreter && wait.seen.is_main_thread ? 1 : 2;
      const bool was_interrupted = ctrl_c_count() - wait.signals_before >= enough;
      if (!was_interrupted && !is_leaving) continue;
      wait.end = now + *patience();
      wait.why = was_interrupted ? Cancellation::CtrlC : Cancellation::InterpreterLeaves;
    }
  }
  for (Wait& wait : self.waits) wait.is_long = true;
}

/// Cancels `grid` if it is to end. Returns when to look at it again.
Clock::time_point judge(const Watchdog& self, Grid& grid, Clock::time_point now) {
  Clock::time_point next = now + look_after;
  if (limit() != Clock::duration::zero()) {
    const Clock::time_point end{Clock::duration(grid.began.load(std::memory_order_relaxed)) + limit()};
    if (end <= now) cancel(grid, Cancellation::Timeout);
    next = std::min(next, end);
  }
  for (const Wait& wait : self.waits) {
    if (wait.seen.whom != grid.context || !wait.end) continue;
    if (*wait.end <= now) cancel(grid, wait.why);
    next = std::min(next, *wait.end);
  }
  return grid.is_cancelled.load(std::memory_order_relaxed) ? now + again_after : next;
}

/// Looks once at all that runs. Returns when to look again; nothing: nothing runs, and no thread waits.
std::optional<Clock::time_point> look(Watchdog& self, Clock::time_point now) {
  std::optional<Clock::time_point> next;
  if (patience()) {
    note_waits(self);
    judge_waits(self, now);
    if (!self.waits.empty()) next = now + look_after;
  }
  for (Participant* const participant : self.participants)
    participant->look([&](Grid& grid) {
      if (ToldOfLooks* const launches = grid.launches.load(std::memory_order_acquire)) launches->note_look(now);
      next = std::min(next.value_or(Clock::time_point::max()), judge(self, grid, now));
      if (grid.is_cancelled.load(std::memory_order_relaxed)) interrupt(participant->thread());
    });
  return next;
}

std::uint64_t total_runs(const Watchdog& self) {
  std::uint64_t runs = 0;
  for (const Participant* const participant : self.participants) runs += participant->runs();
  return runs;
}

std::optional<Clock::time_point> Watchdog::on_time() {
  const std::lock_guard lock(mutex);
  const Clock::time_point now = Clock::now();
  const std::optional<Clock::time_point> next = look(*this, now);
  const std::uint64_t before = std::exchange(runs, total_runs(*this));
  idle = next || runs != before ? 0 : idle + 1;
  if (idle < idle_looks) return next.value_or(now + look_after);
  // From now on threads wake it; one that has begun just before, and did not, is found by one more look.
  if (is_awake.exchange(false)) return now + look_after;
  is_timed = false;
  return std::nullopt;
}

void wake_up(Watchdog& self) {
  const std::lock_guard lock(self.mutex);
  self.idle = 0;
  self.is_awake = true;
  if (std::exchange(self.is_timed, true)) return;
  Clock::duration after = look_after;
  if (limit() != Clock::duration::zero()) after = std::min(after, limit());
  if (!call_at(Clock::now() + after, self.shared_from_this()))
    report("there is no thread for the watchdog: grids run without a limit");
}

}  // namespace

WatchedParticipant::WatchedParticipant(Grid& grid, const Code& code)
    : scope_(InterruptibleCode{code.begin, code.end, &grid.is_cancelled}) {
  if (limit() != Clock::duration::zero()) {
    Clock::rep none = 0;
    grid.began.compare_exchange_strong(none, Clock::now().time_since_epoch().count());
  }
  outer_ = of_this_thread<Participant>().run(&grid);
  if (!watchdog().is_awake.load(std::memory_order_relaxed)) wake_up(watchdog());
}

WatchedParticipant::~WatchedParticipant() { of_this_thread<Participant>().run(outer_); }

}  // namespace cucore::cpu::runtime
