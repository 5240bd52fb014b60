// The timer: one thread of ours, started when it is first needed, that calls what is to be done later, or now and then.
#pragma once

#include <chrono>
#include <memory>
#include <optional>

namespace cucore::cpu::runtime {

/// What the timer calls.
class Timed {
 public:
  using Clock = std::chrono::steady_clock;
  /// On the timer's thread, which has others to call: it must not wait for anything. Returns when it is to be called
  /// again; nothing: no more.
  virtual std::optional<Clock::time_point> on_time() = 0;

 protected:
  Timed() = default;
  ~Timed() = default;
};

/// Has the timer call `whom` at `when`, or a little later. False: no thread could be started, and it will not be
/// called.
[[nodiscard]] bool call_at(Timed::Clock::time_point when, std::shared_ptr<Timed> whom);

}  // namespace cucore::cpu::runtime
