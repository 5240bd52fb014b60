// The contract between checked code and the checker: which classes of checks there are, what a check says of an access,
// and the shadow of memory that checked code reads by itself.
//
// Checked code looks at the shadow before each access and calls a service below only where something may be wrong (or
// always, for races). A service that answers 0 has reported the access, which then does not happen: loads give zero.
#pragma once

#include <cstddef>
#include <cstdint>

namespace cucore::cpu {

struct BlockState;
struct MatrixNumbers;
struct ThreadState;

/// Classes of checks: the bits of CompileOptions::checks.
namespace check_class {
inline constexpr std::uint32_t memory_checks = 1;  ///< bounds, use after free, alignment
inline constexpr std::uint32_t race_checks = 2;
inline constexpr std::uint32_t init_checks = 4;     ///< reads of bytes that were never written
inline constexpr std::uint32_t sync_checks = 8;     ///< barriers, member masks, inactive lanes
inline constexpr std::uint32_t number_checks = 16;  ///< floating point: NaN, infinity, underflow, cancellation
/// Those of accesses and of waiting, for which code and memory are laid out otherwise.
inline constexpr std::uint32_t access_checks = memory_checks | race_checks | init_checks | sync_checks;
}  // namespace check_class

/// Bits of an `access`.
namespace check_access {
inline constexpr std::uint32_t writes_memory = 1;
inline constexpr std::uint32_t reads_memory = 2;
inline constexpr std::uint32_t is_strong = 4;               ///< volatile, relaxed, atomic: no race with another such
inline constexpr std::uint32_t acquires = 8;                ///< takes part in ordering: strong reads do
inline constexpr std::uint32_t releases = 16;               ///< strong writes do, after a fence
inline constexpr std::uint32_t own_fence = 32;              ///< .release, .acq_rel: needs no fence before it
inline constexpr std::uint32_t unchanged = 64;              ///< stores the value that is there already
inline constexpr std::uint32_t as_is = 128;                 ///< the access happens whatever the answer
inline constexpr unsigned int space_shift = 8;              ///< a CheckedSpace
inline constexpr unsigned int align_shift = 12;             ///< logarithm of the alignment
inline constexpr std::uint32_t until_waited = 1u << 17;     ///< of a copy: goes on until its group is waited for
inline constexpr std::uint32_t until_delivered = 1u << 18;  ///< until a wait at the mbarrier that it reports to
inline constexpr std::uint32_t carries = 1u << 16;          ///< of a read: its value is only copied to other variables
inline constexpr std::uint32_t async_proxy = 1u << 19;      ///< of a read of shared memory: not by the generic proxy
inline constexpr std::uint32_t is_in_lockstep = 1u << 20;   ///< lanes of one warp count on running in step
inline constexpr std::uint32_t field_mask = 15;
/// An arrival, or bytes, reported to an mbarrier.
inline constexpr std::uint32_t arrives = reads_memory | writes_memory | is_strong | releases | own_fence;
}  // namespace check_access

/// What a thread does about the copies that it issued.
enum class CopyStep : std::uint32_t { CommitGroup, WaitGroup, WaitAll, CommitBulkGroup, WaitBulkGroup };

/// Texels lie in global memory, but reports name them as such.
enum class CheckedSpace : std::uint32_t { Generic, Global, Shared, Local, Const, Texture, Surface };

/// Bytes that may be accessed.
struct CheckInterval {
  std::uint64_t begin;  ///< 0: not looked up yet
  std::uint64_t size;
};

/// What BlockState::checks points at: the intervals that accesses found last, so that the next access of the same
/// instruction need not look at the shadow. An interval stays valid as long as the block runs, so instructions may
/// share one.
struct CheckedBlock {
  static constexpr unsigned int interval_count = 256;
  CheckInterval intervals[interval_count];
};

/// A product d = a * b + c of matrices, row after row.
struct MatrixNumbers {
  std::uint32_t m, n, k;
  const double *a, *b, *c, *d;
  /// The row of b that element `column` of a stored row of a belongs to; null: the same one.
  const std::uint32_t* rows_of_b;
  unsigned bits_of_d;
};

/// What checked code needs of the checker. A granule is 8 bytes, and an address outside of the range is looked up in
/// the shadow of the range's first granule, where nothing may be accessed.
struct CheckTable {
  std::uint64_t begin;  ///< of the range that has a shadow
  std::uint64_t size;
  std::uint8_t* accessible;  ///< by granule: how many of its bytes, from the first one on, may be accessed
  std::uint8_t* written;     ///< by byte: 1 if it has been written; null unless that is checked

  // Services. `line` is the PTX line.
  /// An access that the shadow does not plainly allow, or the first of its instruction: 1 if it may happen. Whatever is
  /// known of its surroundings goes to `interval`, if that is not null.
  std::uint32_t (*memory)(const ThreadState*, CheckInterval* interval, std::uint64_t address, std::uint32_t bytes,
                          std::uint32_t access, std::uint32_t line);
  /// The same for lanes of the vector form, the first of which is the thread `first`: returns those of the mask `lanes`
  /// that may access their `addresses`.
  std::uint32_t (*lanes)(const BlockState*, CheckInterval* interval, const std::uint64_t* addresses,
                         std::uint32_t bytes, std::uint32_t access, std::uint32_t line, std::uint32_t first,
                         std::uint32_t lanes);
  /// A read of bytes that the shadow says were never written.
  void (*unwritten)(ThreadState*, std::uint64_t address, std::uint32_t bytes, std::uint32_t access, std::uint32_t line);
  void (*wrote)(std::uint64_t address, std::uint32_t bytes);
  /// Every access, if races are looked for.
  void (*race)(ThreadState*, std::uint64_t address, std::uint32_t bytes, std::uint32_t access, std::uint32_t line);
  /// An access in all classes at once, at the line that ThreadState::place has: 1 if it may happen.
  std::uint32_t (*access)(ThreadState*, std::uint64_t address, std::uint32_t bytes, std::uint32_t access);
  void (*fence)(ThreadState*);
  void (*proxy_fence)(ThreadState*);
  /// For WaitGroup and WaitBulkGroup: `count` groups may still be under way.
  void (*copies)(ThreadState*, CopyStep, std::uint32_t count);
  /// The lifetime of a thread's local variable begins (with or without a value), and ends.
  void (*enter)(std::uint64_t address, std::uint32_t bytes);
  void (*enter_unwritten)(std::uint64_t address, std::uint32_t bytes);
  void (*leave)(std::uint64_t address, std::uint32_t bytes);
  /// Numbers that may be worth a report. `place`: PTX line, and column in the high half. Operand n (the result first)
  /// of lane l stands at values + 8 * lane_count * n + l * its size, whose logarithm is in four bits of `sizes`.
  /// `first`: the thread of the first lane; `lanes`: those that it is about.
  void (*numbers)(const BlockState*, std::uint64_t place, std::uint32_t first, std::uint32_t lanes,
                  const std::byte* values, std::uint32_t lane_count, std::uint32_t sizes);
  /// A product of matrices at `line`, by a warp or warpgroup whose first thread is `first`.
  void (*products)(const BlockState*, std::uint32_t first, std::uint32_t line, const MatrixNumbers&);
  /// malloc and free of device code.
  std::uint64_t (*allocate)(ThreadState*, std::uint64_t bytes, std::uint32_t line);
  void (*release)(ThreadState*, std::uint64_t block, std::uint32_t line);
};

}  // namespace cucore::cpu
