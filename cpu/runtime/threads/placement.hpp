// Which processor of the host a thread runs on, and how a thread gets off one. Threads are never bound for good: other
// programs run on the same processors.
#pragma once

#include <sched.h>
#include <sys/types.h>

namespace cucore::cpu::runtime {

/// In place of a processor's number, for a thread that does not run.
inline constexpr int nowhere = -1;

class ProcessorSet {
 public:
  ProcessorSet() { CPU_ZERO(&set_); }
  /// nowhere is not a processor.
  void add(int processor) {
    if (processor >= 0 && processor < CPU_SETSIZE) CPU_SET(processor, &set_);
  }
  bool has(int processor) const { return processor >= 0 && processor < CPU_SETSIZE && CPU_ISSET(processor, &set_); }
  const cpu_set_t& bits() const { return set_; }

 private:
  cpu_set_t set_;
};

/// The calling thread's number, as sched_setaffinity(2) takes it.
pid_t this_thread();

/// Where the calling thread runs; it may run elsewhere the next moment.
int this_processor();

/// Makes the scheduler put `thread` on one of its other processors if it runs on, or waits for, one of `taken`. Does
/// nothing where it may run on no others, or where the host does not say. Its affinity is as before afterwards.
void move_off(pid_t thread, const ProcessorSet& taken);

}  // namespace cucore::cpu::runtime
