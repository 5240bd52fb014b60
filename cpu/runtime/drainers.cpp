// The threads that drain streams: see drainers.hpp.
#include "cpu/runtime/drainers.hpp"

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

#include "cpu/runtime/faults.hpp"
#include "cpu/runtime/stream.hpp"
#include "cpu/runtime/threads.hpp"

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

}  // namespace

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
