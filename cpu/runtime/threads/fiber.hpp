// Stackful fibers: a function that can stop in the middle and go on later, on the thread that resumes it. The only file
// pair that knows Boost.Context and the sanitizers' fiber annotations.
//
// A fiber is resumed by one thread only. One that is dropped while suspended never runs again and nothing on its stack
// is destroyed: what runs in fibers here (generated code, the services it calls) owns nothing while it waits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace cucore::cpu::runtime {

/// Memory for one fiber, with an inaccessible guard page at its low end.
struct FiberStack {
  std::byte* low = nullptr;  ///< the guard page
  std::size_t size = 0;      ///< guard page included

  bool is_in_guard(std::uintptr_t address) const;
};

/// Where stacks come from.
struct StackMemory {
  void* (*map)(std::size_t size);  ///< whole pages, which may be read and written; null if there are none
  void (*unmap)(void* low, std::size_t size);
};
/// Before the first fiber; without it, they are anonymous memory of the process.
void set_stack_memory(const StackMemory& memory);

/// Stacks, reused for all that need no more. Not thread-safe: each thread has its own.
class StackPool {
 public:
  StackPool() = default;
  ~StackPool();
  StackPool(const StackPool&) = delete;
  StackPool& operator=(const StackPool&) = delete;

  /// A stack with at least `usable` bytes. Throws std::bad_alloc.
  FiberStack take(std::size_t usable);
  void give_back(FiberStack stack);

 private:
  std::vector<FiberStack> free_;
};

/// Why a fiber was stopped by the fault handler.
struct Fault {
  int signal = 0;  ///< 0: none
  std::uintptr_t address = 0;
  bool names_address = true;  ///< `address` is that which was accessed
  enum class Access : std::uint8_t { Unknown, Read, Write } access = Access::Unknown;
  std::uintptr_t instruction = 0;  ///< of the host
  bool is_stack_overflow = false;
};

class Fiber {
 public:
  using Body = void (*)(void* argument);

  Fiber() = default;
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;
  Fiber(Fiber&& other) noexcept { *this = std::move(other); }
  Fiber& operator=(Fiber&& other) noexcept;
  ~Fiber() { drop(); }

  /// Prepares to run `body(argument)`; does not run it yet.
  void start(FiberStack stack, Body body, void* argument);
  /// Runs until the fiber suspends, ends or faults.
  void resume();
  bool is_started() const { return stack_.low != nullptr; }
  bool is_finished() const { return finished_; }
  const Fault& fault() const { return fault_; }
  const FiberStack& stack() const { return stack_; }
  /// Forgets the run, wherever it stands; returns the stack for reuse.
  FiberStack drop();

  /// The fiber running on this thread, or null.
  static Fiber* current();
  /// Back to the resumer; returns at the next resume. Only on a fiber.
  static void suspend();
  /// Back to the resumer for good.
  [[noreturn]] static void finish();
  /// Called on the fiber's own stack by the fault handler's landing.
  [[noreturn]] static void finish_with_fault(Fiber* fiber);
  void note_fault(const Fault& fault) { fault_ = fault; }

 private:
  struct Entry;
  friend struct Entry;
  void leave(bool for_good);

  void* context_ = nullptr;  ///< where it goes on
  void* resumer_ = nullptr;  ///< where its resumer goes on
  FiberStack stack_;
  Body body_ = nullptr;
  void* argument_ = nullptr;
  bool finished_ = false;
  Fault fault_;
  Fiber* outer_ = nullptr;
  // Address sanitizer: saved fake stacks and the resumer's stack. Thread sanitizer: both contexts.
  [[maybe_unused]] void* fake_stack_ = nullptr;
  [[maybe_unused]] const void* resumer_low_ = nullptr;
  [[maybe_unused]] std::size_t resumer_size_ = 0;
  [[maybe_unused]] void* race_context_ = nullptr;
  [[maybe_unused]] void* resumer_race_context_ = nullptr;
};

/// Stacks of the calling thread, for as long as it lives.
StackPool& stack_pool();

/// Runs `body(argument)` on a fiber, to its end or its first fault, which is returned instead of ending the process.
/// Only on threads that have a signal stack: those of ours, and others while they help.
Fault call_guarded(Fiber::Body body, void* argument);

}  // namespace cucore::cpu::runtime
