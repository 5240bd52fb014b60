// The watchdog of running grids: one that runs for longer than CUCORE_CPU_TIMEOUT allows is made to fail, wherever its
// threads are. Generated code is left in the middle (threads/faults.hpp); the loops of the run-time look at
// Grid::is_abandoned.
#pragma once

#include <optional>

#include "cpu/runtime/threads/faults.hpp"

namespace cucore::cpu::runtime {

struct Grid;

/// While it stands, the calling thread runs blocks of `grid`, which is watched if the environment asks for it. The
/// grid's time begins with the first of them.
class WatchedParticipant {
 public:
  explicit WatchedParticipant(Grid& grid);
  ~WatchedParticipant();
  WatchedParticipant(const WatchedParticipant&) = delete;
  WatchedParticipant& operator=(const WatchedParticipant&) = delete;

 private:
  std::optional<InterruptScope> scope_;  ///< if it is watched
};

}  // namespace cucore::cpu::runtime
