// One resident cluster: the blocks of a grid that can address each other's shared memory and wait at one barrier, run
// in turn on one thread. A launch without clusters has one block in each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cpu/runtime/blocks/block.hpp"

namespace cucore::cpu::runtime {

class Cluster {
 public:
  enum class Outcome { Ended, Polling, TurnOver, Failed };

  /// The cluster whose first block is number `first` of the grid.
  Cluster(Grid& grid, const Code& code, std::uint64_t first, std::uint32_t worker, StackPool& stacks);
  ~Cluster();
  Cluster(const Cluster&) = delete;
  Cluster& operator=(const Cluster&) = delete;

  /// Runs its blocks until all have ended, all that can run only poll, or one of them has had its turn.
  Outcome run();

  /// The failure of a grid that has run too long, with where the threads of this cluster stand.
  void fail_cancelled();

  // Called by the blocks, on the fiber of `thread` where there is one.
  void arrive(DeviceThread& thread);
  void wait(DeviceThread& thread);
  void thread_ended(const DeviceThread& thread);

  /// Null if they are not looked for.
  ClusterRaces* races() { return races_ ? &*races_ : nullptr; }

 private:
  void end_phase_if_complete();
  void report_deadlock();
  std::string standings() const;

  Grid& grid_;
  std::vector<std::byte> memory_;      ///< the shared windows of all blocks, by rank
  std::uintptr_t checked_memory_ = 0;  ///< instead, where the code is checked: with a shadow
  std::size_t checked_bytes_ = 0;
  std::optional<ClusterRaces> races_;
  std::vector<std::unique_ptr<Block>> blocks_;  ///< null where one has ended
  std::uint64_t threads_;                       ///< that have not ended
  std::uint64_t arrived_ = 0;                   ///< of those, in this phase of the barrier
  std::uint32_t phase_ = 1;
  std::vector<DeviceThread*> waiting_;
};

}  // namespace cucore::cpu::runtime
