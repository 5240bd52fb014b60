// What kernels launch: see launch_tree.hpp.
#include "cpu/runtime/execution/launch_tree.hpp"

#include <algorithm>
#include <system_error>
#include <utility>

#include "cpu/runtime/checker/numbers.hpp"
#include "cpu/runtime/execution/workers.hpp"
#include "cpu/runtime/grid/grid.hpp"
#include "cpu/runtime/objects/context.hpp"
#include "cpu/runtime/objects/device.hpp"
#include "cpu/runtime/process/check_settings.hpp"
#include "cpu/runtime/process/process.hpp"

namespace cucore::cpu::runtime {

namespace {

/// Stream workers that one tree has at least, on the smallest machine: items may wait for each other.
constexpr unsigned int fewest_workers = 4;
/// And at most, if items wait: as many grids are resident at once on a GPU of any compute capability from 7.0 on.
constexpr unsigned int most_workers = 128;

}  // namespace

LaunchTree::LaunchTree(Context& context, std::shared_ptr<const ResourceEpoch> epoch)
    : context_(context), epoch_(std::move(epoch)) {}

std::shared_ptr<LaunchedItem> LaunchTree::plant(Context& context, std::shared_ptr<const ResourceEpoch> epoch) {
  auto root = std::make_shared<LaunchedItem>();
  root->tree = std::make_shared<LaunchTree>(context, std::move(epoch));
  return root;
}

std::shared_ptr<LaunchedItem> LaunchTree::plant_below(Context& context, std::shared_ptr<const ResourceEpoch> epoch) {
  auto item = std::make_shared<LaunchedItem>();
  item->parent = plant(context, std::move(epoch));
  item->tree = item->parent->tree;
  ++item->parent->open;
  return item;
}

bool LaunchTree::has_room() {
  const Result<std::size_t> limit = context_.limit(CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT);
  const std::lock_guard lock(mutex_);
  return limit && pending_ < *limit;
}

bool LaunchTree::launch(const std::shared_ptr<LaunchedItem>& parent, Order order, std::uint64_t stream, Run run) {
  if (!has_room()) return false;
  auto item = std::make_shared<LaunchedItem>();
  item->tree = shared_from_this();
  item->parent = parent;
  item->run = std::move(run);
  const std::lock_guard lock(mutex_);
  ++pending_;
  if (order == Order::Tail) {
    parent->tails.push_back(std::move(item));
    return true;
  }
  ++parent->open;
  if (order == Order::InStream) {
    Frontier& frontier = parent->made.streams[stream];
    for (const auto& before : frontier) {
      if (before->is_complete) continue;
      before->followers.push_back(item);
      ++item->awaited;
    }
    frontier = {item};
  }
  if (item->awaited == 0) make_ready(item);
  return true;
}

void LaunchTree::make_ready(const std::shared_ptr<LaunchedItem>& item) {
  ready_.push_back(item);
  changed_.notify_one();
  if (!checker::seed() && workers_ < std::max(worker_count(), fewest_workers)) call_worker();
}

void LaunchTree::call_worker() {
  try {
    run_on_stream_worker(shared_from_this());
    ++workers_;
  } catch (const std::system_error&) {
    // No thread could be started: the root's thread runs it.
  }
}

void LaunchTree::note_look(std::chrono::steady_clock::time_point look) {
  const std::lock_guard lock(mutex_);
  if (std::exchange(looked_at_, look) == look) return;
  if (std::exchange(begun_before_, begun_) != begun_ || checker::seed()) return;
  for (std::size_t waiting = ready_.size(); waiting > 0 && workers_ < most_workers; --waiting) call_worker();
}

void LaunchTree::run_next(std::unique_lock<std::mutex>& lock) {
  const std::shared_ptr<LaunchedItem> item = std::move(ready_.front());
  ready_.pop_front();
  --pending_;
  ++begun_;
  lock.unlock();
  if (context_.error() && !is_shutting_down()) item->run(item);
  item->run = nullptr;
  lock.lock();
  end_run(*item);
  // Waiting for it would never end.
  if (!context_.error())
    for (auto above = item->parent; above; above = above->parent)
      if (above->grid) above->grid->has_failed.store(true);
  close(item);
}

void LaunchTree::end_run(LaunchedItem& item) { item.made = {}; }

/// One of the things that keep it open has ended.
void LaunchTree::close(std::shared_ptr<LaunchedItem> item) {
  while (item && --item->open == 0) {
    if (!item->tails.empty()) {
      ++item->open;
      make_ready(std::exchange(item->tails.front(), nullptr));
      item->tails.pop_front();
      return;
    }
    item->is_complete = true;
    for (const auto& follower : std::exchange(item->followers, {}))
      if (--follower->awaited == 0) make_ready(follower);
    if (!item->parent) changed_.notify_all();
    item = std::exchange(item->parent, nullptr);  // a long chain of tails must not be destroyed recursively
  }
}

void LaunchTree::complete(const std::shared_ptr<LaunchedItem>& root) {
  std::unique_lock lock(mutex_);
  end_run(*root);
  close(root);
  while (!root->is_complete) {
    if (ready_.empty())
      changed_.wait(lock);
    else
      run_next(lock);
  }
}

void LaunchTree::complete_below(const std::shared_ptr<LaunchedItem>& item) {
  std::shared_ptr<LaunchedItem> root;
  {
    const std::lock_guard lock(mutex_);
    root = item->parent;
    close(item);
  }
  complete(root);
}

void LaunchTree::drain() {
  std::unique_lock lock(mutex_);
  while (!ready_.empty()) run_next(lock);
  --workers_;
}

const std::shared_ptr<LaunchedItem>& item_of(Grid& grid) {
  std::call_once(grid.item_made, [&] {
    if (grid.item) return;
    grid.item = LaunchTree::plant(*grid.context, grid.resources.epoch);
    grid.item->grid = &grid;
    grid.launches.store(grid.item->tree.get(), std::memory_order_release);
  });
  return grid.item;
}

void run_with_launches(Grid& grid) {
  const std::shared_ptr<LaunchedItem> launched = grid.item;
  if (launched) {
    const std::lock_guard lock(launched->tree->mutex());
    launched->grid = &grid;
  }
  run_grid(grid);
  if (grid.numbers) grid.numbers->finish();
  checker::finish(grid);
  if (!grid.item) return;
  {
    const std::lock_guard lock(grid.item->tree->mutex());
    grid.item->grid = nullptr;
  }
  if (!launched) grid.item->tree->complete(grid.item);
}

}  // namespace cucore::cpu::runtime
