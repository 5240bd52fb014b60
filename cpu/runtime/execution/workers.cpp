// The pool of threads that run grids: see workers.hpp. Helpers spin briefly between grids, then park.
#include "cpu/runtime/execution/workers.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include "cpu/runtime/execution/later_code.hpp"
#include "cpu/runtime/grid/grid.hpp"
#include "cpu/runtime/objects/device.hpp"
#include "cpu/runtime/objects/stream.hpp"
#include "cpu/runtime/process/check_settings.hpp"
#include "cpu/runtime/process/cost_model.hpp"
#include "cpu/runtime/threads/faults.hpp"
#include "cpu/runtime/threads/placement.hpp"
#include "cpu/runtime/threads/threads.hpp"

namespace cucore::cpu::runtime {

namespace {

using Clock = std::chrono::steady_clock;
using Picoseconds = std::chrono::duration<std::uint64_t, std::pico>;

struct Helper {
  pid_t thread;
  int processor = nowhere;  ///< where it took up its job; nowhere while it is parked
};

struct Job {
  Grid* grid;
  int processor;                         ///< of the thread that launched it
  unsigned int called;                   ///< helpers
  unsigned int places = called;          ///< for those that have not come; with the pool's mutex held
  std::atomic<unsigned int> helpers{0};  ///< inside run_blocks now
};

struct Pool {
  std::mutex mutex;
  std::condition_variable work;
  std::condition_variable left;
  std::vector<Job*> jobs;
  std::vector<Helper*> helpers;
  std::atomic<std::uint64_t> posted{0};
  unsigned int started = 0;
};

Pool& pool() {
  static auto* instance = new Pool;  // its threads run until the process ends
  return *instance;
}

std::uint64_t thread_count(const Grid& grid) { return grid.block_count * grid.threads_per_block; }

bool is_tiny(const Grid& grid) {
  return grid.block_count == 1 || (thread_count(grid) <= cost_model::tiny_threads && !grid.is_cooperative);
}

bool is_brief(const Grid& grid) {
  const std::uint64_t pace = grid.pace->load(std::memory_order_relaxed);
  return pace != 0 && thread_count(grid) <= Picoseconds(cost_model::brief).count() / pace && !grid.is_cooperative &&
         !grid.code->info.needs_fibers && !grid.code->info.counts_laps;
}

unsigned int most_helpers(const Grid& grid) {
  return static_cast<unsigned int>(std::min<std::uint64_t>(worker_count() - 1, grid.block_count - 1));
}

/// Those of them that find work worth coming for, judging by the kernel's last run.
unsigned int useful_helpers(const Grid& grid) {
  const unsigned int most = most_helpers(grid);
  const std::uint64_t pace = grid.pace->load(std::memory_order_relaxed);
  if (pace == 0 || grid.is_cooperative || grid.code->info.needs_fibers || grid.code->info.counts_laps) return most;
  const std::uint64_t share = std::max<std::uint64_t>(1, Picoseconds(cost_model::worth_a_helper).count() / pace);
  return static_cast<unsigned int>(std::clamp<std::uint64_t>(thread_count(grid) / share, 1, most));
}

/// Consecutive blocks taken at once: few enough to balance, many enough that the counter costs nothing.
std::uint64_t shared_chunk(const Grid& grid) { return std::clamp<std::uint64_t>(grid.block_count / 64, 1, 256); }

/// Where threads run grids now. With the pool's mutex held.
ProcessorSet processors_in_use(const Pool& self, const Helper* but = nullptr) {
  ProcessorSet used;
  for (const Job* job : self.jobs) used.add(job->processor);
  for (const Helper* helper : self.helpers)
    if (helper != but) used.add(helper->processor);
  return used;
}

/// The scheduler may queue a woken helper behind the very thread that woke it and leave another processor idle, which
/// then lasts for many grids.
void spread_late_helpers(Pool& self) {
  const std::lock_guard lock(self.mutex);
  for (const Helper* helper : self.helpers)
    if (helper->processor == nowhere) move_off(helper->thread, processors_in_use(self));
}

/// For a grid that takes longer than thought: the helpers come that were not called. If all were, those that have not
/// begun are moved.
void call_more_helpers(Pool& self, Job& job) {
  if (job.called == worker_count() - 1) return spread_late_helpers(self);
  const unsigned int most = most_helpers(*job.grid);
  if (job.called == most) return;
  {
    const std::lock_guard lock(self.mutex);
    job.places += most - std::exchange(job.called, most);
  }
  self.work.notify_all();
}

/// Runs the caller's share of a grid and notes the kernel's pace. `job`: of the helpers that were called.
void run_share(Grid& grid, std::uint64_t chunk, Clock::time_point begin, Clock::time_point until, Job* job = nullptr) {
  std::uint64_t taken = 0;
  if (job) {
    taken = run_blocks(grid, 0, chunk, begin + cost_model::late);
    if (grid.next_block.load(std::memory_order_relaxed) < grid.block_count) call_more_helpers(pool(), *job);
  }
  taken += run_blocks(grid, 0, chunk, until);
  if (taken == 0 || grid.is_abandoned()) return;
  const Picoseconds time = Clock::now() - begin;
  grid.pace->store(std::max<std::uint64_t>(1, time.count() / (taken * grid.threads_per_block)),
                   std::memory_order_relaxed);
}

Job* unfinished_job(const Pool& self) {
  for (Job* job : self.jobs)
    if (job->places != 0 && job->grid->next_block.load(std::memory_order_relaxed) < job->grid->block_count) return job;
  return nullptr;
}

/// For the calling helper, which is about to run: moves it to a processor of its own, if there is one.
void take_place(const Pool& self, Helper& me) {
  me.processor = this_processor();
  const ProcessorSet others = processors_in_use(self, &me);
  if (!others.has(me.processor)) return;
  move_off(me.thread, others);
  me.processor = this_processor();
}

void help() {
  const FaultGuardedThread guarded;
  static std::atomic<std::uint32_t> next_number{1};
  const std::uint32_t number = next_number.fetch_add(1);
  Pool& self = pool();
  Helper me{.thread = this_thread()};
  std::optional<TakesInterrupts> takes_interrupts(std::in_place);  // unless it is parked
  std::unique_lock lock(self.mutex);
  self.helpers.push_back(&me);
  take_place(self, me);
  for (;;) {
    Job* const job = unfinished_job(self);
    if (!job) {
      const std::uint64_t seen = self.posted.load();
      lock.unlock();
      for (Backoff backoff; self.posted.load(std::memory_order_relaxed) == seen && backoff.pause();) {
      }
      lock.lock();
      me.processor = nowhere;
      if (!unfinished_job(self)) {
        takes_interrupts.reset();
        self.work.wait(lock, [&] { return unfinished_job(self) != nullptr; });
        takes_interrupts.emplace();
      }
      take_place(self, me);
      continue;
    }
    ++job->helpers;
    --job->places;
    lock.unlock();
    run_blocks(*job->grid, number, shared_chunk(*job->grid));
    lock.lock();
    if (--job->helpers == 0) self.left.notify_all();
  }
}

void run_on_threads(Grid& grid) {
  const unsigned int helpers = worker_count() - 1;
  if (helpers == 0 || checker::seed() || is_tiny(grid)) {
    run_blocks(grid, 0, grid.block_count);
    return;
  }
  if (is_brief(grid)) {
    const Clock::time_point now = Clock::now();
    run_share(grid, (grid.block_count + cost_model::parts_of_brief_grid - 1) / cost_model::parts_of_brief_grid, now,
              now + 2 * cost_model::brief);
    if (grid.next_block.load(std::memory_order_relaxed) >= grid.block_count || grid.is_abandoned()) return;
  }
  Pool& self = pool();
  Job job{&grid, this_processor(), useful_helpers(grid)};
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
  if (job.called == helpers)
    self.work.notify_all();
  else
    for (unsigned int i = 0; i < job.called; ++i) self.work.notify_one();
  run_share(grid, shared_chunk(grid), Clock::now(), Clock::time_point::max(), &job);
  const auto has_no_helpers = [&] { return job.helpers.load() == 0; };
  {
    const std::lock_guard lock(self.mutex);
    std::erase(self.jobs, &job);  // no helper takes it any more
  }
  for (Backoff backoff; !has_no_helpers() && backoff.pause();) {
  }
  if (has_no_helpers()) return;
  std::unique_lock lock(self.mutex);
  self.left.wait(lock, has_no_helpers);
}

}  // namespace

bool runs_alone(const Grid& grid) { return is_tiny(grid) || is_brief(grid); }

void run_grid(Grid& grid) {
  {
    const TimedInScalarForm timed(grid, runs_alone(grid) ? 1 : worker_count());
    run_on_threads(grid);
  }
  if (grid.is_cancelled) grid.fail_cancelled("kernel " + *grid.kernel + ", between two of its blocks");
}

}  // namespace cucore::cpu::runtime
