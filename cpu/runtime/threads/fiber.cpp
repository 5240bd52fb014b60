// Stackful fibers: see fiber.hpp.
#include "cpu/runtime/threads/fiber.hpp"

#include <pthread.h>
#include <sys/mman.h>

#include <atomic>
#include <boost/context/detail/fcontext.hpp>
#include <new>

#include "cpu/abi/pages.hpp"
#include "cpu/runtime/threads/threads.hpp"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#include <sanitizer/lsan_interface.h>
#endif
#if defined(__SANITIZE_THREAD__)
#include <sanitizer/tsan_interface.h>
#endif

namespace cucore::cpu::runtime {

namespace context = boost::context::detail;

namespace {

/// Stacks kept by one thread for reuse: those of one full block of device threads and some more.
constexpr std::size_t most_kept = 2048;
/// Stacks with a guard page, in the whole process. Such a stack takes two of the mappings that a process may have
/// (65,530, as Linux is set up), others next to each other take one. The rest is for code and memory.
constexpr std::size_t most_guarded = 24576;
std::atomic<std::size_t> mapped_stacks{0};

/// Distance between the starts of neighbouring stacks: a few cache lines, coprime with the number of those that are
/// apart for a cache.
constexpr std::size_t address_shift = 5 * 64, all_shifts = 4096;

thread_local Fiber* running = nullptr;

void* map_anonymous(std::size_t size) {
  void* const low = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return low == MAP_FAILED ? nullptr : low;
}

void unmap_anonymous(void* low, std::size_t size) { munmap(low, size); }

constinit StackMemory stack_memory{map_anonymous, unmap_anonymous};

void unmap_stack(const FiberStack& stack) {
  stack_memory.unmap(stack.low, stack.size);
  --mapped_stacks;
}

#if defined(__SANITIZE_ADDRESS__)
/// The calling thread's own stack. While a fiber runs, the leak sanitizer takes the fiber's for it; what a program that
/// exits meanwhile has on the thread's own is no leak.
class ThreadStack {
 public:
  ThreadStack() {
    pthread_attr_t attributes;
    if (pthread_getattr_np(pthread_self(), &attributes) != 0) return;
    pthread_attr_getstack(&attributes, &low_, &size_);
    pthread_attr_destroy(&attributes);
    __lsan_register_root_region(low_, size_);
  }
  ~ThreadStack() {
    if (low_) __lsan_unregister_root_region(low_, size_);
  }
  ThreadStack(const ThreadStack&) = delete;
  ThreadStack& operator=(const ThreadStack&) = delete;

 private:
  void* low_ = nullptr;
  std::size_t size_ = 0;
};
#endif

}  // namespace

void set_stack_memory(const StackMemory& memory) { stack_memory = memory; }

/// The first frame of every fiber.
struct Fiber::Entry {
  static void run(context::transfer_t transfer) {
    Fiber* const self = static_cast<Fiber*>(transfer.data);
    self->resumer_ = transfer.fctx;
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_finish_switch_fiber(nullptr, &self->resumer_low_, &self->resumer_size_);
#endif
    self->body_(self->argument_);
    finish();
  }
};

bool FiberStack::is_in_guard(std::uintptr_t address) const {
  const auto begin = reinterpret_cast<std::uintptr_t>(low);
  return low && address >= begin && address < begin + page_bytes;
}

StackPool::~StackPool() {
  for (const FiberStack& stack : free_) unmap_stack(stack);
}

FiberStack StackPool::take(std::size_t usable) {
  const std::size_t size = (usable + page_bytes - 1) / page_bytes * page_bytes + page_bytes;
  while (!free_.empty()) {
    const FiberStack stack = free_.back();
    free_.pop_back();
    if (stack.size >= size) return stack;
    unmap_stack(stack);  // kernels with a smaller need came first
  }
  void* const low = stack_memory.map(size);
  if (!low) throw std::bad_alloc();
  if (++mapped_stacks <= most_guarded) (void)mprotect(low, page_bytes, PROT_NONE);
  return {static_cast<std::byte*>(low), size};
}

void StackPool::give_back(FiberStack stack) {
  if (!stack.low) return;
#if defined(__SANITIZE_ADDRESS__)
  __asan_unpoison_memory_region(stack.low + page_bytes, stack.size - page_bytes);  // frames that never returned
#endif
  if (free_.size() < most_kept)
    free_.push_back(stack);
  else
    unmap_stack(stack);
}

Fiber& Fiber::operator=(Fiber&& other) noexcept {
  if (this == &other) return *this;
  drop();
  context_ = std::exchange(other.context_, nullptr);
  stack_ = std::exchange(other.stack_, {});
  body_ = other.body_;
  argument_ = other.argument_;
  finished_ = other.finished_;
  fault_ = other.fault_;
  fake_stack_ = std::exchange(other.fake_stack_, nullptr);
  race_context_ = std::exchange(other.race_context_, nullptr);
  return *this;
}

void Fiber::start(FiberStack stack, Body body, void* argument) {
  stack_ = stack;
  body_ = body;
  argument_ = argument;
  finished_ = false;
  fault_ = {};
  fake_stack_ = nullptr;
  // Frames of equal depth on page-aligned stacks would share a few cache sets: start each stack at another line.
  const std::size_t shift = reinterpret_cast<std::uintptr_t>(stack.low) / page_bytes * address_shift % all_shifts;
  context_ = context::make_fcontext(stack.low + stack.size - shift, stack.size - shift - page_bytes, &Entry::run);
#if defined(__SANITIZE_THREAD__)
  race_context_ = __tsan_create_fiber(0);
#endif
}

void Fiber::resume() {
  outer_ = running;
  running = this;
#if defined(__SANITIZE_ADDRESS__)
  of_this_thread<ThreadStack>();
  void* fake_stack = nullptr;
  __sanitizer_start_switch_fiber(&fake_stack, stack_.low + page_bytes, stack_.size - page_bytes);
#endif
#if defined(__SANITIZE_THREAD__)
  resumer_race_context_ = __tsan_get_current_fiber();
  __tsan_switch_to_fiber(race_context_, 0);
#endif
  const context::transfer_t back = context::jump_fcontext(context_, this);
  context_ = back.fctx;
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_finish_switch_fiber(fake_stack, nullptr, nullptr);
#endif
  running = outer_;
}

void Fiber::leave(bool for_good) {
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_start_switch_fiber(for_good ? nullptr : &fake_stack_, resumer_low_, resumer_size_);
#endif
#if defined(__SANITIZE_THREAD__)
  __tsan_switch_to_fiber(resumer_race_context_, 0);
#endif
  (void)for_good;
  const context::transfer_t again = context::jump_fcontext(resumer_, this);
  resumer_ = again.fctx;
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_finish_switch_fiber(fake_stack_, &resumer_low_, &resumer_size_);
#endif
}

FiberStack Fiber::drop() {
#if defined(__SANITIZE_THREAD__)
  if (race_context_) __tsan_destroy_fiber(race_context_);
#endif
  race_context_ = nullptr;
  context_ = nullptr;
  return std::exchange(stack_, {});
}

Fiber* Fiber::current() { return running; }

void Fiber::suspend() { running->leave(false); }

void Fiber::finish() {
  running->finished_ = true;
  running->leave(true);
  __builtin_unreachable();
}

void Fiber::finish_with_fault(Fiber* fiber) {
  fiber->finished_ = true;
  fiber->leave(true);
  __builtin_unreachable();
}

StackPool& stack_pool() { return of_this_thread<StackPool>(); }

Fault call_guarded(Fiber::Body body, void* argument) {
  constexpr std::size_t stack_bytes = 64 * 1024;
  Fiber fiber;
  fiber.start(stack_pool().take(stack_bytes), body, argument);
  fiber.resume();
  const Fault fault = fiber.fault();
  stack_pool().give_back(fiber.drop());
  return fault;
}

}  // namespace cucore::cpu::runtime
