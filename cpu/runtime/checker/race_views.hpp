// Data races: which steps of other threads a device thread is ordered after (its view), and what blocks of a cluster
// share. See races.hpp.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <unordered_map>
#include <vector>

namespace cucore::cpu::runtime {

class BlockRaces;

/// One access that memory remembers. The write of a copy that reports to an mbarrier belongs to no thread: its "thread"
/// is the mbarrier's place in the shared memory of its block, and only threads that wait there are ordered after it.
struct RaceEntry {
  std::uint32_t block = 0;
  std::uint32_t step = 0;  ///< 0: none
  std::uint32_t line = 0;
  std::uint16_t thread = 0;
  std::uint8_t bytes = 0;  ///< a bit for each of the word's
  bool is_strong : 1 = false;
  bool is_copy : 1 = false;
  bool is_atomic : 1 = false;    ///< reads and writes at once
  bool is_generic : 1 = false;   ///< by the generic proxy, and of no copy
  bool in_lockstep : 1 = false;  ///< where lanes of a warp count on running in step

  /// Whose steps these are, in a View.
  std::uint64_t owner() const { return block | std::uint64_t{is_copy} << 32; }
};

/// Up to which step some block's threads are known.
struct BlockView {
  std::uint32_t floor = 0;  ///< all of them
  std::map<std::uint32_t, std::uint32_t> threads;

  bool is_empty() const { return floor == 0 && threads.empty(); }
  bool knows(std::uint32_t thread, std::uint32_t step) const;
  void raise(std::uint32_t thread, std::uint32_t step);
  void join(const BlockView& other);
};

/// What had happened in a cluster when a phase of its barrier ended. It never changes, so all threads share it.
struct ClusterView {
  std::uint32_t first_block = 0;
  std::uint32_t threads_per_block = 0;
  std::uint32_t phase = 0;
  std::vector<std::uint32_t> floors;  ///< by rank, of all threads
  std::vector<std::uint32_t> steps;   ///< by rank and thread

  bool knows(const RaceEntry& entry) const;
};

/// Up to which step threads of other blocks are known, and through barriers of a cluster those of the own one, too.
struct View {
  std::map<std::uint64_t, BlockView> blocks;                             ///< by RaceEntry::owner
  std::map<std::uint32_t, std::shared_ptr<const ClusterView>> clusters;  ///< by the first block

  bool is_empty() const { return blocks.empty() && clusters.empty(); }
  bool knows(const RaceEntry& entry) const;
  /// One of its steps.
  bool knows_of_block(std::uint32_t block) const;
  void join(const View& other);
};

/// What the blocks of one cluster share. They run on one OS thread.
struct ClusterRaces {
  ClusterRaces(std::uint32_t first_block, std::uint32_t size, std::uint32_t threads_per_block);

  /// An ended thread is ordered before all that come to the barrier after it.
  void end_thread(std::uint32_t rank, std::uint32_t thread);
  /// All threads have arrived.
  void end_phase();

  std::vector<BlockRaces*> blocks;                    ///< by rank; null if it has ended, or not begun
  std::unordered_map<std::uint64_t, View> published;  ///< by words of shared memory
  ClusterView arriving;                               ///< in this phase, and all before it
  View arriving_more;                                 ///< what those threads knew of others
  View released;                                      ///< by the end of the last phase
};

}  // namespace cucore::cpu::runtime
