// Deferred releases: the queue between the driver's threads, where nothing may be released, and safe points; see
// cucore/deferred_release.hpp.
#pragma once

#include <array>
#include <atomic>
#include <memory>

namespace cucore::detail {

/// What one version of a node's parameters keeps alive: at most two things, whose meaning depends on the node.
using Owners = std::array<std::shared_ptr<const void>, 2>;

/// Owners on their way through the driver. The link is for the queue, so that putting one aside allocates nothing.
struct DeferredRelease {
  Owners owners;
  DeferredRelease* next = nullptr;
};

/// Takes a DeferredRelease over. Locks nothing, allocates nothing, may run in any thread at any time: the destructor of
/// the driver's user objects.
void defer_release(void* release) noexcept;

/// Releases what is put aside; costs one load if nothing is. Call it with no lock held.
std::size_t release_deferred_now() noexcept;
extern std::atomic<DeferredRelease*> deferred_releases;
inline void safe_point() noexcept {
  if (deferred_releases.load(std::memory_order_relaxed) != nullptr) [[unlikely]] {
    release_deferred_now();
  }
}

}  // namespace cucore::detail
