// One resident block: see block.hpp.
#include "cpu/runtime/blocks/block.hpp"

#include <algorithm>
#include <bit>
#include <cstdio>
#include <new>
#include <numeric>

#include "cpu/runtime/blocks/cluster.hpp"
#include "cpu/runtime/grid/fault_reports.hpp"
#include "cpu/runtime/grid/grid.hpp"
#include "cpu/runtime/threads/faults.hpp"

namespace cucore::cpu::runtime {

namespace {

void run_thread(void* argument) {
  auto* const thread = static_cast<DeviceThread*>(argument);
  thread->block->code().run_thread(&thread->state);
}

/// The lane whose value `thread` gets, or -1 if it is out of range: the PTX ISA's definition of shfl.sync.
int source_lane(Block::WarpOperation operation, int lane, std::uint32_t lane_operand, std::uint32_t clamp_operand) {
  const int b = static_cast<int>(lane_operand & 31);
  const int clamp = static_cast<int>(clamp_operand & 31);
  const int segment = static_cast<int>((clamp_operand >> 8) & 31);
  const int highest = (lane & segment) | (clamp & ~segment);
  const int lowest = lane & segment;
  switch (operation) {
    case Block::WarpOperation::ShuffleUp:
      return lane - b >= highest ? lane - b : -1;
    case Block::WarpOperation::ShuffleDown:
      return lane + b <= highest ? lane + b : -1;
    case Block::WarpOperation::ShuffleXor:
      return (lane ^ b) <= highest ? lane ^ b : -1;
    default: {
      const int source = lowest | (b & ~segment);
      return source <= highest ? source : -1;
    }
  }
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
  const std::uint32_t turn =
      races() ? 0 : std::min(turn_switches, turn_of_thread * static_cast<std::uint32_t>(threads_.size()));
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
      if (polls_in_vain >= polls_before_yield) return Outcome::Polling;
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
  if (++laps_ < turn_laps) return;
  running_->instruction = reinterpret_cast<std::uintptr_t>(caller) - 1;
  poll(*running_);
}

Block::Barrier& Block::note_arrival(const DeviceThread& thread, std::uint32_t id, std::uint32_t count) {
  Barrier& barrier = barriers_[id % barrier_count];
  if (barrier.expected == 0) barrier.expected = count == 0 ? grid_.threads_per_block : count;
  barrier.arrived += thread.count;
  has_progressed_ = true;
  return barrier;
}

bool Block::is_complete(const Barrier& barrier) const {
  if (barrier.expected == 0) return false;
  // Exited threads count as arrived at a barrier of the whole block, once; a barrier with a thread count counts only
  // arrivals.
  std::uint32_t arrived = barrier.arrived;
  if (barrier.expected == grid_.threads_per_block && ended_ != 0) {
    const auto has_ended = [&](const auto& arrival) {
      return (ended_lanes_[arrival.first / lane_count] >> (arrival.first % lane_count) & 1) != 0;
    };
    arrived += ended_;
    arrived -= static_cast<std::uint32_t>(std::count_if(barrier.arrivals.begin(), barrier.arrivals.end(), has_ended));
  }
  return arrived >= barrier.expected;
}

void Block::release(Barrier& barrier) {
  check_barrier(barrier);
  if (BlockRaces* const races = this->races()) {
    if (barrier.expected == grid_.threads_per_block)
      races->synchronize();
    else
      races->synchronize(barrier.waiting, barrier.arrivals);
  }
  const std::uint32_t all = barrier.reduced;
  for (const std::uint32_t index : barrier.waiting) {
    DeviceThread& thread = threads_[index];
    const auto operation = static_cast<std::uint32_t>(thread.given);
    thread.result = operation == 0   ? barrier.true_count
                    : operation == 1 ? static_cast<std::uint32_t>(barrier.true_count == all)
                                     : static_cast<std::uint32_t>(barrier.true_count != 0);
    make_ready(index);
  }
  barrier = {};
}

void Block::arrive_at_barrier(const DeviceThread& thread, std::uint32_t id, std::uint32_t count) {
  Barrier& barrier = note_arrival(thread, id, count);
  BlockRaces* const races = this->races();
  barrier.arrivals.emplace_back(thread.state.linear, races != nullptr ? races->arrive() : 0);
  if (is_complete(barrier)) release(barrier);
}

void Block::wait_at_barrier(DeviceThread& thread, std::uint32_t id, std::uint32_t count) {
  Barrier& barrier = note_arrival(thread, id, count);
  barrier.waiting.push_back(index_of(thread));
  if (is_complete(barrier)) {
    release(barrier);  // this thread too: it goes on in its turn
    Fiber::suspend();
  } else {
    wait(thread, DeviceThread::Standing::AtBarrier, id);
  }
}

std::uint32_t Block::reduce_at_barrier(DeviceThread& thread, std::uint32_t id, std::uint32_t count,
                                       std::uint32_t operation, bool predicate) {
  Barrier& barrier = barriers_[id % barrier_count];
  barrier.true_count += predicate ? 1 : 0;
  ++barrier.reduced;
  thread.given = operation;
  wait_at_barrier(thread, id, count);
  return static_cast<std::uint32_t>(thread.result);
}

void Block::complete(std::uint32_t warp, const ConvergentOperation& convergent) {
  complete(warp, convergent, convergent.arrived);
}

void Block::complete(std::uint32_t warp, const ConvergentOperation& convergent, std::uint32_t members) {
  const std::uint32_t first = warp * lane_count;
  if (convergent.operation == WarpOperation::Together) {
    std::array<void*, lane_count> lanes{};
    for (std::uint32_t here = convergent.arrived; here != 0; here &= here - 1) {
      const auto lane = static_cast<std::uint32_t>(std::countr_zero(here));
      lanes[lane] = threads_[first + lane].brought;
    }
    convergent.together(lanes.data());
    return;
  }
  if (convergent.operation == WarpOperation::Sync && checks_ && checks_->races())
    checks_->races()->synchronize_warp(first, convergent.arrived);
  std::uint32_t votes = 0;
  for (std::uint32_t lanes = members; lanes != 0; lanes &= lanes - 1) {
    const auto lane = static_cast<std::uint32_t>(std::countr_zero(lanes));
    if (threads_[first + lane].given != 0) votes |= 1u << lane;
  }
  for (std::uint32_t lanes = convergent.arrived; lanes != 0; lanes &= lanes - 1) {
    const auto lane = static_cast<std::uint32_t>(std::countr_zero(lanes));
    DeviceThread& thread = threads_[first + lane];
    switch (convergent.operation) {
      case WarpOperation::Sync:
        thread.result = 0;
        break;
      case WarpOperation::All:
        thread.result = votes == members;
        break;
      case WarpOperation::Any:
        thread.result = votes != 0;
        break;
      case WarpOperation::Uniform:
        thread.result = votes == 0 || votes == members;
        break;
      case WarpOperation::Ballot:
        thread.result = votes;
        break;
      default: {
        const int source = source_lane(convergent.operation, static_cast<int>(lane), thread.lane_operand, thread.clamp);
        // A lane that does not participate has no value: undefined in PTX, 0 on GPUs and here.
        if (source >= 0) check_source_lane(thread, static_cast<std::uint32_t>(source), members);
        const bool given = source >= 0 && (members >> source & 1) != 0;
        const std::uint64_t value = given         ? threads_[first + static_cast<std::uint32_t>(source)].given
                                    : source >= 0 ? 0
                                                  : thread.given;
        thread.result = value | (static_cast<std::uint64_t>(source >= 0) << 32);
      }
    }
  }
}

std::uint64_t Block::converge_warp(DeviceThread& thread, WarpOperation operation, std::uint32_t mask,
                                   std::uint32_t value, std::uint32_t lane_operand, std::uint32_t clamp) {
  thread.given = value;
  thread.lane_operand = lane_operand;
  thread.clamp = clamp;
  ConvergentOperation convergent;
  convergent.operation = operation;
  convergent.mask = mask;
  join(thread, convergent);
  return thread.result;
}

void Block::work_together(DeviceThread& thread, Together operation, void* mine, std::uint64_t kind,
                          std::uint32_t mask) {
  thread.brought = mine;
  ConvergentOperation convergent;
  convergent.operation = WarpOperation::Together;
  convergent.mask = mask;
  convergent.together = operation;
  convergent.kind = kind;
  join(thread, convergent);
}

bool Block::converge_warpgroup(DeviceThread& thread, Together operation, void* mine, std::uint64_t kind) {
  const std::uint32_t number = index_of(thread) / warpgroup_threads;
  if (number >= warpgroups_.size()) return false;
  Warpgroup& group = warpgroups_[number];
  if (group.arrived != 0 && group.kind != kind) return false;
  has_progressed_ = true;
  thread.brought = mine;
  group.kind = kind;
  if (++group.arrived != warpgroup_threads) {
    wait(thread, DeviceThread::Standing::AtWarpgroup, 0);
    return true;
  }
  group.arrived = 0;
  const std::uint32_t first = number * warpgroup_threads;
  std::array<void*, warpgroup_threads> brought{};
  for (std::uint32_t n = 0; n < warpgroup_threads; ++n) brought[n] = threads_[first + n].brought;
  operation(brought.data());
  if (BlockRaces* const races = checks_ ? checks_->races() : nullptr) {
    // One thread may arrive for all to say that what they have read may be overwritten.
    std::array<std::uint32_t, warpgroup_threads> group_threads{};
    std::iota(group_threads.begin(), group_threads.end(), first);
    races->synchronize(group_threads, {});
  }
  for (std::uint32_t n = 0; n < warpgroup_threads; ++n) make_ready(first + n);
  Fiber::suspend();  // goes on in order
  return true;
}

void Block::join(DeviceThread& thread, const ConvergentOperation& convergent) {
  const std::uint32_t warp = thread.state.linear / lane_count;
  const std::uint32_t bit = 1u << (thread.state.linear % lane_count);
  has_progressed_ = true;
  check_mask(thread, convergent.mask);
  if ((convergent.mask & bit) == 0 && convergent.operation != WarpOperation::Together) {
    unnamed_.push_back({.linear = thread.state.linear, .convergent = convergent});
    return wait(thread, DeviceThread::Standing::AtWarp, convergent.mask);
  }
  ConvergentOperation wanted = convergent;
  wanted.mask |= bit;
  std::vector<ConvergentOperation>& waiting = convergent_[warp];
  auto found = std::find_if(waiting.begin(), waiting.end(),
                            [&](const ConvergentOperation& m) { return m.is_same(wanted) && (m.arrived & bit) == 0; });
  if (found == waiting.end()) found = waiting.insert(waiting.end(), wanted);
  found->arrived |= bit;
  const std::uint32_t awaited = found->mask & ~ended_lanes_[warp];
  if ((awaited & ~found->arrived) != 0) return wait(thread, DeviceThread::Standing::AtWarp, convergent.mask);
  const ConvergentOperation done = *found;
  waiting.erase(found);
  complete(warp, done);
  for (std::uint32_t lanes = done.arrived; lanes != 0; lanes &= lanes - 1)
    make_ready(warp * lane_count + static_cast<std::uint32_t>(std::countr_zero(lanes)));
  Fiber::suspend();  // goes on in lane order
}

std::uint32_t Block::converge(DeviceThread& thread, std::uint32_t place) {
  has_progressed_ = true;
  converging_.push_back(thread.state.linear);
  wait(thread, DeviceThread::Standing::Converging, place);
  return static_cast<std::uint32_t>(thread.result);
}

bool Block::release_converging() {
  if (converging_.empty()) return false;
  std::sort(converging_.begin(), converging_.end());
  for (const std::uint32_t linear : converging_) {
    std::uint32_t together = 0;
    for (const std::uint32_t other : converging_)
      if (other / lane_count == linear / lane_count && threads_[other].place == threads_[linear].place)
        together |= 1u << (other % lane_count);
    threads_[linear].result = together;
  }
  for (const std::uint32_t linear : converging_) make_ready(linear);
  converging_.clear();
  has_progressed_ = true;
  return true;
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

std::string Block::standings() const {
  const auto is_beside = [](const DeviceThread& one, const DeviceThread& other) {
    return one.standing == other.standing && one.place == other.place && one.instruction == other.instruction;
  };
  std::string text;
  for (std::uint32_t begin = 0; begin < threads_.size();) {
    const DeviceThread& first = threads_[begin];
    std::uint32_t end = begin + 1;
    char line[160];
    const std::uint32_t warp = first.state.linear / lane_count;
    while (end < threads_.size() && threads_[end].state.linear / lane_count == warp && is_beside(threads_[end], first))
      ++end;
    const DeviceThread& last = threads_[end - 1];
    const int length =
        std::snprintf(line, sizeof line, "  warp %u, lanes %u-%u: ", warp, first.state.linear % lane_count,
                      (last.state.linear + last.count - 1) % lane_count);
    text.append(line, static_cast<std::size_t>(length));
    switch (first.standing) {
      case DeviceThread::Standing::Ended:
        text += "ended";
        break;
      case DeviceThread::Standing::Ready:
        text += first.fiber.is_started() ? "running" : "not begun";
        break;
      case DeviceThread::Standing::AtCluster:
        text += "at the cluster's barrier";
        break;
      case DeviceThread::Standing::Converging:
        text += "at activemask, line " + std::to_string(first.place >> 8);
        break;
      case DeviceThread::Standing::InLockstep:
        text += "where lanes are kept in step, line " + std::to_string(first.place >> 8);
        break;
      case DeviceThread::Standing::AtBarrier: {
        const Barrier& barrier = barriers_[first.place % barrier_count];
        text += "at barrier " + std::to_string(first.place) + " (" + std::to_string(barrier.arrived) + " of " +
                std::to_string(barrier.expected) + " threads arrived)";
        break;
      }
      case DeviceThread::Standing::AtWarpgroup:
        text += "at wgmma (" + std::to_string(warpgroups_[begin / warpgroup_threads].arrived) + " of " +
                std::to_string(warpgroup_threads) + " threads arrived)";
        break;
      case DeviceThread::Standing::AtWarp: {
        std::snprintf(line, sizeof line, "at a warp operation with member mask 0x%08x", first.place);
        text += line;
        break;
      }
    }
    if (first.standing != DeviceThread::Standing::Ended && first.instruction != 0)
      text += place_in_words(grid_, first.instruction);
    text += '\n';
    begin = end;
  }
  return text;
}

}  // namespace cucore::cpu::runtime
