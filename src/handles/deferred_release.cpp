// Deferred releases: one list without locks, for the life of the process.
#include "src/handles/deferred_release.hpp"

#include <memory>

#include "cucore/deferred_release.hpp"
#include "src/driver/table.hpp"

namespace cucore {
namespace detail {

std::atomic<DeferredRelease*> deferred_releases{nullptr};

namespace {

std::atomic<SafePointHook> safe_point_hook{nullptr};
std::atomic<bool> is_asked_for{false};
thread_local bool is_releasing = false;

}  // namespace

void defer_release(void* release) noexcept {
  auto* const put_aside = static_cast<DeferredRelease*>(release);
  put_aside->next = deferred_releases.load(std::memory_order_relaxed);
  while (!deferred_releases.compare_exchange_weak(put_aside->next, put_aside, std::memory_order_release,
                                                  std::memory_order_relaxed)) {
  }
  const SafePointHook hook = safe_point_hook.load(std::memory_order_acquire);
  if (hook == nullptr || !driver::is_open() || is_asked_for.exchange(true)) return;
  if (!hook()) is_asked_for.store(false);
}

std::size_t release_deferred_now() noexcept {
  // Destructors may call this again; the loop below handles what they put aside.
  if (is_releasing || !driver::is_open()) return 0;
  is_releasing = true;
  is_asked_for.store(false);
  std::size_t released = 0;
  while (DeferredRelease* newest = deferred_releases.exchange(nullptr, std::memory_order_acquire)) {
    DeferredRelease* oldest = nullptr;
    while (newest != nullptr) {
      DeferredRelease* const before = newest->next;
      newest->next = oldest;
      oldest = newest;
      newest = before;
    }
    while (oldest != nullptr) {
      const std::unique_ptr<DeferredRelease> one(oldest);
      oldest = one->next;
      ++released;
    }
  }
  is_releasing = false;
  return released;
}

}  // namespace detail

std::size_t release_deferred() noexcept { return detail::release_deferred_now(); }

SafePointHook set_safe_point_hook(SafePointHook hook) noexcept { return detail::safe_point_hook.exchange(hook); }

}  // namespace cucore
