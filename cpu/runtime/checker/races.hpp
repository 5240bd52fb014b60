// Data races: two accesses of the same bytes by different threads, one of them a write and one of them weak, which
// nothing orders.
//
// What orders: barriers of the block, named ones too, those of the cluster, and bar.warp.sync; and strong accesses
// (atomic, volatile, relaxed, acquire, release) of the same word, the first of them after a fence. That a fence follows
// the second is not asked for. An atomic is ordered after those that wrote what it read, with no fence, though not
// after what their threads did before: so the block that finds itself the last one may set their counter to zero by an
// ordinary store (causality through observation, in the PTX memory model). Volatile accesses of shared memory by which
// lanes of one warp exchange values are an exception: what orders them, if nothing else does, is that lanes run in
// step.
//
// A block counts steps: every synchronisation begins another one. For each access, its thread and step are kept; for
// each thread, up to which step of the others it is ordered after them. The blocks of a cluster run on one OS
// thread, so only what clusters share is locked.
//
// What the asynchronous proxy reads in shared memory (bulk copies, wgmma) must have been made visible to it by a proxy
// fence of a thread that was ordered after the write. That the reader is ordered after this fence is not required.
//
// An asynchronous copy counts as written when it has been waited for: the thread that issued it for its group
// (PendingCopies), or any thread at the mbarrier that is told of it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "cpu/abi/kernel_abi.hpp"
#include "cpu/runtime/checker/launch_races.hpp"
#include "cpu/runtime/checker/pending_copies.hpp"
#include "cpu/runtime/checker/race_views.hpp"

namespace cucore::cpu::runtime {

struct Grid;

inline constexpr std::uint32_t lanes_of_warp = 32;

/// One block's.
class BlockRaces {
 public:
  explicit BlockRaces(Grid& grid);
  void begin(std::uint32_t block);
  /// `cluster` is null for a block whose shared memory no other block can name.
  void join_cluster(ClusterRaces* cluster, std::uint32_t rank);

  void access(const ThreadState& thread, std::uint64_t address, std::uint32_t bytes, std::uint32_t access,
              std::uint32_t line);
  /// A refused access: reports a block that has ended.
  void refused_access(const ThreadState& thread, std::uint64_t address, std::uint32_t access, std::uint32_t line);
  void fence(std::uint32_t thread) { fence(thread, fenced_); }
  void proxy_fence(std::uint32_t thread) { fence(thread, proxy_fenced_); }
  /// What a thread does about the copies that it issued.
  void copies(const ThreadState& thread, CopyStep step, std::uint32_t count);
  /// All threads of the block have synchronised.
  void synchronize();
  /// These have, and these had arrived, at those steps.
  void synchronize(std::span<const std::uint32_t> threads,
                   std::span<const std::pair<std::uint32_t, std::uint32_t>> arrivals);
  void synchronize_warp(std::uint32_t first, std::uint32_t lanes);
  /// A thread arrives without waiting: the step.
  std::uint32_t arrive() { return step_++; }
  /// A thread arrives at the barrier of the cluster, and goes on after its wait there.
  void arrive_at_cluster(std::uint32_t thread);
  void leave_cluster(std::uint32_t thread);
  /// All threads have ended, and with them the shared memory: others must have been seen to be done with it.
  void end();

 private:
  struct Knowledge {
    std::map<std::uint32_t, std::uint32_t> own;  ///< of the same block's threads
    View foreign;
  };
  /// What a thread acquired last, so that polling a word acquires only what is new there.
  /// It is looked at before the load itself. What is published between the two may be what the load finds, so the word
  /// stays open until the thread's next access or barrier, and is looked at again then.
  struct Acquired {
    std::uint64_t word = 0;
    std::uint64_t times = 0;
    bool is_open = false;
  };
  struct Conflict {
    RaceEntry other;
    bool other_writes = false;
    bool in_lockstep = false;  ///< both by lanes of one warp that count on running in step
    bool is_strong = false;    ///< both are volatile
  };
  /// Where an address lies in the shared memory of the cluster.
  struct SharedPlace {
    BlockRaces* owner = nullptr;  ///< null if that block has ended
    std::uint32_t rank = 0;
    std::uint64_t offset = 0;
  };
  /// A write of the current instruction that will be reported to an mbarrier.
  struct Undelivered {
    SharedPlace place;
    std::uint32_t bytes;
    std::uint32_t line;
  };

  /// The last access of this block's shared memory by a thread, or through an mbarrier, of another block.
  struct RemoteAccess {
    RaceEntry entry;
    std::uint32_t block = 0;
    std::uint32_t thread = 0;
    bool writes = false;
  };

  std::optional<SharedPlace> find_shared(const ThreadState& thread, std::uint64_t address);
  bool knows(std::uint32_t thread, const RaceEntry& entry) const;
  void fence(std::uint32_t thread, BlockView& makes_visible);
  /// A write that the asynchronous proxy may not see.
  bool is_unfenced(const RaceEntry& write, std::uint8_t bytes) const;
  std::optional<Conflict> conflict_with(const RaceCell& cell, const RaceEntry& now, std::uint32_t access) const;
  void remember(RaceCell& cell, const RaceEntry& now, std::uint32_t access);
  /// Calls visit(cell, bytes of it) for each word of this block's shared memory.
  template <typename Visit>
  void for_each_cell(std::uint64_t offset, std::uint32_t bytes, const Visit& visit);
  void access_shared(const ThreadState& thread, const SharedPlace& place, RaceEntry now, std::uint32_t bytes,
                     std::uint32_t access);
  /// Accesses of other blocks' shared memory.
  void access_remote(const ThreadState& thread, const SharedPlace& place, const RaceEntry& now, std::uint32_t access);
  void note_remote(const RemoteAccess& access) { remote_[{access.entry.owner(), access.entry.thread}] = access; }
  void add_remote(const BlockState& block, const ThreadState& thread, std::uint32_t line, bool writes,
                  std::uint32_t other_block, bool has_ended);
  /// The writes that wait for it belong to the mbarrier at this place.
  void deliver(std::uint32_t thread, const SharedPlace& barrier, std::uint64_t word);
  std::unordered_map<std::uint64_t, View>& published();
  void acquire(std::uint32_t thread, std::uint64_t word, bool is_shared);
  void acquire_again(std::uint32_t thread);
  void release(std::uint32_t thread, std::uint64_t word, bool is_shared);
  void add_race(const ThreadState& thread, std::uint32_t access, std::uint32_t line, bool is_shared,
                const Conflict& conflict, const std::string& place);
  void add_unfenced(const ThreadState& thread, std::uint32_t line, const RaceEntry& write, const std::string& place);
  void add_disturbance(const ThreadState& thread, std::uint32_t access, std::uint32_t line,
                       const PendingCopies::Cell& copy, const std::string& place);
  std::string spelt(const SharedPlace& place) const;

  Grid& grid_;
  LaunchRaces& launch_;
  ClusterRaces* cluster_ = nullptr;
  std::uint32_t rank_ = 0;
  std::uint32_t block_ = 0;
  std::uint32_t step_ = 1;
  std::uint32_t floor_ = 0;
  std::vector<std::uint32_t> warp_floors_;
  std::vector<Knowledge> threads_;
  std::vector<std::uint32_t> open_;  ///< threads whose word is open
  std::vector<Acquired> acquired_;   ///< by thread
  bool knows_more_ = false;          ///< some thread, than the floors
  View foreign_;                     ///< of all threads
  BlockView fenced_;                 ///< of the own block, what fences have made visible
  BlockView proxy_fenced_;           ///< what proxy fences have, to the asynchronous proxy
  std::vector<RaceCell> shared_;
  PendingCopies pending_;
  std::vector<Undelivered> undelivered_;
  std::map<std::pair<std::uint64_t, std::uint16_t>, RemoteAccess> remote_;  ///< by RaceEntry::owner and thread
  std::unordered_map<std::uint64_t, View> published_;  ///< by words of shared memory, without a cluster
};

}  // namespace cucore::cpu::runtime
