// Moves threads by narrowing their affinity for a moment: see placement.hpp.
#include "cpu/runtime/threads/placement.hpp"

#include <unistd.h>

namespace cucore::cpu::runtime {

pid_t this_thread() {
  thread_local const pid_t number = gettid();
  return number;
}

int this_processor() { return sched_getcpu(); }

void move_off(pid_t thread, const ProcessorSet& taken) {
  cpu_set_t allowed;
  if (sched_getaffinity(thread, sizeof allowed, &allowed) != 0) return;
  cpu_set_t others;
  CPU_AND(&others, &allowed, &taken.bits());
  CPU_XOR(&others, &others, &allowed);
  if (CPU_COUNT(&others) == 0) return;
  if (sched_setaffinity(thread, sizeof others, &others) == 0) sched_setaffinity(thread, sizeof allowed, &allowed);
}

}  // namespace cucore::cpu::runtime
