// The rounds of a resident block, and who waits and goes on: see block.hpp.
#include "cpu/runtime/blocks/block.hpp"

#include <algorithm>

#include "cpu/runtime/blocks/cluster.hpp"
#include "cpu/runtime/grid/fault_reports.hpp"
#include "cpu/runtime/grid/grid.hpp"
#include "cpu/runtime/process/cost_model.hpp"
#include "cpu/runtime/threads/faults.hpp"

namespace cucore::cpu::runtime {

namespace {

void run_thread(void* argument) {
  auto* const thread = static_cast<DeviceThread*>(argument);
  thread->block->code().run_thread(&thread->state);
}

}  // namespace

Block::Block(Cluster& cluster, Grid& grid, const Code& code, std::uint64_t index, std::byte* windows,
             std::uint32_t worker, StackPool& stacks)
    : cluster_(cluster), grid_(grid), code_(code), threads_of_fiber_(code.info.threads_of_fiber), stacks_(stacks) {
  state_.launch = &grid.state;
  set_block_id(state_, grid, index);
  draws_ = SeededDraws(grid, state_);
  state_.cluster_shared = windows;
  state_.shared = windows + std::size_t{grid.state.cluster_stride} * state_.cluster_rank;
  if (grid.state.checks) {
    checks_ = std::make_unique<BlockChecks>(grid, state_.shared);
    checks_->begin(index);
    state_.checks = static_cast<CheckedBlock*>(checks_.get());
    if (checks_->races()) checks_->races()->join_cluster(cluster.races(), state_.cluster_rank);
  }
  state_.worker = worker;
  state_.runtime = static_cast<Resident*>(this);
  const std::uint32_t count = grid.threads_per_block;
  const std::uint32_t warps = (count + lane_count - 1) / lane_count;
  convergent_.resize(warps);
  warpgroups_.resize(count / warpgroup_threads);
  ended_lanes_.resize(warps, 0);
  if (count % lane_count != 0) ended_lanes_.back() = ~0u << (count % lane_count);  // lanes that never were
  threads_.resize((count + threads_of_fiber_ - 1) / threads_of_fiber_);
  for (std::uint32_t place = 0; place < threads_.size(); ++place) {
    DeviceThread& thread = threads_[place];
    const std::uint32_t first = place * threads_of_fiber_;
    thread.block = this;
    thread.count = std::min(threads_of_fiber_, count - first);
    thread.state.block = &state_;
    set_thread_id(thread.state, grid, first);
    thread.state.runtime = &thread;
    ready_.push_back(place);
  }
}

Block::~Block() {
  for (DeviceThread& thread : threads_) {
    if (thread.fiber.is_started()) forget_variables(thread.fiber.stack());
    stacks_.give_back(thread.fiber.drop());
  }
}

void Block::begin_turn() {
  has_polled_ = false;
  switches_ = 0;
}

bool Block::run_round() {
  has_progressed_ = false;
  has_stepped_ = false;
  for (std::size_t left = ready_.size(); left != 0; --left) {
    if (grid_.is_abandoned() && (!goes_on_to_assertions_ || grid_.is_cancelled)) return false;
    std::swap(ready_.front(), ready_[draws_.below(left)]);
    DeviceThread& thread = threads_[ready_.front()];
    ready_.pop_front();
    if (!thread.fiber.is_started())
      thread.fiber.start(stacks_.take(grid_.stack_bytes(code_.info)), run_thread, &thread);
    running_ = &thread;
    laps_ = 0;
    ++switches_;
    thread.fiber.resume();
    if (!thread.fiber.is_finished()) continue;
    if (thread.fiber.fault().signal != 0) {
      thread.instruction = thread.fiber.fault().instruction;
      // If a grid runs too long, the cluster reports where all threads are.
      if (thread.fiber.fault().signal != interrupt_signal)
        fail_with_fault(grid_, state_, thread.count == 1 ? &thread.state : nullptr, thread.fiber.fault());
      return false;
    }
    if (grid_.is_abandoned()) forget_variables(thread.fiber.stack());
    stacks_.give_back(thread.fiber.drop());
    thread_ended(thread);
  }
  return !goes_on_to_assertions_;
}

Block::Outcome Block::run() {
  // With race checks each poll costs more than a turn would save.
  const std::uint32_t turn = races()
                                 ? 0
                                 : std::min(cost_model::turn_switches,
                                            cost_model::turn_of_thread * static_cast<std::uint32_t>(threads_.size()));
  std::size_t polls_in_vain = 0;
  // Threads that wait for lanes that may still arrive go on when only polling is left. False: there are none, or only
  // lanes that poll themselves.
  const auto release_waiting = [&] {
    const bool released = release_stepping() == Released::Others || release_converging() || release_unnamed();
    if (released) polls_in_vain = 0;
    return released;
  };
  while (!ready_.empty() || release_waiting() || !ready_.empty()) {
    if (!run_round()) return Outcome::Failed;
    if (has_progressed_) {
      polls_in_vain = 0;
    } else if (!has_stepped_ && !release_waiting()) {
      polls_in_vain += ready_.size();
      if (polls_in_vain >= cost_model::polls_before_yield) return Outcome::Polling;
    }
    if (ready_.empty() || !has_polled_ || switches_ < turn) continue;
    release_waiting();  // those that they wait for may poll for ever
    return Outcome::TurnOver;
  }
  if (ended_ == grid_.threads_per_block) return Outcome::Ended;
  if (at_cluster_ != 0) return Outcome::AtCluster;
  if (!grid_.is_abandoned()) {
    check_deadlock(standings());
    grid_.fail(ErrorCode::LaunchFailed,
               whereabouts(grid_, state_) + ": deadlock, no thread can go on:\n" + standings());
  }
  return Outcome::Failed;
}

void Block::make_ready(std::uint32_t index) {
  threads_[index].standing = DeviceThread::Standing::Ready;
  ready_.push_back(index);
}

void Block::wait(DeviceThread& thread, DeviceThread::Standing standing, std::uint32_t place) {
  thread.standing = standing;
  thread.place = place;
  Fiber::suspend();
}

void Block::wait_at_cluster(DeviceThread& thread) {
  ++at_cluster_;
  has_progressed_ = true;
  wait(thread, DeviceThread::Standing::AtCluster, 0);
}

void Block::leave_cluster_barrier(DeviceThread& thread) {
  --at_cluster_;
  has_progressed_ = true;
  make_ready(index_of(thread));
}

void Block::poll(DeviceThread& thread) {
  thread.has_polled = true;
  has_polled_ = true;
  ready_.push_back(index_of(thread));
  Fiber::suspend();
}

void Block::lap(const void* caller) {
  has_polled_ = true;
  if (++laps_ < cost_model::turn_laps) return;
  running_->instruction = reinterpret_cast<std::uintptr_t>(caller) - 1;
  poll(*running_);
}

void Block::thread_ended(DeviceThread& thread) {
  has_progressed_ = true;
  thread.standing = DeviceThread::Standing::Ended;
  ended_ += thread.count;
  cluster_.thread_ended(thread);
  const std::uint32_t warp = thread.state.linear / lane_count;
  ended_lanes_[warp] |= (~0u >> (lane_count - thread.count)) << (thread.state.linear % lane_count);
  for (Barrier& barrier : barriers_)
    if (is_complete(barrier)) release(barrier);
  std::vector<ConvergentOperation>& waiting = convergent_[warp];
  for (auto convergent = waiting.begin(); convergent != waiting.end();) {
    if ((convergent->mask & ~ended_lanes_[warp] & ~convergent->arrived) != 0) {
      ++convergent;
      continue;
    }
    const ConvergentOperation done = *convergent;
    convergent = waiting.erase(convergent);
    complete(warp, done);
    for (std::uint32_t lanes = done.arrived; lanes != 0; lanes &= lanes - 1)
      make_ready(warp * lane_count + static_cast<std::uint32_t>(std::countr_zero(lanes)));
  }
}

}  // namespace cucore::cpu::runtime
