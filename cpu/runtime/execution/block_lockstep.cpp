// Lanes of a warp that exchange values by volatile accesses with no barrier between them: in the scalar form they wait
// for each other before each (cucpu_lockstep, cpu/analysis/flow/lockstep.hpp), and go on together here.
#include <algorithm>
#include <utility>
#include <vector>

#include "cpu/runtime/execution/block.hpp"

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

}  // namespace cucore::cpu::runtime
