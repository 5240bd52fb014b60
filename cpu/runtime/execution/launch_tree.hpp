// What kernels launch, and what that launches: the grids and copies below one launch of the host, which is complete
// when all of them are. Thread-safe.
//
// Each item follows others (those before it in its stream) or none (fire-and-forget), and begins when they are
// complete. An item is complete when it has run and all that it launched is complete; then come its tail launches, one
// after the other, each to its end. Items that may begin are run by stream workers while their parents still go on, so
// that a kernel may wait for what it has launched, and by the thread that ran the root once that has ended. If all
// running items seem to wait, more workers are called, until as many items run at once as grids can on a GPU.
#pragma once

#include <cuda.h>

#include <array>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "cpu/runtime/grid/grid.hpp"
#include "cpu/runtime/objects/stream_workers.hpp"

namespace cucore::cpu::runtime {

class Context;
class LaunchTree;
class ResourceEpoch;
struct Grid;
struct LaunchedItem;

/// What the next item of a stream follows.
using Frontier = std::vector<std::shared_ptr<LaunchedItem>>;

/// What a kernel fills with parameters before it launches.
struct ParameterBuffer {
  std::uint64_t address = 0;
  std::vector<std::max_align_t> memory;  ///< at `address`, unless that is of the checker's heap
  std::uint64_t function = 0;            ///< of V2, and how it is to be launched
  std::array<std::uint32_t, 3> grid{};
  std::array<std::uint32_t, 3> block{};
  std::uint32_t dynamic_shared = 0;
};

/// One item: the root, which the host launched, or what a grid launched. All under the lock of its tree.
struct LaunchedItem {
  std::shared_ptr<LaunchTree> tree;
  std::shared_ptr<LaunchedItem> parent;  ///< null: the root
  std::function<void(const std::shared_ptr<LaunchedItem>&)> run;
  Grid* grid = nullptr;     ///< while it runs
  std::size_t open = 1;     ///< itself, and what it has launched that is not complete
  std::size_t awaited = 0;  ///< items before it that are not complete
  bool is_complete = false;
  std::vector<std::shared_ptr<LaunchedItem>> followers;
  std::deque<std::shared_ptr<LaunchedItem>> tails;

  /// What its threads have made; nothing once they have ended.
  struct Made {
    std::unordered_map<std::uint64_t, Frontier> streams;
    std::unordered_map<std::uint64_t, Frontier> events;
    std::unordered_map<std::uint64_t, ParameterBuffer> buffers;
    std::unordered_map<std::uint64_t, int> errors;  ///< by thread: the last one
  } made;
};

class LaunchTree final : public Drained, public ToldOfLooks, public std::enable_shared_from_this<LaunchTree> {
 public:
  LaunchTree(Context& context, std::shared_ptr<const ResourceEpoch> epoch);

  /// The root of a new tree.
  static std::shared_ptr<LaunchedItem> plant(Context& context, std::shared_ptr<const ResourceEpoch> epoch);
  /// The same with an item under the root, which runs: a graph, beside which others can be launched.
  static std::shared_ptr<LaunchedItem> plant_below(Context& context, std::shared_ptr<const ResourceEpoch> epoch);

  enum class Order { Forgotten, InStream, Tail };
  using Run = std::function<void(const std::shared_ptr<LaunchedItem>&)>;
  /// Launches what a thread of `parent` asks for; `stream`, of LaunchedItem::Made, is for Order::InStream only. False
  /// if too many wait to begin.
  bool launch(const std::shared_ptr<LaunchedItem>& parent, Order order, std::uint64_t stream, Run run);
  /// Whether one more may wait.
  bool has_room();

  /// After the root's blocks have ended: returns when all is complete.
  void complete(const std::shared_ptr<LaunchedItem>& root);
  /// The same of the item of plant_below, when it has run.
  void complete_below(const std::shared_ptr<LaunchedItem>& item);
  void drain() override;
  /// If no item has begun since the last check although some could, the running ones may wait for them: calls more
  /// workers.
  void note_look(std::chrono::steady_clock::time_point look) override;

  Context& context() const { return context_; }
  const std::shared_ptr<const ResourceEpoch>& epoch() const { return epoch_; }
  /// Guards every item of the tree.
  std::mutex& mutex() { return mutex_; }

 private:
  void call_worker();
  void make_ready(const std::shared_ptr<LaunchedItem>& item);
  void run_next(std::unique_lock<std::mutex>& lock);
  void end_run(LaunchedItem& item);
  void close(std::shared_ptr<LaunchedItem> item);

  Context& context_;
  const std::shared_ptr<const ResourceEpoch> epoch_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::shared_ptr<LaunchedItem>> ready_;
  std::size_t pending_ = 0;  ///< launched and not begun
  unsigned int workers_ = 0;
  std::size_t begun_ = 0;                              ///< so far
  std::size_t begun_before_ = 0;                       ///< at the last look
  std::chrono::steady_clock::time_point looked_at_{};  ///< then
};

/// An executable graph while it runs, for its kernels: cpu/runtime/graph has it.
class RunningGraph {
 public:
  enum class Place { Forgotten, Tail, Sibling };

  /// By which device code knows it; 0 if it was not made to be launched by device code.
  virtual std::uint64_t handle() const = 0;
  /// Launches the executable graph `exec` beside, behind or below this one. INVALID_VALUE if there is none that device
  /// code can launch.
  virtual CUresult launch(std::uint64_t exec, Place place) = 0;

 protected:
  RunningGraph() = default;
  ~RunningGraph() = default;
};

/// The item that `grid` is, which is the root of a tree if it is none yet.
const std::shared_ptr<LaunchedItem>& item_of(Grid& grid);

/// Runs a grid and all that it launches.
void run_with_launches(Grid& grid);

}  // namespace cucore::cpu::runtime
