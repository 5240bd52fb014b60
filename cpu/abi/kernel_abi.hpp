// The contract between generated code and the run-time that executes it: plain structures whose field offsets the
// code generator bakes in, and the services that generated code calls. Change it on both sides at once.
//
// Execution model of the scalar form: one device thread = one call of a function. A kernel without barriers, warp
// operations and waiting loops runs as a plain loop over the threads of a block; any other runs each device thread on a
// fiber of its own, and the services below switch fibers.
#pragma once

#include <cstddef>
#include <cstdint>

namespace cucore::cpu {

/// The most registers of a lane that one operand of a matrix instruction takes.
inline constexpr unsigned most_fragment_registers = 16;

struct CheckTable;  // checks.hpp
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
  std::uint32_t cluster[3];       ///< %cluster_nctaid: 1, 1, 1 in a launch without clusters
  std::uint32_t cluster_size;     ///< their product
  std::uint32_t cluster_stride;   ///< bytes from one block's shared window to the next one's, a multiple of 1024
  std::uint32_t names_clusters;   ///< %is_explicit_cluster
  const CheckTable* checks;       ///< of checked code, else null
  std::uint64_t graph_exec;       ///< %current_graph_exec: 0 outside of a graph that the device can launch
};

/// One running block.
struct BlockState {
  const LaunchState* launch;
  std::byte* shared;            ///< base of the block's shared window: a `.shared` address is an offset from here
  std::uint32_t block_id[3];    ///< %ctaid
  std::uint32_t worker;         ///< %smid
  void* runtime;                ///< the run-time's Resident that the block runs in (blocks/resident.hpp)
  std::byte* cluster_shared;    ///< base of the cluster's shared windows, by rank: in kernels that name other blocks, a
                                ///< `.shared` address is an offset from here
  std::uint32_t cluster_id[3];  ///< %clusterid
  std::uint32_t cluster_block_id[3];  ///< %cluster_ctaid
  std::uint32_t cluster_rank;         ///< %cluster_ctarank
  void* checks;                       ///< what the checker knows of it, if the code is checked
  std::uint32_t row_blocks;           ///< for code that runs rows: blocks on x, from this one on, to run together
};

/// One device thread.
struct ThreadState {
  const BlockState* block;
  std::uint32_t thread_id[3];  ///< %tid
  std::uint32_t linear;        ///< x + y*ntid.x + z*ntid.x*ntid.y; lane = linear % 32, warp = linear / 32
  void* runtime;               ///< its fiber; null in a plain loop
  std::uint32_t place;         ///< in checked code, PTX line of its last barrier or call, and aligned_place or not
};

/// In ThreadState::place: all threads of a warp must be at the same instruction, as bar and .aligned require.
inline constexpr std::uint32_t aligned_place = 1u << 31;

/// Compiled forms of one kernel.
/// One device thread to its end, or a warp of them (KernelInfo::threads_of_fiber); may switch fibers on the way.
using RunThread = void (*)(ThreadState*);
/// All threads of a block in a plain loop; null if fibers are needed. Code that runs rows (KernelInfo::runs_rows) takes
/// the first row of threads of `row_blocks` blocks, then the second: `block_id` says which block it is at, and in the
/// end names the last one.
using RunBlock = void (*)(BlockState*);

/// What a texture instruction names; the fields are 32-bit words, floats by their bits. Fields not used are zero.
struct TexelRequest {
  std::uint32_t coordinates[3];  ///< x, y, z; of a cube the direction
  std::uint32_t layer;
  std::uint32_t level;         ///< of .level, a float
  std::uint32_t gradients[6];  ///< of .grad: d/dx of x, y, z, then d/dy
  std::uint32_t offsets[3];    ///< texels, signed
};
inline constexpr unsigned int texel_request_words = sizeof(TexelRequest) / sizeof(std::uint32_t);

/// Bits of the `operation` of texture and surface services.
namespace texel_operation {
inline constexpr std::uint32_t dimension_mask = 3;  ///< mask: 1, 2 or 3
inline constexpr std::uint32_t layered = 1u << 2;
inline constexpr std::uint32_t cube_bit = 1u << 3;
inline constexpr std::uint32_t integer_coordinates = 1u << 4;
inline constexpr std::uint32_t level_bit = 1u << 5;
inline constexpr std::uint32_t gradient = 1u << 6;
inline constexpr std::uint32_t gather_bit = 1u << 7;  ///< one channel of four texels, in the next two bits
inline constexpr unsigned int channel_shift = 8;
inline constexpr std::uint32_t half_result = 1u << 10;
// of surfaces
inline constexpr std::uint32_t store_bit = 1u << 11;
inline constexpr std::uint32_t reduce_bit = 1u << 12;
inline constexpr std::uint32_t formatted_bit = 1u << 13;  ///< .p: coordinates in texels
inline constexpr std::uint32_t clamp_bit = 1u << 14;
inline constexpr std::uint32_t zero_bit = 1u << 15;  ///< neither: trap
inline constexpr std::uint32_t signed_bit = 1u << 16;
inline constexpr unsigned int reduction_shift = 17;  ///< three bits: add, min, max, and, or
inline constexpr unsigned int bytes_shift = 20;      ///< of the access, or of what is reduced: six bits
}  // namespace texel_operation

/// What txq and suq ask for.
enum class TexelQuery : std::uint32_t {
  Width,
  Height,
  Depth,
  ChannelDataType,
  ChannelOrder,
  NormalizedCoords,
  ArraySize,
  NumMipmapLevels,
  NumSamples,
  ForceUnnormalizedCoords,
  FilterMode,
  AddrMode0,
  AddrMode1,
  AddrMode2,
  MemoryLayout
};

/// What a processor ends a kernel for, besides what its memory refuses.
enum class KernelFault : std::uint32_t { IllegalInstruction, MisalignedAddress };

// Services: defined by cpu/runtime/execution/services.cpp with C linkage, resolved by name when generated code is
// linked. Each may abandon the calling thread (and with it the grid) by switching away for good: generated code owns
// nothing.
extern "C" {
/// bar.sync / barrier.sync `id`; `count` threads, 0 = all threads of the block. Exited threads count as arrived.
void cucpu_barrier(ThreadState*, std::uint32_t id, std::uint32_t count);
/// barrier.arrive: counts without waiting.
void cucpu_barrier_arrive(ThreadState*, std::uint32_t id, std::uint32_t count);
/// bar.red: op 0 popc, 1 and, 2 or, over `lanes` threads that come here at once, for `trues` of which it is true.
std::uint32_t cucpu_barrier_reduce(ThreadState*, std::uint32_t id, std::uint32_t count, std::uint32_t op,
                                   std::uint32_t trues, std::uint32_t lanes);
/// bar.warp.sync
void cucpu_warp_sync(ThreadState*, std::uint32_t mask);
/// shfl.sync: mode 0 up, 1 down, 2 bfly, 3 idx. Result in the low word, the predicate in bit 32.
std::uint64_t cucpu_shuffle(ThreadState*, std::uint32_t mode, std::uint32_t value, std::uint32_t lane,
                            std::uint32_t clamp, std::uint32_t mask);
/// vote.sync: mode 0 all, 1 any, 2 uni, 3 ballot.
std::uint32_t cucpu_vote(ThreadState*, std::uint32_t mode, std::uint32_t predicate, std::uint32_t mask);
/// Before a volatile access of shared memory at `place` (line and column): converged lanes of a warp go on to it
/// together, when no lane can run otherwise; of diverged lanes, those at the lowest place go first.
void cucpu_lockstep(ThreadState*, std::uint32_t place);
/// activemask: the lanes of the warp that are at the same place (line and column) when none can go on.
std::uint32_t cucpu_activemask(ThreadState*, std::uint32_t place);
/// An instruction that the lanes of `mask` execute as one: the last to arrive calls `operation(lanes)`, where lanes[n]
/// is what lane n passed as `mine`, or null if the lane is not in the mask, has exited or does not exist. Then all go
/// on. Lanes execute it together if their `operation`, `kind` and `mask` are the same.
void cucpu_warp_together(ThreadState*, void (*operation)(void* const* lanes), void* mine, std::uint64_t kind,
                         std::uint32_t mask);
/// The same for a whole warpgroup, the four warps from a multiple of four on: `threads` are its 128, none of which has
/// ended. All of them must come to the same instruction.
void cucpu_warpgroup_together(ThreadState*, void (*operation)(void* const* threads), void* mine, std::uint64_t kind);
/// barrier.cluster: `arrive` counts the thread once in a phase, `wait` returns when that phase has ended: when all
/// threads of the cluster that have not exited have arrived.
void cucpu_cluster_arrive(ThreadState*);
void cucpu_cluster_wait(ThreadState*);
/// Lets other threads of the block run: back edges of waiting loops, nanosleep.
void cucpu_yield(ThreadState*);
/// Lets other blocks run from time to time. Called once an iteration in a loop with a block barrier that ends by what
/// is read from memory: by each thread, or for some that run in lockstep.
void cucpu_lap(const BlockState*);
void cucpu_nanosleep(ThreadState*, std::uint32_t nanoseconds);
/// vprintf(format, arguments): arguments packed as CUDA packs them.
std::int32_t cucpu_vprintf(ThreadState*, const char* format, const void* arguments);
/// Comes back in a plain loop: that thread then ends, as if by `exit`.
void cucpu_assertfail(ThreadState*, const char* message, const char* file, std::uint32_t line, const char* function,
                      std::uint64_t char_size);
void cucpu_trap(ThreadState*);
/// Ends the kernel with a processor fault; `what` says why.
void cucpu_fault(ThreadState*, KernelFault, const char* what);
std::uint64_t cucpu_globaltimer();
/// Where the stack of the running device thread ends.
std::uint64_t cucpu_stack_end();
/// tex, tld4: four words into `texel`.
void cucpu_texture_fetch(ThreadState*, std::uint64_t texture, std::uint32_t operation, const TexelRequest*,
                         std::uint32_t* texel);
/// suld, sust, sured: `data` is what is loaded, stored or combined; `coordinates` are x, y, z and the layer.
void cucpu_surface_access(ThreadState*, std::uint64_t surface, std::uint32_t operation, const std::int32_t* coordinates,
                          void* data);
/// txq and suq of the level `level` (.level's operand, else 0).
std::uint32_t cucpu_texel_query(ThreadState*, std::uint64_t object, std::uint32_t is_surface, std::uint32_t query,
                                std::uint32_t level);
}

}  // namespace cucore::cpu
