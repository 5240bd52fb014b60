// One resident block whose threads wait for each other: a fiber per device thread, with barriers and convergent
// operations; or one per warp, of the vector form (KernelInfo::threads_of_fiber), where those are done in the code.
//
// Threads run in rounds: each that is ready when a round begins runs once in it, until it waits, polls or ends. The run
// ends when all have ended, when a round was nothing but polling, when the block has had its turn (run_blocks.cpp says
// how long that is; the participant then looks after other blocks), when the rest waits for other blocks of the
// cluster, or in a deadlock, which is reported, never waited out.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cpu/abi/compiler.hpp"
#include "cpu/abi/kernel_abi.hpp"
#include "cpu/runtime/blocks/resident.hpp"
#include "cpu/runtime/blocks/seeded_order.hpp"
#include "cpu/runtime/checker/block_checks.hpp"
#include "cpu/runtime/threads/fiber.hpp"

namespace cucore::cpu::runtime {

struct Grid;

inline constexpr std::uint32_t barrier_count = 16;
inline constexpr std::uint32_t lane_count = 32;
inline constexpr std::uint32_t warpgroup_threads = 4 * lane_count;

class Block;
class Cluster;

/// A fiber: one device thread, or a warp of them.
struct DeviceThread {
  enum class Standing : std::uint8_t {
    Ready,
    AtBarrier,
    AtWarp,
    AtWarpgroup,
    InLockstep,
    Converging,
    AtCluster,
    Ended
  };

  ThreadState state{};  ///< of the first one
  std::uint32_t count = 1;
  Fiber fiber;
  Block* block = nullptr;
  Standing standing = Standing::Ready;
  std::uint32_t place = 0;         ///< barrier number, or member mask
  std::uintptr_t instruction = 0;  ///< of the host, where it last left its code; 0 if it has not
  std::uint64_t given = 0;         ///< its operand of the convergent operation
  void* brought = nullptr;         ///< the same, of work_together()
  std::uint32_t lane_operand = 0, clamp = 0;
  std::uint64_t result = 0;         ///< of the convergent operation
  std::uint32_t cluster_phase = 0;  ///< of the cluster's barrier, in which it arrived last
  std::uint32_t last_step = 0;      ///< the lockstep point where it was last
  bool has_polled = false;          ///< since then
  bool circles = false;             ///< it polled on its way back to where it was: others go first
};

class Block final : public Resident {
 public:
  enum class Outcome { Ended, Polling, TurnOver, AtCluster, Failed };

  /// `windows`: the shared memory of the cluster's blocks.
  Block(Cluster& cluster, Grid& grid, const Code& code, std::uint64_t index, std::byte* windows, std::uint32_t worker,
        StackPool& stacks);
  ~Block();
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;

  Outcome run();
  /// An assertion has failed: threads that are ready run once more, so that theirs are said, too.
  void go_on_to_assertions() { goes_on_to_assertions_ = true; }
  /// Begins a new turn.
  void begin_turn();
  /// Whether some thread can run without waiting for other blocks.
  bool can_run() const { return !ready_.empty() || !stepping_.empty() || !converging_.empty(); }

  // Called by the services, on the fiber of `thread`.
  void wait_at_barrier(DeviceThread& thread, std::uint32_t id, std::uint32_t count);
  void arrive_at_barrier(const DeviceThread& thread, std::uint32_t id, std::uint32_t count);
  /// Operation 0 counts, 1 ands, 2 ors the predicates, of which the fiber brings `lanes`, and `trues` that are true.
  std::uint32_t reduce_at_barrier(DeviceThread& thread, std::uint32_t id, std::uint32_t count, std::uint32_t operation,
                                  std::uint32_t trues, std::uint32_t lanes);
  enum class WarpOperation : std::uint8_t {
    Sync,
    ShuffleUp,
    ShuffleDown,
    ShuffleXor,
    ShuffleIndex,
    All,
    Any,
    Uniform,
    Ballot,
    Together
  };
  std::uint64_t converge_warp(DeviceThread& thread, WarpOperation operation, std::uint32_t mask, std::uint32_t value,
                              std::uint32_t lane_operand, std::uint32_t clamp);
  /// An instruction that lanes of a warp execute as one: see cucpu_warp_together.
  using Together = void (*)(void* const* lanes);
  void work_together(DeviceThread& thread, Together operation, void* mine, std::uint64_t kind, std::uint32_t mask);
  /// The same of four whole warps; false if there are no four, or if others of their threads came to another
  /// instruction.
  bool converge_warpgroup(DeviceThread& thread, Together operation, void* mine, std::uint64_t kind);
  void poll(DeviceThread& thread);
  /// Waits until no thread of the block can do anything else; then the lanes of a warp at the lowest `place` go on
  /// together. So converged lanes stay together, and diverged ones catch up.
  void keep_in_step(DeviceThread& thread, std::uint32_t place);
  void lap(const void* caller) override;
  void wait_at_cluster(DeviceThread& thread);
  void leave_cluster_barrier(DeviceThread& thread);
  /// The lanes of the thread's warp that come to `place` while no thread of the block can do anything else.
  std::uint32_t converge(DeviceThread& thread, std::uint32_t place);

  Grid& grid() const { return grid_; }
  const Code& code() const { return code_; }
  Cluster& cluster() const { return cluster_; }
  const BlockState& state() const { return state_; }
  /// Null if they are not looked for.
  BlockRaces* races() { return checks_ ? checks_->races() : nullptr; }
  /// Where each thread stands, a line for some that stand together.
  std::string standings() const;

 private:
  struct Barrier {
    std::uint32_t expected = 0;  ///< 0: no thread is here
    std::uint32_t arrived = 0;
    std::uint32_t true_count = 0;
    std::uint32_t reduced = 0;                                      ///< device threads that brought a predicate
    std::vector<std::uint32_t> waiting;                             ///< indices of threads
    std::vector<std::pair<std::uint32_t, std::uint32_t>> arrivals;  ///< without waiting: thread, and step for races
  };
  /// A convergent operation that lanes of one warp wait for: one operation over one member mask.
  struct ConvergentOperation {
    WarpOperation operation{};
    std::uint32_t mask = 0;
    Together together = nullptr;  ///< of Together, with the kind of instruction
    std::uint64_t kind = 0;
    std::uint32_t arrived = 0;

    bool is_same(const ConvergentOperation& other) const {
      return operation == other.operation && mask == other.mask && together == other.together && kind == other.kind;
    }
  };

  /// Threads of four warps that wait for the rest at an instruction of all.
  struct Warpgroup {
    std::uint64_t kind = 0;
    std::uint32_t arrived = 0;
  };

  /// A lane that waits at an operation whose mask does not name it.
  struct Unnamed {
    std::uint32_t linear = 0;
    ConvergentOperation convergent;
  };

  Barrier& note_arrival(const DeviceThread& thread, std::uint32_t id, std::uint32_t count);
  std::uint32_t index_of(const DeviceThread& thread) const { return thread.state.linear / threads_of_fiber_; }
  bool is_complete(const Barrier& barrier) const;
  void release(Barrier& barrier);
  void wait(DeviceThread& thread, DeviceThread::Standing standing, std::uint32_t place);
  void make_ready(std::uint32_t index);
  /// Waits until all its lanes that have not ended are there, and has it completed.
  void join(DeviceThread& thread, const ConvergentOperation& convergent);
  void complete(std::uint32_t warp, const ConvergentOperation& convergent);
  /// For the lanes that have arrived, from what the lanes `members` brought.
  void complete(std::uint32_t warp, const ConvergentOperation& convergent, std::uint32_t members);
  void thread_ended(DeviceThread& thread);
  enum class Released { Nobody, WhoPolls, Others };
  Released release_stepping();
  /// False if the grid has failed.
  bool run_round();
  bool release_converging();
  /// Lanes at an operation whose mask does not name them, when no thread of the block can do anything else.
  bool release_unnamed();
  /// Those of them whose masks name lanes that are not there and cannot come any more.
  bool release_left_behind();
  // For the checker: block_sync_checks.cpp.
  void check_barrier(const Barrier& barrier);
  void check_deadlock(const std::string& standings);
  void check_mask(const DeviceThread& thread, std::uint32_t mask);
  void check_source_lane(const DeviceThread& thread, std::uint32_t source, std::uint32_t arrived);

  Cluster& cluster_;
  Grid& grid_;
  const Code& code_;
  const std::uint32_t threads_of_fiber_;
  StackPool& stacks_;
  BlockState state_{};
  std::unique_ptr<BlockChecks> checks_;  ///< of checked code
  std::vector<DeviceThread> threads_;    ///< never resized after construction: fibers hold their addresses
  std::deque<std::uint32_t> ready_;
  std::array<Barrier, barrier_count> barriers_;
  std::vector<std::vector<ConvergentOperation>> convergent_;  ///< by warp
  std::vector<Warpgroup> warpgroups_;                         ///< whole ones
  std::vector<std::uint32_t> ended_lanes_;                    ///< by warp
  std::vector<std::uint32_t> stepping_;                       ///< threads in keep_in_step()
  std::vector<std::uint32_t> converging_;                     ///< threads in converge(), in order of arrival
  std::vector<Unnamed> unnamed_;                              ///< in order of arrival
  std::uint32_t ended_ = 0;                                   ///< device threads
  std::uint32_t at_cluster_ = 0;                              ///< threads that wait at the cluster's barrier
  SeededDraws draws_;
  bool has_stepped_ = false;  ///< in this round: some thread came to where lanes are kept in step
  DeviceThread* running_ = nullptr;
  bool has_progressed_ = false;         ///< in this round: some thread did not poll
  bool has_polled_ = false;             ///< in this turn
  bool goes_on_to_assertions_ = false;  ///< one has failed: see go_on_to_assertions
  std::uint32_t switches_ = 0;          ///< to threads, in this turn
  std::uint32_t laps_ = 0;              ///< of the running thread, since it was switched to
};

}  // namespace cucore::cpu::runtime
