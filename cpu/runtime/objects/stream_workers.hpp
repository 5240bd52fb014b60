// Stream workers: the threads that run streams, as many as there are streams with work, kept for reuse.
#pragma once

#include <memory>

namespace cucore::cpu::runtime {

/// What has work for a stream worker.
class Drained {
 public:
  virtual void drain() = 0;

 protected:
  Drained() = default;
  ~Drained() = default;
};

/// Hands `work` to an idle thread (or a new one), which calls its drain(). Throws std::system_error if there is
/// neither.
void run_on_stream_worker(std::shared_ptr<Drained> work);

}  // namespace cucore::cpu::runtime
