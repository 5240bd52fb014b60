// A resident: what a participant of a grid runs in turns, a block on fibers or a plain loop. BlockState::runtime points
// at it.
#pragma once

namespace cucore::cpu::runtime {

class Resident {
 public:
  /// Called by the code of its block, to which it returns at `caller`: see cucpu_lap.
  virtual void lap(const void* caller) = 0;

 protected:
  Resident() = default;
  ~Resident() = default;
};

}  // namespace cucore::cpu::runtime
