// How threads get off a processor where another one runs: cpu/runtime/threads/placement.hpp.
#include "cpu/runtime/threads/placement.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

namespace cucore::cpu::runtime {
namespace {

cpu_set_t affinity_of(pid_t thread) {
  cpu_set_t set;
  CPU_ZERO(&set);
  EXPECT_EQ(sched_getaffinity(thread, sizeof set, &set), 0);
  return set;
}

/// A thread that says where it runs, until the end of the test.
class Runner {
 public:
  Runner()
      : thread_([this] {
          number_ = this_thread();
          while (!ends_) {
            processor_ = this_processor();
            ++looks_;
          }
        }) {
    while (number_ == 0 || processor_ == nowhere) std::this_thread::yield();
  }
  ~Runner() {
    ends_ = true;
    thread_.join();
  }
  Runner(const Runner&) = delete;
  Runner& operator=(const Runner&) = delete;

  pid_t number() const { return number_; }
  int processor() const { return processor_; }
  /// Where it runs after the call, not before it.
  int look_again() const {
    const unsigned long before = looks_;
    while (looks_ < before + 2) std::this_thread::yield();
    return processor_;
  }

 private:
  std::atomic<pid_t> number_{0};
  std::atomic<int> processor_{nowhere};
  std::atomic<unsigned long> looks_{0};
  std::atomic<bool> ends_{false};
  std::thread thread_;
};

TEST(Placement, AThreadLeavesAProcessorThatIsTakenAndKeepsItsAffinity) {
  const Runner runner;
  const cpu_set_t before = affinity_of(runner.number());
  if (CPU_COUNT(&before) < 2) GTEST_SKIP() << "needs two processors";
  constexpr int tries = 20;
  int left = 0;
  for (int i = 0; i < tries; ++i) {
    const int from = runner.processor();
    ProcessorSet taken;
    taken.add(from);
    move_off(runner.number(), taken);
    left += runner.look_again() != from ? 1 : 0;
    const cpu_set_t after = affinity_of(runner.number());
    EXPECT_TRUE(CPU_EQUAL(&before, &after));
  }
  EXPECT_GT(left, tries / 2);  // on a busy host the scheduler may have put it back at once
}

TEST(Placement, AThreadThatMayRunNowhereElseStays) {
  const Runner runner;
  const cpu_set_t before = affinity_of(runner.number());
  ProcessorSet all;
  for (int each = 0; each < CPU_SETSIZE; ++each) all.add(each);
  move_off(runner.number(), all);
  const cpu_set_t after = affinity_of(runner.number());
  EXPECT_TRUE(CPU_EQUAL(&before, &after));
}

}  // namespace
}  // namespace cucore::cpu::runtime
