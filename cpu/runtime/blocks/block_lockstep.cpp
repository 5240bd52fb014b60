// Lanes of a warp that count on running in step. Those that exchange values by volatile accesses with no barrier
// between them wait in the scalar form for each other before each (cucpu_lockstep, cpu/analysis/lanes/lockstep.hpp),
// and go on together here. So do those at an operation whose mask names others only, as `__ballot_sync(lanes below, p)`
// does: undefined in CUDA, but converged lanes of a GPU come to it together, and each gets what the lanes that it names
// brought. Where the lanes that it names have met without them and are waiting further on, each goes on with what an
// operation of no lanes gives: what it gets counts for nothing, as in a `__shfl_down_sync(lanes of the data, v, n)` by
// all lanes of the warp, but the others wait for it at the next barrier.
#include <algorithm>
#include <bit>
#include <map>
#include <utility>
#include <vector>

#include "cpu/runtime/blocks/block.hpp"

namespace cucore::cpu::runtime {

void Block::keep_in_step(DeviceThread& thread, std::uint32_t place) {
  has_stepped_ = true;
  thread.circles = thread.has_polled && place <= thread.last_step;
  thread.has_polled = false;
  thread.last_step = place;
  stepping_.push_back(index_of(thread));
  wait(thread, DeviceThread::Standing::InLockstep, place);
}

Block::Released Block::release_stepping() {
  Released released = Released::Nobody;
  std::sort(stepping_.begin(), stepping_.end());
  std::vector<std::uint32_t> left;
  for (auto first = stepping_.begin(); first != stepping_.end();) {
    const auto last =
        std::find_if(first, stepping_.end(), [&](auto other) { return other / lane_count != *first / lane_count; });
    const auto turn = [&](std::uint32_t index) {
      const DeviceThread& thread = threads_[index];
      // Polling threads may wait for any of the others, which then go first; the order among the polling ones does not
      // matter.
      return std::pair(thread.circles, thread.circles ? 0 : thread.place);
    };
    const auto next = turn(*std::min_element(first, last, [&](auto a, auto b) { return turn(a) < turn(b); }));
    released = std::max(released, next.first ? Released::WhoPolls : Released::Others);
    for (; first != last; ++first) {
      if (turn(*first) == next)
        make_ready(*first);
      else
        left.push_back(*first);
    }
  }
  stepping_ = std::move(left);
  return released;
}

bool Block::release_unnamed() {
  bool released = false;
  for (std::uint32_t warp = 0; warp < convergent_.size() && !unnamed_.empty(); ++warp) {
    const auto is_of_warp = [&](const Unnamed& one) { return one.linear / lane_count == warp; };
    // By operation, the lanes of the warp that wait at it, whatever masks they have.
    std::map<WarpOperation, std::uint32_t> here;
    for (const Unnamed& one : unnamed_)
      if (is_of_warp(one)) here[one.convergent.operation] |= 1u << one.linear % lane_count;
    if (here.empty()) continue;
    for (const ConvergentOperation& other : convergent_[warp])
      if (const auto found = here.find(other.operation); found != here.end()) found->second |= other.arrived;
    const auto go_on = [&](ConvergentOperation convergent) {
      const auto found = here.find(convergent.operation);
      if (found == here.end() || (convergent.mask & ~ended_lanes_[warp] & ~found->second) != 0) return false;
      complete(warp, convergent, convergent.mask & found->second);
      for (std::uint32_t lanes = convergent.arrived; lanes != 0; lanes &= lanes - 1)
        make_ready(warp * lane_count + static_cast<std::uint32_t>(std::countr_zero(lanes)));
      return released = true;
    };
    std::erase_if(convergent_[warp], go_on);
    std::erase_if(unnamed_, [&](Unnamed one) {
      one.convergent.arrived = 1u << one.linear % lane_count;
      return is_of_warp(one) && go_on(one.convergent);
    });
  }
  if (!released && ready_.empty()) released = release_left_behind();
  has_progressed_ |= released;
  return released;
}

bool Block::release_left_behind() {
  if (unnamed_.empty()) return false;
  for (const std::vector<Unnamed> left = std::exchange(unnamed_, {}); const Unnamed& one : left) {
    ConvergentOperation convergent = one.convergent;
    convergent.arrived = 1u << one.linear % lane_count;
    complete(one.linear / lane_count, convergent, 0);
    make_ready(one.linear);
  }
  return true;
}

}  // namespace cucore::cpu::runtime
