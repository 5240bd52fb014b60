// The watchdog of running grids, which ends those that go on for too long, wherever their threads are. Generated code
// is left in the middle (threads/faults.hpp); the loops of the run-time look at Grid::is_abandoned.
//
// A grid is cancelled
// - when it has run for longer than CUCORE_CPU_TIMEOUT allows;
// - when Ctrl-C came while a thread of the program waited for the grid's context, and the same wait still lasts after
//   CUCORE_CPU_INTERRUPT, a second by default. One Ctrl-C is enough if Python handles it and its main thread waits:
//   that thread handles signals, and can do so only after the wait. Else the program may have its own way to end in
//   good order, and it takes two;
// - when a Python interpreter that is finalizing has waited for its context for that long.
#pragma once

#include "cpu/abi/compiler.hpp"
#include "cpu/runtime/threads/faults.hpp"

namespace cucore::cpu::runtime {

struct Grid;

/// While it stands, the calling thread runs `code` for blocks of `grid`, and the watchdog knows. The grid's time begins
/// with the first of them.
class WatchedParticipant {
 public:
  WatchedParticipant(Grid& grid, const Code& code);
  ~WatchedParticipant();
  WatchedParticipant(const WatchedParticipant&) = delete;
  WatchedParticipant& operator=(const WatchedParticipant&) = delete;

 private:
  InterruptScope scope_;
  Grid* outer_;  ///< which the thread goes on with afterwards
};

}  // namespace cucore::cpu::runtime
