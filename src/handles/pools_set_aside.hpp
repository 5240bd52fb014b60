// PoolsSetAside: memory pools without references, between their last free and their destruction.
//
// A pool may be destroyed while frees are pending, says NVIDIA's documentation. Its driver (580.159) then crashes or
// hangs a little later, where several threads make and destroy pools and streams, and does so even when events recorded
// after the frees have been reached; only after a wait for the context it does not (bench/results/pool-destroy-*.txt).
// A destructor must not wait like that: it would invalidate the captures in the context, and the work it waits for may
// need the very thread that waits. So on a GPU a pool that was freed into is set aside, is given to the next
// resource that needs such a pool, or is destroyed after the next wait for the context.
#pragma once

#include <cstdint>
#include <vector>

#include "src/handles/owning_handle.hpp"

namespace cucore::detail {

/// A pool that cucore made or imported; empty if there is none.
struct OwnedPool {
  OwningHandle<PoolTraits> handle;
  std::vector<OwningHandle<PoolTraits>> imported_again = {};  ///< the same handle, once for every further import
  driver::CUmemPoolProps properties{};
  std::vector<ContextHandle> freed_in = {};  ///< contexts in which frees may be pending
};

/// Destroys the pool where that can be done at once, else sets it aside. Failures are reported, not thrown.
void set_aside(OwnedPool pool) noexcept;

/// A pool set aside with these properties; an empty one if there is none, and for a pool that other processes may know.
OwnedPool take_set_aside(const driver::CUmemPoolProps& properties) noexcept;

/// The pool set aside that has this handle; an empty one if there is none.
OwnedPool take_set_aside(driver::CUmemoryPool handle) noexcept;

/// Around a wait for a context: destroys the pools that were set aside before the wait began and freed nowhere else.
class DestroyPoolsAfterWait {
 public:
  DestroyPoolsAfterWait() noexcept;
  /// To be called once the wait for `context` has succeeded.
  void waited_for(ContextHandle context) const noexcept;

 private:
  std::uint64_t begun_;
};

/// Gives the memory of pools set aside back to the system, as far as it is free. After any wait; costs one load where
/// there are none.
void trim_pools_set_aside() noexcept;

}  // namespace cucore::detail
