// Which threads of the program wait in the driver, and for which context's work, for the watchdog. Beginning and ending
// a wait takes a few stores to the thread's own memory.
#pragma once

#include <cstdint>
#include <functional>

namespace cucore::cpu::runtime {

struct ThreadWait;

/// Stands while the calling thread waits for work of `whom`; nothing for a thread of ours. Not nested.
class WaitOfProgram {
 public:
  explicit WaitOfProgram(const void* whom);
  ~WaitOfProgram();
  WaitOfProgram(const WaitOfProgram&) = delete;
  WaitOfProgram& operator=(const WaitOfProgram&) = delete;

 private:
  ThreadWait* const mine_;
};

/// One wait, which has its number among those of its thread.
struct WaitSeen {
  std::uint64_t thread = 0;  ///< by numbers of this process
  std::uint64_t number = 0;
  const void* whom = nullptr;
  bool is_main_thread = false;  ///< the thread that the process began with

  friend bool operator==(const WaitSeen&, const WaitSeen&) = default;
};

/// Calls `look` with every wait there is now.
void look_at_waits(const std::function<void(const WaitSeen&)>& look);

}  // namespace cucore::cpu::runtime
