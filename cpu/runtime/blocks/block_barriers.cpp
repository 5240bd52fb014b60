// Barriers of a block: who has arrived, and who goes on. See block.hpp.
#include <algorithm>

#include "cpu/runtime/blocks/block.hpp"
#include "cpu/runtime/grid/grid.hpp"

namespace cucore::cpu::runtime {

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
                                       std::uint32_t operation, std::uint32_t trues, std::uint32_t lanes) {
  Barrier& barrier = barriers_[id % barrier_count];
  barrier.true_count += trues;
  barrier.reduced += lanes;
  thread.given = operation;
  wait_at_barrier(thread, id, count);
  return static_cast<std::uint32_t>(thread.result);
}

}  // namespace cucore::cpu::runtime
