// How one thread of the pool runs its share of a grid: a plain loop where threads of a block do not wait for each
// other, else resident clusters of blocks of fibers.
//
// Who runs when. A GPU runs all resident blocks at once, so a program may have any of them wait for any other. Here
// each participant has some residents (clusters on fibers, or plain loops) and gives them turns, one after the other:
//
// - The turn of a resident ends when it has ended; when it polled and had its turn, turn_switches or turn_laps (a block
//   then goes on to the end of a round of its threads: see block.hpp); and before that when all that can run in it only
//   poll. What else it does, such as arriving at barriers, makes no difference: a loop through barriers may wait.
// - To poll is to pass the back edge of a loop that may wait for other threads (cucpu_yield), or for other blocks where
//   the threads of the block wait for each other in it (cucpu_lap): see cpu/analysis/flow/waiting_loops.hpp.
// - A resident that does not poll is not interrupted: it waits for nothing outside it and ends by itself. So kernels
//   without such loops run one block to its end before the next, in caches that are warm.
// - Each time that no turn has ended a resident, one is started, until there are as many as the occupancy functions
//   promise of the whole grid: at first up to the participant's share, later those too that no other has taken.
// - Where no turn has ended a resident for long_patience rounds, more are started, up to most_stuck_threads device
//   threads: programs wait for as many blocks as the GPU that they were written on holds.
//
// So between two turns of a resident there is one turn of each other one at most, each of them bounded by what its
// threads do from one poll to the next; and every block that can be resident becomes so.
#include <sched.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <thread>

#include "cpu/runtime/blocks/cluster.hpp"
#include "cpu/runtime/blocks/resident.hpp"
#include "cpu/runtime/blocks/seeded_order.hpp"
#include "cpu/runtime/checker/block_checks.hpp"
#include "cpu/runtime/execution/later_code.hpp"
#include "cpu/runtime/grid/fault_reports.hpp"
#include "cpu/runtime/grid/grid.hpp"
#include "cpu/runtime/grid/watchdog.hpp"
#include "cpu/runtime/process/check_settings.hpp"
#include "cpu/runtime/process/cost_model.hpp"
#include "cpu/runtime/threads/faults.hpp"
#include "cpu/runtime/threads/threads.hpp"

namespace cucore::cpu::runtime {

namespace {

/// Stack of the fiber that runs plain loops: one device thread's frame at a time.
constexpr std::size_t smallest_stack = 64 * 1024;

using Clock = std::chrono::steady_clock;

/// Decides when the calling participant starts another resident.
class Room {
 public:
  explicit Room(Grid& grid) : grid_(grid) {}
  /// After one turn of each resident.
  void note(bool some_ended) { turns_in_vain_ = some_ended ? 0 : turns_in_vain_ + 1; }
  /// For one more than `residents`. If so, it is counted as one; leave() then takes it back.
  bool enter(std::size_t residents) {
    if (grid_.next_block.load(std::memory_order_relaxed) >= grid_.block_count) return false;
    if (residents == 0) {
      ++grid_.resident;
      return true;
    }
    if (turns_in_vain_ == 0 || (residents >= grid_.usual_residents && turns_in_vain_ < cost_model::patience))
      return false;
    if (++grid_.resident <= most_resident() || grid_.is_cooperative) return true;
    leave();
    return false;
  }
  void leave() { --grid_.resident; }

 private:
  std::uint64_t most_resident() const {
    if (turns_in_vain_ < cost_model::long_patience) return grid_.most_resident;
    return std::max(grid_.most_resident,
                    cost_model::most_stuck_threads / (grid_.threads_per_block * grid_.state.cluster_size));
  }

  Grid& grid_;
  int turns_in_vain_ = 0;
};

/// Thread by thread, in the order of the checker's seed.
void run_block_by_thread(Grid& grid, const Code& code, BlockState& block) {
  ThreadState thread{};
  thread.block = &block;
  for (const std::uint32_t linear : shuffled_threads(grid, block)) {
    set_thread_id(thread, grid, linear);
    code.run_thread(&thread);
  }
}

/// Takes blocks of the grid, one after the other, until there are no more, until the time has come, or until there is
/// other code for them.
class PlainLoop final : public Resident {
 public:
  PlainLoop(Grid& grid, const Code& code, std::uint32_t worker, std::uint64_t chunk, Clock::time_point until,
            std::byte* shared)
      : grid_(grid), code_(code), chunk_(chunk), until_(until) {
    block_.launch = &grid.state;
    block_.worker = worker;
    block_.runtime = static_cast<Resident*>(this);
    if (grid.state.checks) {
      checks_ = std::make_unique<BlockChecks>(grid);
      block_.checks = static_cast<CheckedBlock*>(checks_.get());
      shared = checks_->shared();
    } else if (!shared) {
      own_shared_.resize(grid.state.total_shared + shared_alignment);
      shared = aligned_shared(own_shared_.data());
    }
    block_.shared = block_.cluster_shared = shared;  // kernels that name other blocks run on fibers
    fiber_.start(stack_pool().take(std::max(grid.stack_bytes(code.info), smallest_stack)), run_blocks, this);
  }
  ~PlainLoop() {
    if (grid_.is_abandoned()) forget_variables(fiber_.stack());
    stack_pool().give_back(fiber_.drop());
  }
  PlainLoop(const PlainLoop&) = delete;
  PlainLoop& operator=(const PlainLoop&) = delete;

  /// For a turn; true if it has ended.
  bool run() {
    fiber_.resume();
    if (fiber_.fault().signal != 0) fail_with_fault(grid_, block_, nullptr, fiber_.fault());
    return fiber_.is_finished();
  }
  void lap(const void* caller) override {
    if (++laps_ < cost_model::turn_laps) return;
    laps_ = 0;
    if (grid_.is_abandoned()) {
      if (grid_.is_cancelled) fail_cancelled(reinterpret_cast<std::uintptr_t>(caller) - 1);
      Fiber::finish();
    }
    instruction_ = reinterpret_cast<std::uintptr_t>(caller) - 1;
    Fiber::suspend();
  }
  /// Where it stands while it waits for its turn.
  void fail_cancelled() { fail_cancelled(instruction_); }
  std::uint64_t taken() const { return taken_; }  ///< blocks

 private:
  static void run_blocks(void* self) { static_cast<PlainLoop*>(self)->run_blocks(); }
  void run_blocks();
  void fail_cancelled(std::uintptr_t instruction) {
    Fault fault;
    fault.signal = interrupt_signal;
    fault.instruction = instruction;
    fail_with_fault(grid_, block_, nullptr, fault);
  }

  Grid& grid_;
  const Code& code_;
  std::uint64_t chunk_;
  Clock::time_point until_;
  std::uint64_t taken_ = 0;
  std::uint32_t laps_ = 0;
  std::uintptr_t instruction_ = 0;  ///< of the host, at its last turn's end
  BlockState block_{};
  std::unique_ptr<BlockChecks> checks_;
  std::vector<std::byte> own_shared_;
  Fiber fiber_;
};

void PlainLoop::run_blocks() {
  const RunBlock run_block = code_.run_block;
  const bool is_in_order = !checker::seed() && grid_.state.cluster_size == 1;
  const bool runs_rows = code_.info.runs_rows && is_in_order;
  while ((until_ == Clock::time_point::max() || Clock::now() < until_) && !has_later_code(grid_, code_)) {
    const std::uint64_t first = grid_.next_block.fetch_add(chunk_, std::memory_order_relaxed);
    if (first >= grid_.block_count) return;
    const std::uint64_t last = std::min(first + chunk_, grid_.block_count);
    taken_ += last - first;
    for (std::uint64_t index = first; index < last; index += block_.row_blocks) {
      if (grid_.is_abandoned()) return;
      const std::uint64_t number = is_in_order ? index : shuffled_block(grid_, index);
      if (is_in_order && index != first)
        advance_block_id(block_, grid_);
      else
        set_block_id(block_, grid_, number);
      if (checks_) checks_->begin(number);
      const std::uint64_t left_of_row = std::min<std::uint64_t>(last - index, grid_.state.grid[0] - block_.block_id[0]);
      block_.row_blocks = runs_rows ? static_cast<std::uint32_t>(std::min(left_of_row, cost_model::longest_row)) : 1;
      if (run_block)
        run_block(&block_);
      else
        run_block_by_thread(grid_, code_, block_);
    }
  }
}

/// Reused from launch to launch: a fresh buffer would be cleared for nothing.
std::byte* shared_of_this_thread(const Grid& grid) {
  auto& shared = of_this_thread<std::vector<std::byte>>();
  if (shared.size() < grid.state.total_shared + shared_alignment)
    shared.resize(grid.state.total_shared + shared_alignment);
  return aligned_shared(shared.data());
}

std::uint64_t run_plain(Grid& grid, const Code& code, std::uint32_t worker, std::uint64_t chunk,
                        Clock::time_point until) {
  PlainLoop loop(grid, code, worker, chunk, until, grid.state.checks ? nullptr : shared_of_this_thread(grid));
  loop.run();
  return loop.taken();
}

/// Plain loops of code that may have to wait for other blocks. Each takes one block at a time: a block taken ahead
/// would wait while others may wait for it.
std::uint64_t run_plain_in_turns(Grid& grid, const Code& code, std::uint32_t worker) {
  std::uint64_t taken = 0;
  std::vector<std::unique_ptr<PlainLoop>> residents;
  for (Room room(grid);;) {
    if (room.enter(residents.size()))
      residents.push_back(std::make_unique<PlainLoop>(grid, code, worker, 1, Clock::time_point::max(), nullptr));
    if (residents.empty()) return taken;
    if (grid.is_abandoned()) {
      if (grid.is_cancelled) residents.front()->fail_cancelled();
      return taken;
    }
    bool some_ended = false;
    for (auto& loop : residents) {
      if (!loop->run()) continue;
      taken += loop->taken();
      loop.reset();
      room.leave();
      some_ended = true;
    }
    std::erase(residents, nullptr);
    room.note(some_ended);
  }
}

/// Until there are no more blocks, or there is other code for them and none is going.
std::uint64_t run_fibers(Grid& grid, const Code& code, std::uint32_t worker) {
  std::uint64_t taken = 0;
  const std::uint32_t size = grid.state.cluster_size;
  std::vector<std::unique_ptr<Cluster>> residents;
  Room room(grid);
  int idle_rounds = 0;
  for (;;) {
    if (grid.is_abandoned()) {
      if (grid.is_cancelled && !residents.empty()) residents.front()->fail_cancelled();
      return taken;
    }
    if (residents.empty() && has_later_code(grid, code)) return taken;
    bool is_idle = true;
    if (room.enter(residents.size())) {
      const std::uint64_t index = grid.next_block.fetch_add(size);
      if (index < grid.block_count) {
        const std::uint64_t first = size == 1 ? shuffled_block(grid, index) : index;
        residents.push_back(std::make_unique<Cluster>(grid, code, first, worker, stack_pool()));
        is_idle = false;
        taken += size;
      } else {
        room.leave();
      }
    }
    if (residents.empty()) return taken;
    bool some_ended = false;
    for (auto& cluster : residents) {
      const Cluster::Outcome outcome = cluster->run();
      if (outcome == Cluster::Outcome::Failed) return taken;
      is_idle &= outcome == Cluster::Outcome::Polling;
      if (outcome != Cluster::Outcome::Ended) continue;
      cluster.reset();
      room.leave();
      some_ended = true;
    }
    std::erase(residents, nullptr);
    room.note(some_ended);
    if (!is_idle) {
      idle_rounds = 0;
      continue;
    }
    // Everything here polls memory that another thread will write: let that run.
    if (++idle_rounds < 64)
      sched_yield();
    else
      std::this_thread::sleep_for(std::chrono::microseconds(std::min(idle_rounds - 63, 50)));
  }
}

}  // namespace

std::uint64_t run_blocks(Grid& grid, std::uint32_t worker, std::uint64_t chunk, Clock::time_point until) {
  try {
    std::uint64_t taken = 0;
    for (;;) {
      const Code& code = grid.code_now();
      const WatchedParticipant watched(grid, code);
      if (code.info.needs_fibers)
        taken += run_fibers(grid, code, worker);
      else if (code.info.counts_laps)
        return taken + run_plain_in_turns(grid, code, worker);
      else
        taken += run_plain(grid, code, worker, chunk, until);
      if (!has_later_code(grid, code) || !go_on_in_later_code(grid, code)) return taken;
    }
  } catch (const std::bad_alloc&) {
    grid.fail(ErrorCode::LaunchOutOfResources, "kernel " + *grid.kernel + ": no memory for the stacks of its threads");
    return 0;
  }
}

}  // namespace cucore::cpu::runtime
