// PoolFrees: the frees of a memory pool that may not have happened yet, and the destruction of a pool after them.
//
// A pool may be destroyed while frees are pending, says NVIDIA's documentation. Its driver (580.159, eight threads that
// make and destroy streams and pools) then crashes or hangs a little later. Waiting for them in a destructor is no way
// out: what they wait for may need the very thread that destroys, and a wait for a context invalidates the captures in
// it. So a pool with pending frees is set aside, and goes at the first wait or allocation after they have happened.
#pragma once

#include <cstdint>
#include <mutex>
#include <vector>

#include "src/detail/owning_handle.hpp"
#include "src/detail/stream_state.hpp"

namespace cucore::detail {

/// Thread-safe, but for moving.
class PoolFrees {
 public:
  PoolFrees() = default;
  PoolFrees(PoolFrees&& other) noexcept : last_(std::move(other.last_)) { other.last_.clear(); }
  PoolFrees& operator=(PoolFrees&&) = delete;
  ~PoolFrees();

  /// Notes that memory of the pool has been freed in `stream`, in the current context. A failure to note it leaves the
  /// destruction to the driver's word.
  void note(const StreamState& stream) noexcept;
  /// Whether all that were noted have happened.
  bool happened() noexcept;

 private:
  struct Last {
    std::uint64_t stream;  ///< id; 0 if not known
    driver::CUcontext context;
    driver::CUevent event;  ///< recorded after the last free in the stream
  };
  bool forget_happened(const driver::Table& table) noexcept;

  std::mutex mutex_;
  std::vector<Last> last_;
};

/// Destroys the pool now if the frees have happened, else later. A failure is reported, not thrown.
void destroy_after(PoolFrees frees, OwningHandle<PoolTraits> pool) noexcept;

/// Destroys the pools set aside whose frees have happened since. Called after every wait and before every allocation;
/// costs one load where there are none.
void destroy_pools_set_aside() noexcept;

}  // namespace cucore::detail
