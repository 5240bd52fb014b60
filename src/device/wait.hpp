// Waiting with a time limit, for what the driver can only be asked for, or waits for without a limit.
#pragma once

#include <algorithm>
#include <chrono>
#include <thread>

namespace cucore::detail {

/// Asks `is_done` until it answers true or `timeout` has passed; returns the last answer. Asks again at once for a
/// while, then at growing intervals of at most a millisecond.
template <class IsDone>
bool wait_for(std::chrono::nanoseconds timeout, IsDone&& is_done) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point start = Clock::now();
  std::chrono::nanoseconds pause = std::chrono::microseconds(5);
  for (;;) {
    if (is_done()) return true;
    const std::chrono::nanoseconds passed = Clock::now() - start;
    if (passed >= timeout) return false;
    if (passed > std::chrono::microseconds(20)) {
      std::this_thread::sleep_for(std::min(pause, timeout - passed));
      pause = std::min<std::chrono::nanoseconds>(pause * 2, std::chrono::milliseconds(1));
    }
  }
}

}  // namespace cucore::detail
