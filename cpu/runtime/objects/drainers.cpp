// The threads that drain streams: see drainers.hpp.
#include "cpu/runtime/objects/drainers.hpp"

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

struct Drainers {
  std::mutex mutex;
  std::condition_variable available;
  std::deque<std::shared_ptr<Stream>> waiting;  ///< given to threads already counted out of `idle`
  std::size_t idle = 0;
};

Drainers& drainers() {
  static auto* instance = new Drainers;  // its threads run until the process ends
  return *instance;
}

void run() {
  const FaultGuardedThread guarded;
  Drainers& self = drainers();
  for (;;) {
    std::shared_ptr<Stream> stream;
    {
      std::unique_lock lock(self.mutex);
      self.available.wait(lock, [&] { return !self.waiting.empty(); });
      stream = std::move(self.waiting.front());
      self.waiting.pop_front();
    }
    stream->drain();
    stream.reset();
    const std::lock_guard lock(self.mutex);
    ++self.idle;
  }
}

/// How long brief work may lie before the watch looks again: long beside a launch and its wait, since each look costs
/// the watch a wake.
constexpr std::chrono::microseconds kLook{100};

struct Watch {
  std::mutex mutex;
  std::condition_variable work;
  std::vector<std::shared_ptr<Stream>> streams;
  bool is_started = false;
};

Watch& watch() {
  static auto* instance = new Watch;  // its thread runs until the process ends
  return *instance;
}

void keep_watch() {
  Watch& self = watch();
  std::vector<std::shared_ptr<Stream>> watched;
  for (;;) {
    {
      std::unique_lock lock(self.mutex);
      if (watched.empty()) self.work.wait(lock, [&] { return !self.streams.empty(); });
      for (auto& stream : std::exchange(self.streams, {})) watched.push_back(std::move(stream));
    }
    std::this_thread::sleep_for(kLook);
    std::erase_if(watched, [](const auto& stream) { return !stream->look_after(); });
  }
}

}  // namespace

void watch_over(std::shared_ptr<Stream> stream) {
  Watch& self = watch();
  {
    const std::lock_guard lock(self.mutex);
    try {
      if (!std::exchange(self.is_started, true)) start_thread(keep_watch);
    } catch (const std::system_error&) {
      self.is_started = false;
    }
    if (self.is_started) {
      self.streams.push_back(std::move(stream));
      self.work.notify_one();
      return;
    }
  }
  while (stream->look_after()) {  // no thread to be had: done here
  }
}

void drain_on_a_thread(std::shared_ptr<Stream> stream) {
  Drainers& self = drainers();
  const std::lock_guard lock(self.mutex);
  if (self.idle > 0) {
    --self.idle;
    self.available.notify_one();
  } else {
    start_thread(run);  // if it throws, nothing is promised yet
  }
  self.waiting.push_back(std::move(stream));
}

}  // namespace cucore::cpu::runtime
