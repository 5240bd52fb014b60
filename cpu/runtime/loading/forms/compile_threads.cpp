// The queue of compiles and its threads: see compile_threads.hpp.
#include "cpu/runtime/loading/forms/compile_threads.hpp"

#include <condition_variable>
#include <deque>
#include <mutex>
#include <system_error>
#include <utility>

#include "cpu/runtime/loading/forms/later_form.hpp"
#include "cpu/runtime/process/device_identity.hpp"
#include "cpu/runtime/process/process.hpp"
#include "cpu/runtime/threads/threads.hpp"

namespace cucore::cpu::runtime {
namespace {

struct Queue {
  std::mutex mutex;
  std::condition_variable more;
  std::deque<std::shared_ptr<LaterForm>> forms;
  unsigned int started = 0;
  unsigned int idle = 0;
};

Queue& queue() {
  static auto* instance = new Queue;  // its threads run until the process ends
  return *instance;
}

void compile_what_comes() {
  Queue& self = queue();
  std::unique_lock lock(self.mutex);
  for (;;) {
    ++self.idle;
    self.more.wait(lock, [&] { return !self.forms.empty(); });
    --self.idle;
    std::shared_ptr<LaterForm> form = std::move(self.forms.front());
    self.forms.pop_front();
    lock.unlock();
    const bool is_wanted = form.use_count() > 1 && !is_shutting_down();
    if (is_wanted) form->make();
    form.reset();
    lock.lock();
  }
}

}  // namespace

bool compile_later(std::shared_ptr<LaterForm> form) {
  Queue& self = queue();
  const std::lock_guard lock(self.mutex);
  if (self.idle <= self.forms.size() && self.started < worker_count()) {
    try {
      start_thread(compile_what_comes);
      ++self.started;
    } catch (const std::system_error&) {
      if (self.started == 0) return false;
    }
  }
  self.forms.push_back(std::move(form));
  self.more.notify_one();
  return true;
}

}  // namespace cucore::cpu::runtime
