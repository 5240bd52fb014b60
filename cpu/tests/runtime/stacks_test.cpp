// Stacks of fibers, as many as a machine of many workers has.
#include <gtest/gtest.h>
#include <sys/mman.h>

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

}  // namespace

}  // namespace cucore::cpu::runtime
