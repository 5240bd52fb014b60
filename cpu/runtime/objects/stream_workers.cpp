// Stream workers: see stream_workers.hpp.
#include "cpu/runtime/objects/stream_workers.hpp"

#include <condition_variable>
#include <deque>
#include <mutex>
#include <utility>

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

}  // namespace

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
