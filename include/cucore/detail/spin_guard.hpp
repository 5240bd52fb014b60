// SpinGuard: for sections of a few instructions that are entered once per object made or lent, where a mutex would cost
// as much as the rest: one atomic exchange to take it and a plain store to give it back. A thread that finds it taken
// spins for a moment, then sleeps, since the holder may have lost its processor.
#pragma once

#include <atomic>
#include <chrono>
#include <thread>

namespace cucore::detail {

class SpinGuard {
 public:
  explicit SpinGuard(std::atomic<bool>& lock) noexcept : lock_(lock) {
    if (lock_.exchange(true, std::memory_order_acquire)) [[unlikely]] {
      wait(lock_);
    }
  }
  ~SpinGuard() { lock_.store(false, std::memory_order_release); }
  SpinGuard(const SpinGuard&) = delete;
  SpinGuard& operator=(const SpinGuard&) = delete;

 private:
  // Static, so that no guard needs an address: it lives in registers.
  [[gnu::cold, gnu::noinline]] static void wait(std::atomic<bool>& lock) noexcept {
    for (int tries = 0;; ++tries) {
      if (!lock.load(std::memory_order_relaxed) && !lock.exchange(true, std::memory_order_acquire)) return;
      if (tries > 100) std::this_thread::sleep_for(std::chrono::microseconds(20));
    }
  }

  std::atomic<bool>& lock_;
};

}  // namespace cucore::detail
