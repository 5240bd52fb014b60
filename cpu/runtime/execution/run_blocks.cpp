// How one thread of the pool runs its share of a grid: a plain loop where threads of a block do not meet, else resident
// clusters of blocks of fibers, one at a time as long as it progresses, more when all of them poll.
#include <sched.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <thread>

#include "cpu/runtime/checker/block_checks.hpp"
#include "cpu/runtime/execution/cluster.hpp"
#include "cpu/runtime/execution/seeded_order.hpp"
#include "cpu/runtime/grid/fault_reports.hpp"
#include "cpu/runtime/grid/grid.hpp"
#include "cpu/runtime/process/check_settings.hpp"
#include "cpu/runtime/threads/threads.hpp"

namespace cucore::cpu::runtime {

namespace {

/// Stack of the fiber that runs plain loops: one device thread's frame at a time.
constexpr std::size_t kSmallestStack = 64 * 1024;

/// Blocks of a row that run together: many enough for several pages, few enough that caches keep their rows.
constexpr std::uint64_t kLongestRow = 128;

using Clock = std::chrono::steady_clock;

struct PlainLoop {
  Grid& grid;
  std::uint64_t chunk;
  Clock::time_point until;
  std::uint64_t taken = 0;
  BlockState block{};
};

/// Thread by thread, in the order of the checker's seed.
void run_block_by_thread(Grid& grid, BlockState& block) {
  ThreadState thread{};
  thread.block = &block;
  for (const std::uint32_t linear : shuffled_threads(grid, block)) {
    set_thread_id(thread, grid, linear);
    grid.code->run_thread(&thread);
  }
}

void run_plain_loop(void* argument) {
  auto& [grid, chunk, until, taken, block] = *static_cast<PlainLoop*>(argument);
  const RunBlock run_block = grid.code->run_block;
  const bool is_in_order = !checker::seed() && grid.state.cluster_size == 1;
  const bool runs_rows = grid.code->info.runs_rows && is_in_order;
  while (until == Clock::time_point::max() || Clock::now() < until) {
    const std::uint64_t first = grid.next_block.fetch_add(chunk, std::memory_order_relaxed);
    if (first >= grid.block_count) return;
    const std::uint64_t last = std::min(first + chunk, grid.block_count);
    taken += last - first;
    for (std::uint64_t index = first; index < last; index += block.row_blocks) {
      if (grid.is_abandoned()) return;
      const std::uint64_t number = is_in_order ? index : shuffled_block(grid, index);
      if (is_in_order && index != first)
        advance_block_id(block, grid);
      else
        set_block_id(block, grid, number);
      if (block.checks) BlockChecks::of(block).begin(number);
      const std::uint64_t left_of_row = std::min<std::uint64_t>(last - index, grid.state.grid[0] - block.block_id[0]);
      block.row_blocks = runs_rows ? static_cast<std::uint32_t>(std::min(left_of_row, kLongestRow)) : 1;
      if (run_block)
        run_block(&block);
      else
        run_block_by_thread(grid, block);
    }
  }
}

std::uint64_t run_plain(Grid& grid, std::uint32_t worker, std::uint64_t chunk, Clock::time_point until) {
  PlainLoop loop{.grid = grid, .chunk = chunk, .until = until};
  std::unique_ptr<BlockChecks> checks;
  loop.block.launch = &grid.state;
  if (grid.state.checks) {
    checks = std::make_unique<BlockChecks>(grid);
    loop.block.checks = static_cast<CheckedBlock*>(checks.get());
    loop.block.shared = checks->shared();
  } else {
    // Reused from launch to launch: a fresh buffer would be cleared for nothing.
    auto& shared = of_this_thread<std::vector<std::byte>>();
    if (shared.size() < grid.state.total_shared + kSharedAlignment)
      shared.resize(grid.state.total_shared + kSharedAlignment);
    loop.block.shared = aligned_shared(shared.data());
  }
  loop.block.cluster_shared = loop.block.shared;  // kernels that name other blocks run on fibers
  loop.block.worker = worker;
  Fiber fiber;
  fiber.start(stack_pool().take(std::max(grid.stack_bytes, kSmallestStack)), run_plain_loop, &loop);
  fiber.resume();
  if (fiber.fault().signal != 0) fail_with_fault(grid, loop.block, nullptr, fiber.fault());
  if (grid.is_abandoned()) forget_variables(fiber.stack());
  stack_pool().give_back(fiber.drop());
  return loop.taken;
}

std::uint64_t run_fibers(Grid& grid, std::uint32_t worker) {
  std::uint64_t taken = 0;
  const std::uint32_t size = grid.state.cluster_size;
  std::vector<std::unique_ptr<Cluster>> residents;
  bool progressed = true;
  int idle_rounds = 0;
  for (;;) {
    if (grid.is_abandoned()) return taken;
    const bool room = residents.empty() ||
                      (!progressed && (grid.is_cooperative || (residents.size() + 1) * size <= grid.most_resident));
    bool started = false;
    if (room) {
      const std::uint64_t index =
          grid.next_block.load() < grid.block_count ? grid.next_block.fetch_add(size) : grid.block_count;
      if (index < grid.block_count) {
        const std::uint64_t first = size == 1 ? shuffled_block(grid, index) : index;
        residents.push_back(std::make_unique<Cluster>(grid, first, worker, stack_pool()));
        started = true;
        taken += size;
      }
    }
    if (residents.empty()) return taken;
    progressed = false;
    for (auto& cluster : residents) {
      const Cluster::Outcome outcome = cluster->run();
      if (outcome == Cluster::Outcome::Failed) return taken;
      if (outcome == Cluster::Outcome::Polling) continue;
      cluster.reset();
      progressed = true;
    }
    std::erase(residents, nullptr);
    if (progressed || started) {
      idle_rounds = 0;
      continue;
    }
    // Everything here polls memory that someone else will write: let them.
    if (++idle_rounds < 64)
      sched_yield();
    else
      std::this_thread::sleep_for(std::chrono::microseconds(std::min(idle_rounds - 63, 50)));
  }
}

}  // namespace

std::uint64_t run_blocks(Grid& grid, std::uint32_t worker, std::uint64_t chunk, Clock::time_point until) {
  try {
    return grid.code->info.needs_fibers ? run_fibers(grid, worker) : run_plain(grid, worker, chunk, until);
  } catch (const std::bad_alloc&) {
    grid.fail(CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES,
              "kernel " + *grid.kernel + ": no memory for the stacks of its threads");
    return 0;
  }
}

}  // namespace cucore::cpu::runtime
