// What orders the accesses of threads: fences, releases and acquires, and barriers. See races.hpp.
#include <algorithm>

#include "cpu/runtime/checker/races.hpp"
#include "cpu/runtime/grid/grid.hpp"

namespace cucore::cpu::runtime {

namespace {

void raise(std::map<std::uint32_t, std::uint32_t>& steps, std::uint32_t thread, std::uint32_t step) {
  std::uint32_t& known = steps[thread];
  known = std::max(known, step);
}

}  // namespace

std::unordered_map<std::uint64_t, View>& BlockRaces::published() {
  return cluster_ != nullptr ? cluster_->published : published_;
}

void BlockRaces::fence(std::uint32_t thread, BlockView& makes_visible) {
  makes_visible.floor = std::max(makes_visible.floor, floor_);
  for (const auto& [other, step] : threads_[thread].own) makes_visible.raise(other, step);
  if (const std::uint32_t warp_floor = warp_floors_[thread / lanes_of_warp]; warp_floor > floor_) {
    const std::uint32_t first = thread / lanes_of_warp * lanes_of_warp;
    for (std::uint32_t other = first; other < std::min(first + lanes_of_warp, grid_.threads_per_block); ++other)
      makes_visible.raise(other, warp_floor);
  }
  makes_visible.threads[thread] = step_++;
}

void BlockRaces::release(std::uint32_t thread, std::uint64_t word, bool is_shared) {
  View view = foreign_;
  view.join(threads_[thread].foreign);
  BlockView own;
  own.floor = fenced_.floor;
  for (const auto& [other, step] : fenced_.threads) {
    RaceEntry entry{.block = block_, .step = step, .thread = static_cast<std::uint16_t>(other)};
    if (knows(thread, entry)) own.threads[other] = step;
  }
  if (own.is_empty() && view.is_empty() && cluster_ == nullptr)
    return;  // in a cluster, it says that this block has begun
  view.blocks[block_].join(own);
  if (is_shared)
    published()[word].join(view);
  else
    launch_.publish(word, view);
}

void BlockRaces::acquire(std::uint32_t thread, std::uint64_t word, bool is_shared) {
  View view;
  if (!is_shared) {
    Acquired& last = acquired_[thread];
    if (last.word != word) last = {.word = word, .times = 0, .is_open = last.is_open};
    if (!last.is_open) open_.push_back(thread);
    last.is_open = true;
    if (!launch_.find_published(word, &last.times, &view)) return;
  } else {
    const auto found = published().find(word);
    if (found == published().end()) return;
    view = found->second;
  }
  Knowledge& mine = threads_[thread];
  knows_more_ = true;
  if (const auto own = view.blocks.find(block_); own != view.blocks.end()) {
    for (const auto& [other, step] : own->second.threads) raise(mine.own, other, step);
    view.blocks.erase(own);
  }
  mine.foreign.join(view);
}

void BlockRaces::acquire_again(std::uint32_t thread) {
  Acquired& last = acquired_[thread];
  if (!last.is_open) return;
  acquire(thread, last.word, /*is_shared=*/false);
  last.is_open = false;
  std::erase(open_, thread);
}

void BlockRaces::arrive_at_cluster(std::uint32_t thread) {
  acquire_again(thread);
  ClusterView& now = cluster_->arriving;
  std::uint32_t* const steps = &now.steps[rank_ * now.threads_per_block];
  const auto raise_step = [&](std::uint32_t other, std::uint32_t step) { steps[other] = std::max(steps[other], step); };
  now.floors[rank_] = std::max(now.floors[rank_], floor_);
  const std::uint32_t first = thread / lanes_of_warp * lanes_of_warp;
  for (std::uint32_t other = first; other < std::min(first + lanes_of_warp, now.threads_per_block); ++other)
    raise_step(other, warp_floors_[thread / lanes_of_warp]);
  for (const auto& [other, step] : threads_[thread].own) raise_step(other, step);
  raise_step(thread, step_++);
  cluster_->arriving_more.join(foreign_);
  cluster_->arriving_more.join(threads_[thread].foreign);
}

void BlockRaces::leave_cluster(std::uint32_t thread) {
  threads_[thread].foreign.join(cluster_->released);
  knows_more_ = true;
}

void BlockRaces::synchronize() {
  while (!open_.empty()) acquire_again(open_.back());
  floor_ = step_++;
  if (!knows_more_) return;
  for (Knowledge& each : threads_) {
    foreign_.join(each.foreign);
    each = {};
  }
  knows_more_ = false;
}

void BlockRaces::synchronize(std::span<const std::uint32_t> threads,
                             std::span<const std::pair<std::uint32_t, std::uint32_t>> arrivals) {
  Knowledge all;
  for (const std::uint32_t thread : threads) acquire_again(thread);
  for (const auto& [thread, step] : arrivals) raise(all.own, thread, step);
  for (const std::uint32_t thread : threads) {
    for (const auto& [other, step] : threads_[thread].own) raise(all.own, other, step);
    all.foreign.join(threads_[thread].foreign);
    all.own[thread] = step_;
  }
  ++step_;
  for (const std::uint32_t thread : threads) threads_[thread] = all;
  knows_more_ = true;
}

void BlockRaces::synchronize_warp(std::uint32_t first, std::uint32_t lanes) {
  const std::uint32_t count = std::min(lanes_of_warp, grid_.threads_per_block - first);
  const std::uint32_t whole = count == lanes_of_warp ? ~0u : (1u << count) - 1;
  if ((lanes & whole) == whole && !knows_more_) {
    warp_floors_[first / lanes_of_warp] = step_++;
    return;
  }
  std::vector<std::uint32_t> threads;
  for (std::uint32_t lane = 0; lane < count; ++lane)
    if ((lanes >> lane & 1) != 0) threads.push_back(first + lane);
  synchronize(threads, {});
}

}  // namespace cucore::cpu::runtime
