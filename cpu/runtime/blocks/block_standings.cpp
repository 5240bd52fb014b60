// Where the threads of a block stand, in words: for reports of deadlocks and of grids that run too long.
#include <cstdio>

#include "cpu/runtime/blocks/block.hpp"
#include "cpu/runtime/grid/fault_reports.hpp"
#include "cpu/runtime/grid/grid.hpp"

namespace cucore::cpu::runtime {

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
