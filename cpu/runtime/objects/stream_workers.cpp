// Stream workers and the deferred-work timer: see stream_workers.hpp.
#include "cpu/runtime/objects/stream_workers.hpp"

#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "cpu/runtime/objects/stream.hpp"
#include "cpu/runtime/threads/faults.hpp"
#include "cpu/runtime/threads/threads.hpp"

namespace cucore::cpu::runtime {

namespace {

struct StreamWorkers {
  std::mutex mutex;
  std::condition_variable available;
  std::deque<std::shared_ptr<Drained>> waiting;  ///< given to threads already counted out of `idle`
  std::size_t idle = 0;
};

StreamWorkers& stream_workers() {
  static auto* instance = new StreamWorkers;  // its threads run until the process ends
  return *instance;
}

void run_worker() {
  const FaultGuardedThread guarded;
  StreamWorkers& self = stream_workers();
  for (;;) {
    std::shared_ptr<Drained> work;
    {
      std::unique_lock lock(self.mutex);
      self.available.wait(lock, [&] { return !self.waiting.empty(); });
      work = std::move(self.waiting.front());
      self.waiting.pop_front();
    }
    {
      const TakesInterrupts here;
      work->drain();
    }
    work.reset();
    const std::lock_guard lock(self.mutex);
    ++self.idle;
  }
}

/// How long deferred work may wait for a check: long compared to a launch and its wait, since each check wakes the
/// timer.
constexpr std::chrono::microseconds period{100};

struct DeferredWorkTimer {
  std::mutex mutex;
  std::condition_variable work;
  std::vector<std::shared_ptr<Stream>> streams;
  bool is_started = false;
};

DeferredWorkTimer& deferred_work_timer() {
  static auto* instance = new DeferredWorkTimer;  // its thread runs until the process ends
  return *instance;
}

void run_timer() {
  DeferredWorkTimer& self = deferred_work_timer();
  std::vector<std::shared_ptr<Stream>> timed;
  for (;;) {
    {
      std::unique_lock lock(self.mutex);
      if (timed.empty()) self.work.wait(lock, [&] { return !self.streams.empty(); });
      for (auto& stream : std::exchange(self.streams, {})) timed.push_back(std::move(stream));
    }
    std::this_thread::sleep_for(period);
    std::erase_if(timed, [](const auto& stream) { return !stream->check_deferred_work(); });
  }
}

}  // namespace

void start_deferred_work_timer(std::shared_ptr<Stream> stream) {
  DeferredWorkTimer& self = deferred_work_timer();
  {
    const std::lock_guard lock(self.mutex);
    try {
      if (!std::exchange(self.is_started, true)) start_thread(run_timer);
    } catch (const std::system_error&) {
      self.is_started = false;
    }
    if (self.is_started) {
      self.streams.push_back(std::move(stream));
      self.work.notify_one();
      return;
    }
  }
  while (stream->check_deferred_work()) {  // no thread to be had: done here
  }
}

void run_on_stream_worker(std::shared_ptr<Drained> work) {
  StreamWorkers& self = stream_workers();
  const std::lock_guard lock(self.mutex);
  if (self.idle > 0) {
    --self.idle;
    self.available.notify_one();
  } else {
    start_thread(run_worker);  // if it throws, nothing is promised yet
  }
  self.waiting.push_back(std::move(work));
}

}  // namespace cucore::cpu::runtime
