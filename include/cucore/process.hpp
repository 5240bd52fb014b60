// What this process holds of the driver. Neither function opens it.
//
//   const LiveHandles before = live_handles();
//   work();
//   assert(live_handles() == before);  // work() left nothing behind
//
// Thread-safety: both may be called from any thread.
#pragma once

#include <cstddef>

#include "cucore/export.hpp"

namespace cucore {

/// Whether the driver is open: something needed it, the process is not exiting, and is not a forked child of the one
/// that opened it.
CUCORE_API bool driver_opened() noexcept;

/// How many driver objects cucore owns. Each is counted from when it is made or adopted until it is given back to the
/// driver or released to the caller; borrowed ones are not. An event of a pool is one, in use or not.
struct LiveHandles {
  std::size_t streams = 0;
  std::size_t events = 0;
  std::size_t buffers = 0;         ///< allocations, of any memory resource
  std::size_t memory_pools = 0;    ///< also those kept for the next resource with the same options
  std::size_t libraries = 0;       ///< loaded code; its kernels are part of it
  std::size_t green_contexts = 0;  ///< primary contexts are the driver's
  std::size_t arrays = 0;          ///< of both kinds; levels are part of their mipmapped array
  std::size_t textures = 0;
  std::size_t surfaces = 0;

  friend bool operator==(const LiveHandles&, const LiveHandles&) = default;
};

/// The counts at this moment; while other threads work, each is right by itself, but they need not be of one moment.
CUCORE_API LiveHandles live_handles() noexcept;

}  // namespace cucore
