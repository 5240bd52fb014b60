// Threads that make calls. One that has come back in time waits for the next call; one that has not ends by itself.
#include "src/store/deadline.hpp"

#include <unistd.h>

#include <atomic>
#include <thread>
#include <vector>

namespace cucore::detail {

struct DeadlineCaller::Worker {
  std::mutex mutex;
  std::condition_variable changed;
  std::function<void()> task;  ///< empty: there is nothing to do
  bool is_done = false, ends = false;
  std::shared_ptr<std::atomic<std::size_t>> hanging;

  static void work(const std::shared_ptr<Worker>& self) {
    std::unique_lock lock(self->mutex);
    for (;;) {
      self->changed.wait(lock, [&] { return self->task || self->ends; });
      if (!self->task) return;
      std::function<void()> task = std::move(self->task);
      self->task = nullptr;
      lock.unlock();
      task();
      task = nullptr;
      lock.lock();
      if (self->ends) --*self->hanging;  // nobody waits for it any more
      self->is_done = true;
      self->changed.notify_all();
    }
  }
};

struct DeadlineCaller::Idle {
  std::mutex mutex;
  std::vector<std::shared_ptr<Worker>> workers;
  std::shared_ptr<std::atomic<std::size_t>> hanging = std::make_shared<std::atomic<std::size_t>>(0);
};

DeadlineCaller::DeadlineCaller() : idle_(std::make_shared<Idle>()), process_(::getpid()) {}

DeadlineCaller::~DeadlineCaller() {
  if (process_ != ::getpid()) return;
  const std::lock_guard lock(idle_->mutex);
  for (const std::shared_ptr<Worker>& worker : idle_->workers) {
    const std::lock_guard of_worker(worker->mutex);
    worker->ends = true;
    worker->changed.notify_all();
  }
}

std::size_t DeadlineCaller::hanging() const { return *idle_->hanging; }

std::shared_ptr<DeadlineCaller::Worker> DeadlineCaller::take_worker() {
  {
    const std::lock_guard lock(idle_->mutex);
    if (!idle_->workers.empty()) {
      const std::shared_ptr<Worker> worker = idle_->workers.back();
      idle_->workers.pop_back();
      return worker;
    }
  }
  const auto worker = std::make_shared<Worker>();
  worker->hanging = idle_->hanging;
  std::thread(Worker::work, worker).detach();
  return worker;
}

bool DeadlineCaller::run_task(std::chrono::milliseconds limit, std::function<void()> task) {
  const std::shared_ptr<Worker> worker = take_worker();
  std::unique_lock lock(worker->mutex);
  worker->is_done = false;
  worker->task = std::move(task);
  worker->changed.notify_all();
  if (!worker->changed.wait_for(lock, limit, [&] { return worker->is_done; })) {
    worker->ends = true;
    ++*worker->hanging;
    return false;
  }
  lock.unlock();
  const std::lock_guard idle(idle_->mutex);
  idle_->workers.push_back(worker);
  return true;
}

}  // namespace cucore::detail
