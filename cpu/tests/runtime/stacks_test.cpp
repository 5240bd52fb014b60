// Stacks of fibers, as many as a machine of many workers has.
#include <gtest/gtest.h>
#include <sys/mman.h>
#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/lsan_interface.h>

#include <memory>
#endif

#include <vector>

#include "cpu/runtime/threads/fiber.hpp"

namespace cucore::cpu::runtime {

namespace {

/// Linux lets a process have 65,530 mappings, of which a stack with a guard page takes two; code that is made needs
/// some.
TEST(Stacks, leave_mappings_for_what_else_needs_some) {
  constexpr std::size_t page = 4096;
  StackPool pool;
  std::vector<FiberStack> taken(40000);
  for (FiberStack& stack : taken) stack = pool.take(page);
  for (const FiberStack& stack : taken) stack.low[stack.size - 1] = std::byte{1};
  void* const pages = mmap(nullptr, 3 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(MAP_FAILED, pages);
  EXPECT_EQ(0, mprotect(static_cast<std::byte*>(pages) + page, page, PROT_READ | PROT_EXEC));
  munmap(pages, 3 * page);
  for (const FiberStack& stack : taken) pool.give_back(stack);
}

#if defined(__SANITIZE_ADDRESS__)
/// A program may exit while kernels run; what their workers own then is no leak.
TEST(Stacks, own_what_their_thread_had_before_the_fiber) {
  StackPool pool;
  std::vector<std::unique_ptr<int>> owned;
  owned.push_back(std::make_unique<int>(1));
  int leaks = -1;
  Fiber fiber;
  fiber.start(
      pool.take(64 * 1024), [](void* found) { *static_cast<int*>(found) = __lsan_do_recoverable_leak_check(); },
      &leaks);
  fiber.resume();
  EXPECT_EQ(0, leaks);
  pool.give_back(fiber.drop());
}
#endif

}  // namespace

}  // namespace cucore::cpu::runtime
