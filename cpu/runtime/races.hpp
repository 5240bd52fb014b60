// Data races: two accesses of the same bytes by different threads, one of them a write and one of them weak, which
// nothing orders.
//
// What orders: barriers of the block, named ones too, and bar.warp.sync; and strong accesses (atomic, volatile,
// relaxed, acquire, release) of the same word, the first of them after a fence. That a fence follows the second is not
// asked for.
//
// A block counts steps. Every sync begins another one; of an access the memory keeps thread and step; and of a thread
// is known up to which step of which other threads it is ordered after them. A block runs on one OS thread, so only
// what blocks share is locked.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "cpu/codegen/kernel_abi.hpp"

namespace cucore::cpu::runtime {

struct Grid;

/// Up to which step some block's threads are known.
struct BlockView {
  std::uint32_t floor = 0;  ///< all of them
  std::map<std::uint32_t, std::uint32_t> threads;

  bool knows(std::uint32_t thread, std::uint32_t step) const;
  void join(const BlockView& other);
};
using View = std::map<std::uint32_t, BlockView>;  ///< by block

/// One access that memory remembers.
struct RaceEntry {
  std::uint32_t block = 0;
  std::uint32_t step = 0;  ///< 0: none
  std::uint32_t line = 0;
  std::uint16_t thread = 0;
  std::uint8_t bytes = 0;  ///< a bit for each of the word's
  bool is_strong = false;
};

/// Of one word of 4 bytes: the last write, and two of the reads that nothing orders.
struct RaceCell {
  RaceEntry writer;
  RaceEntry readers[2];
};

/// What the blocks of one launch share.
class LaunchRaces {
 public:
  LaunchRaces();

  struct Page {
    std::mutex mutex;
    RaceCell cells[1024];
  };
  Page& page_at(std::uint64_t address);
  static constexpr std::uint64_t kPageBytes = 4096;

  void publish(std::uint64_t word, const View& view);
  bool find_published(std::uint64_t word, View* view);

 private:
  const std::uint64_t serial_;
  std::mutex mutex_;
  std::unordered_map<std::uint64_t, std::unique_ptr<Page>> pages_;
  std::unordered_map<std::uint64_t, View> published_;
};

/// One block's.
class BlockRaces {
 public:
  explicit BlockRaces(Grid& grid);
  void begin(std::uint32_t block);

  void access(const ThreadState& thread, std::uint64_t address, std::uint32_t bytes, std::uint32_t access,
              std::uint32_t line);
  void fence(std::uint32_t thread);
  /// All threads of the block have met.
  void meet();
  /// These have, and these had arrived, at those steps.
  void meet(std::span<const std::uint32_t> threads, std::span<const std::pair<std::uint32_t, std::uint32_t>> arrivals);
  void meet_warp(std::uint32_t first, std::uint32_t lanes);
  /// A thread arrives without waiting: the step.
  std::uint32_t arrive() { return step_++; }

 private:
  struct Knowledge {
    std::map<std::uint32_t, std::uint32_t> own;  ///< of the same block's threads
    View foreign;
  };
  struct Conflict {
    RaceEntry other;
    bool other_writes = false;
  };

  bool knows(std::uint32_t thread, const RaceEntry& entry) const;
  bool update(RaceCell& cell, const RaceEntry& now, std::uint32_t access, Conflict* conflict);
  void acquire(std::uint32_t thread, std::uint64_t word, bool is_shared);
  void release(std::uint32_t thread, std::uint64_t word, bool is_shared);
  void add_finding(const ThreadState& thread, std::uint64_t address, std::uint32_t access, std::uint32_t line,
                   bool is_shared, const Conflict& conflict);

  Grid& grid_;
  LaunchRaces& launch_;
  std::uint32_t block_ = 0;
  std::uint32_t step_ = 1;
  std::uint32_t floor_ = 0;
  std::vector<std::uint32_t> warp_floors_;
  std::vector<Knowledge> threads_;
  bool knows_more_ = false;  ///< some thread, than the floors
  View foreign_;             ///< of all threads
  BlockView fenced_;         ///< of the own block, what fences have made visible
  std::vector<RaceCell> shared_;
  std::unordered_map<std::uint64_t, View> published_;  ///< by words of shared memory
};

}  // namespace cucore::cpu::runtime
