// A resident: what a participant of a grid runs in turns, a block on fibers or a plain loop. BlockState::runtime points
// at it.
#pragma once

#include <cstdint>

namespace cucore::cpu::runtime {

/// A turn: for how long a resident that polls runs on while others wait for theirs (run_blocks.cpp). Long enough that
/// bringing its data back into the caches costs little.
inline constexpr std::uint32_t turn_switches = 4096;  ///< of a block on fibers: from one of its threads to another,
inline constexpr std::uint32_t turn_of_thread = 64;   ///< or for each of them, if it has few
inline constexpr std::uint32_t polls_before_yield =
    8;                                            ///< of a block that does nothing else: a chain of them may be work
inline constexpr std::uint32_t turn_laps = 1024;  ///< of a plain loop, or of one thread on a fiber

/// As many as 32 large multiprocessors hold, of whatever device: see run_blocks.cpp.
inline constexpr std::uint32_t most_stuck_threads = 65536;

class Resident {
 public:
  /// Called by the code of its block, to which it returns at `caller`: see cucpu_lap.
  virtual void lap(const void* caller) = 0;

 protected:
  Resident() = default;
  ~Resident() = default;
};

}  // namespace cucore::cpu::runtime
