// Timer: how long the work between two points of a stream takes on the device.
//
//   cucore::Timer timer(stream);                   // records the start
//   cucore::launch(stream, config, kernel, args...);
//   timer.stop();                                  // records the end; the host does not wait
//   ...
//   float milliseconds = timer.milliseconds();     // waits for the end, the first time it is read
//
//   float same = cucore::timed(stream, [&] { cucore::launch(stream, config, kernel, args...); }).milliseconds();
//
// The two events come from the pool of the stream's device and go back when the time has been read, or when the timer
// is destroyed. Ownership: move-only; holds a reference to the stream. Thread-safety: one thread at a time.
#pragma once

#include <optional>
#include <utility>

#include "cucore/event_pool.hpp"
#include "cucore/export.hpp"
#include "cucore/stream.hpp"

namespace cucore {

class CUCORE_API Timer {
 public:
  /// Takes two timing events and records the first on `stream`. @throws DriverError
  explicit Timer(const Stream& stream);

  /// Records the end, on the stream of the start or on another of the same device. Stopping again moves the end.
  /// @throws StateError the time has been read already
  void stop();
  void stop(const Stream& stream);
  /// Whether milliseconds() would answer without waiting. @throws StateError stop() was not called
  bool is_done() const;
  /// The time between the two; waits for the end the first time (cuEventSynchronize). @throws StateError stop() was not
  /// called  @throws DriverError also for faults of the work in between
  float milliseconds();

 private:
  Stream stream_;
  PooledEvent start_;
  PooledEvent end_;
  bool stopped_ = false;
  std::optional<float> milliseconds_;
};

/// Calls `work` between the start and the stop of a timer on `stream`, and returns that timer.
template <class Work>
Timer timed(const Stream& stream, Work&& work) {
  Timer timer(stream);
  std::forward<Work>(work)();
  timer.stop();
  return timer;
}

}  // namespace cucore
