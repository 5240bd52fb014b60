// The checker's reports on threads that wait for each other, from the scheduler's own state when a barrier or a
// convergent operation completes.
#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "cpu/runtime/blocks/block.hpp"
#include "cpu/runtime/grid/checker.hpp"
#include "cpu/runtime/grid/grid.hpp"
#include "cpu/runtime/process/check_settings.hpp"

namespace cucore::cpu::runtime {

namespace {

constexpr std::uint32_t line_bytes = aligned_place - 1;

std::string mask_text(std::uint32_t mask) {
  char text[16];
  std::snprintf(text, sizeof text, "0x%08x", mask);
  return text;
}

}  // namespace

void Block::check_barrier(const Barrier& barrier) {
  if (!checks_ || !checker::checks(check_class::sync_checks)) return;
  std::vector<const DeviceThread*> of_warp(threads_.size() / lane_count + 1, nullptr);
  std::vector<std::uint32_t> here(of_warp.size(), 0);
  std::vector<std::uint32_t> waiting = barrier.waiting;
  std::sort(waiting.begin(), waiting.end());  // one report, whatever the order in which they came
  for (const std::uint32_t index : waiting) {
    const DeviceThread& thread = threads_[index];
    const std::uint32_t warp = thread.state.linear / lane_count;
    here[warp] |= 1u << (thread.state.linear % lane_count);
    const DeviceThread* const first = of_warp[warp];
    if (!first) {
      of_warp[warp] = &thread;
      continue;
    }
    if (first->state.place == thread.state.place || ((first->state.place | thread.state.place) & aligned_place) == 0)
      continue;
    checker::Finding finding;
    finding.headline = "Divergent barrier: threads of one warp meet at different instructions";
    finding.line = thread.state.place & line_bytes;
    finding.details.push_back("others of warp " + std::to_string(warp) + " are at " +
                              checker::place_of(grid_, first->state.place & line_bytes));
    return checker::add(grid_, state_, &thread.state, std::move(finding));
  }
  for (std::uint32_t warp = 0; warp < here.size(); ++warp) {
    if (!of_warp[warp] || (of_warp[warp]->state.place & aligned_place) == 0) continue;
    const std::uint32_t missing = ~(here[warp] | ended_lanes_[warp]);
    if (missing == 0) continue;
    checker::Finding finding;
    finding.headline = "Divergent barrier: not all threads of a warp come to it";
    finding.line = of_warp[warp]->state.place & line_bytes;
    finding.details.push_back("lanes " + mask_text(missing) + " of warp " + std::to_string(warp) + " are elsewhere");
    return checker::add(grid_, state_, &of_warp[warp]->state, std::move(finding));
  }
}

void Block::check_deadlock(const std::string& standings) {
  if (!checks_ || !checker::checks(check_class::sync_checks)) return;
  checker::Finding finding;
  finding.headline = "Deadlock: no thread of the block can go on";
  for (const DeviceThread& thread : threads_)
    if (thread.standing == DeviceThread::Standing::AtBarrier || thread.standing == DeviceThread::Standing::AtWarp)
      finding.line = thread.state.place & line_bytes;
  for (std::size_t begin = 0; begin < standings.size();) {
    const std::size_t end = std::min(standings.find('\n', begin), standings.size());
    finding.details.push_back(standings.substr(begin, end - begin));
    begin = end + 1;
  }
  checker::add(grid_, state_, nullptr, std::move(finding));
}

void Block::check_mask(const DeviceThread& thread, std::uint32_t mask) {
  const std::uint32_t lane = thread.state.linear % lane_count;
  if (!checks_ || !checker::checks(check_class::sync_checks) || (mask >> lane & 1) != 0) return;
  checker::Finding finding;
  finding.headline = "Invalid member mask: it does not name the thread that uses it";
  finding.line = thread.state.place & line_bytes;
  finding.details.push_back("lane " + std::to_string(lane) + ", mask " + mask_text(mask));
  checker::add(grid_, state_, &thread.state, std::move(finding));
}

void Block::check_source_lane(const DeviceThread& thread, std::uint32_t source, std::uint32_t arrived) {
  if (!checks_ || !checker::checks(check_class::sync_checks) || (arrived >> source & 1) != 0) return;
  checker::Finding finding;
  finding.headline = "Inactive lane read by a shuffle";
  finding.line = thread.state.place & line_bytes;
  const std::uint32_t lane = thread.state.linear % lane_count;
  const bool ended = (ended_lanes_[thread.state.linear / lane_count] >> source & 1) != 0;
  finding.details.push_back("lane " + std::to_string(lane) + " reads lane " + std::to_string(source) +
                            (ended ? ", which has ended or never was" : ", which the mask does not name") +
                            "; lanes that take part: " + mask_text(arrived));
  checker::add(grid_, state_, &thread.state, std::move(finding));
}

}  // namespace cucore::cpu::runtime
