// Convergent operations: what lanes of a warp, or the threads of a warpgroup, do as one when all have come. See
// block.hpp.
#include <algorithm>
#include <array>
#include <bit>
#include <numeric>

#include "cpu/runtime/blocks/block.hpp"

namespace cucore::cpu::runtime {

namespace {

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

}  // namespace cucore::cpu::runtime
