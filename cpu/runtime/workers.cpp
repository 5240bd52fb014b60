// The pool of threads that run grids: see workers.hpp. Helpers spin briefly between grids, then park.
#include "cpu/runtime/workers.hpp"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <system_error>
#include <vector>

#include "cpu/runtime/device.hpp"
#include "cpu/runtime/faults.hpp"
#include "cpu/runtime/grid.hpp"
#include "cpu/runtime/stream.hpp"
#include "cpu/runtime/threads.hpp"

namespace cucore::cpu::runtime {

namespace {

/// A grid with at most this many threads in all runs on one thread.
constexpr std::uint64_t kTinyThreads = 2048;

struct Job {
  Grid* grid;
  unsigned int helpers = 0;  ///< inside run_blocks now
};

struct Pool {
  std::mutex mutex;
  std::condition_variable work;
  std::condition_variable left;
  std::vector<Job*> jobs;
  std::atomic<std::uint64_t> posted{0};
  unsigned int started = 0;
};

Pool& pool() {
  static auto* instance = new Pool;  // its threads run until the process ends
  return *instance;
}

Job* unfinished_job(const Pool& self) {
  for (Job* job : self.jobs)
    if (job->grid->next_block.load(std::memory_order_relaxed) < job->grid->block_count) return job;
  return nullptr;
}

void help() {
  const FaultGuardedThread guarded;
  static std::atomic<std::uint32_t> next_number{1};
  const std::uint32_t number = next_number.fetch_add(1);
  Pool& self = pool();
  std::unique_lock lock(self.mutex);
  for (;;) {
    Job* const job = unfinished_job(self);
    if (!job) {
      const std::uint64_t seen = self.posted.load();
      lock.unlock();
      for (Backoff backoff; self.posted.load(std::memory_order_relaxed) == seen && backoff.pause();) {
      }
      lock.lock();
      self.work.wait(lock, [&] { return unfinished_job(self) != nullptr; });
      continue;
    }
    ++job->helpers;
    lock.unlock();
    run_blocks(*job->grid, number);
    lock.lock();
    if (--job->helpers == 0) self.left.notify_all();
  }
}

}  // namespace

bool runs_alone(const Grid& grid) {
  const std::uint64_t threads = grid.block_count * grid.threads_per_block;
  return grid.block_count == 1 || (threads <= kTinyThreads && !grid.is_cooperative);
}

void run_grid(Grid& grid) {
  const unsigned int helpers = worker_count() - 1;
  if (helpers == 0 || checker::seed() || runs_alone(grid)) {
    run_blocks(grid, 0);
    return;
  }
  Pool& self = pool();
  Job job{&grid};
  {
    const std::lock_guard lock(self.mutex);
    try {
      for (; self.started < helpers; ++self.started) start_thread(help);
    } catch (const std::system_error&) {
      // With fewer helpers it takes longer.
    }
    self.jobs.push_back(&job);
    self.posted.fetch_add(1);
  }
  if (grid.block_count > helpers)
    self.work.notify_all();
  else
    for (std::uint64_t i = 1; i < grid.block_count; ++i) self.work.notify_one();
  run_blocks(grid, 0);
  std::unique_lock lock(self.mutex);
  std::erase(self.jobs, &job);
  self.left.wait(lock, [&] { return job.helpers == 0; });
}

}  // namespace cucore::cpu::runtime
