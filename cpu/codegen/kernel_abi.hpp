// The contract between generated code and the run-time that executes it: plain structures whose field offsets the
// code generator bakes in, and the services that generated code calls. Change it on both sides at once.
//
// Execution model of the reference form ("stage 0"): one device thread = one call of a function. A kernel without
// barriers, warp operations and waiting loops runs as a plain loop over the threads of a block; any other runs each
// device thread on a fiber of its own, and the services below switch fibers.
#pragma once

#include <cstddef>
#include <cstdint>

namespace cucore::cpu {

struct ThreadState;

/// What is the same for every thread of a launch. Read-only while the launch runs.
struct LaunchState {
  const std::byte* params;        ///< parameter block, laid out as the .entry declares, 16-byte aligned
  std::uint32_t grid[3];          ///< %nctaid
  std::uint32_t block[3];         ///< %ntid
  std::uint32_t dynamic_shared;   ///< bytes
  std::uint32_t total_shared;     ///< static + dynamic, bytes
  std::uint64_t grid_id;          ///< %gridid
  std::uint64_t grid_workspace;   ///< %envreg1 (high half), %envreg2 (low): zeroed words of grid-wide barriers
  std::uint32_t multiprocessors;  ///< %nsmid
  void* runtime;                  ///< the run-time's own launch object
};

/// One running block.
struct BlockState {
  const LaunchState* launch;
  std::byte* shared;          ///< base of the block's shared window: a `.shared` address is an offset from here
  std::uint32_t block_id[3];  ///< %ctaid
  std::uint32_t worker;       ///< %smid
  void* runtime;              ///< the scheduler of this block
};

/// One device thread.
struct ThreadState {
  const BlockState* block;
  std::uint32_t thread_id[3];  ///< %tid
  std::uint32_t linear;        ///< x + y*ntid.x + z*ntid.x*ntid.y; lane = linear % 32, warp = linear / 32
  void* runtime;               ///< its fiber; null in a plain loop
};

/// Compiled forms of one kernel.
using RunThread = void (*)(ThreadState*);      ///< one device thread to its end (may switch fibers on the way)
using RunBlock = void (*)(const BlockState*);  ///< all threads of a block in a plain loop; null if fibers are needed

// Services: defined by cpu/runtime/services.cpp with C linkage, resolved by name when generated code is linked.
// Each may abandon the calling thread (and with it the grid) by switching away for good: generated code owns nothing.
extern "C" {
/// bar.sync / barrier.sync `id`; `count` threads, 0 = all threads of the block. Exited threads count as arrived.
void cucpu_barrier(ThreadState*, std::uint32_t id, std::uint32_t count);
/// barrier.arrive: counts without waiting.
void cucpu_barrier_arrive(ThreadState*, std::uint32_t id, std::uint32_t count);
/// bar.red: op 0 popc, 1 and, 2 or.
std::uint32_t cucpu_barrier_reduce(ThreadState*, std::uint32_t id, std::uint32_t count, std::uint32_t op,
                                   std::uint32_t predicate);
/// bar.warp.sync
void cucpu_warp_sync(ThreadState*, std::uint32_t mask);
/// shfl.sync: mode 0 up, 1 down, 2 bfly, 3 idx. Result in the low word, the predicate in bit 32.
std::uint64_t cucpu_shuffle(ThreadState*, std::uint32_t mode, std::uint32_t value, std::uint32_t lane,
                            std::uint32_t clamp, std::uint32_t mask);
/// vote.sync: mode 0 all, 1 any, 2 uni, 3 ballot.
std::uint32_t cucpu_vote(ThreadState*, std::uint32_t mode, std::uint32_t predicate, std::uint32_t mask);
/// activemask: the lanes of the warp that stand at the same place (line and column) when none can go on.
std::uint32_t cucpu_activemask(ThreadState*, std::uint32_t place);
/// An instruction of a whole warp: the last lane to come calls `operation(lanes)`, where lanes[n] is what lane n
/// brought
/// (`mine`), or null if it has ended, and then all go on. Lanes meet if their `operation` and `kind` are the same.
void cucpu_warp_together(ThreadState*, void (*operation)(void* const* lanes), void* mine, std::uint64_t kind);
/// Lets other threads of the block run: back edges of waiting loops, nanosleep.
void cucpu_yield(ThreadState*);
void cucpu_nanosleep(ThreadState*, std::uint32_t nanoseconds);
/// vprintf(format, arguments): arguments packed as CUDA packs them.
std::int32_t cucpu_vprintf(ThreadState*, const char* format, const void* arguments);
void cucpu_assertfail(ThreadState*, const char* message, const char* file, std::uint32_t line, const char* function,
                      std::uint64_t char_size);
void cucpu_trap(ThreadState*);
std::uint64_t cucpu_globaltimer();
}

}  // namespace cucore::cpu
