// Stream workers: the threads that run streams, as many as there are streams with work, kept for reuse. And the
// deferred-work timer: one thread that checks streams with deferred work now and then.
#pragma once

#include <memory>

namespace cucore::cpu::runtime {

class Stream;

/// What has work for a stream worker.
class Drained {
 public:
  virtual void drain() = 0;

 protected:
  Drained() = default;
  ~Drained() = default;
};

/// Hands `work` to an idle thread (or a new one), which calls its drain(). Throws
/// std::system_error if there is neither.
void run_on_stream_worker(std::shared_ptr<Drained> work);

/// From now on has the timer call the stream's check_deferred_work(), until that says false.
void start_deferred_work_timer(std::shared_ptr<Stream> stream);

}  // namespace cucore::cpu::runtime
