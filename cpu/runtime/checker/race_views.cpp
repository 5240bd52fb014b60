// Which steps of other threads a thread is ordered after: see race_views.hpp.
#include "cpu/runtime/checker/race_views.hpp"

#include <algorithm>
#include <iterator>
#include <limits>

namespace cucore::cpu::runtime {

void BlockView::raise(std::uint32_t thread, std::uint32_t step) {
  std::uint32_t& known = threads[thread];
  known = std::max(known, step);
}

bool BlockView::knows(std::uint32_t thread, std::uint32_t step) const {
  if (step <= floor) return true;
  const auto found = threads.find(thread);
  return found != threads.end() && step <= found->second;
}

void BlockView::join(const BlockView& other) {
  floor = std::max(floor, other.floor);
  for (const auto& [thread, step] : other.threads) raise(thread, step);
}

bool ClusterView::knows(const RaceEntry& entry) const {
  const std::uint32_t rank = entry.block - first_block;
  if (entry.block < first_block || rank >= floors.size()) return false;
  return entry.step <= floors[rank] || entry.step <= steps[rank * threads_per_block + entry.thread];
}

bool View::knows(const RaceEntry& entry) const {
  const auto block = blocks.find(entry.owner());
  if (block != blocks.end() && block->second.knows(entry.thread, entry.step)) return true;
  if (entry.is_copy) return false;
  const auto cluster = clusters.upper_bound(entry.block);
  return cluster != clusters.begin() && std::prev(cluster)->second->knows(entry);
}

bool View::knows_of_block(std::uint32_t block) const {
  if (blocks.contains(block)) return true;
  const auto cluster = clusters.upper_bound(block);
  if (cluster == clusters.begin()) return false;
  const ClusterView& view = *std::prev(cluster)->second;
  return block - view.first_block < view.floors.size();
}

void View::join(const View& other) {
  for (const auto& [owner, view] : other.blocks) blocks[owner].join(view);
  for (const auto& [first, view] : other.clusters) {
    std::shared_ptr<const ClusterView>& mine = clusters[first];
    if (!mine || mine->phase < view->phase) mine = view;  // a later phase knows all of the earlier ones
  }
}

ClusterRaces::ClusterRaces(std::uint32_t first_block, std::uint32_t size, std::uint32_t threads_per_block)
    : blocks(size) {
  arriving.first_block = first_block;
  arriving.threads_per_block = threads_per_block;
  arriving.floors.resize(size);
  arriving.steps.resize(std::size_t{size} * threads_per_block);
}

void ClusterRaces::end_thread(std::uint32_t rank, std::uint32_t thread) {
  arriving.steps[rank * arriving.threads_per_block + thread] = std::numeric_limits<std::uint32_t>::max();
}

void ClusterRaces::end_phase() {
  ++arriving.phase;
  arriving_more.clusters[arriving.first_block] = std::make_shared<const ClusterView>(arriving);
  released = arriving_more;
}

}  // namespace cucore::cpu::runtime
