// How many buffers there are: memory is not a driver handle, but is counted like one (cucore/process.hpp).
#pragma once

#include <atomic>
#include <cstddef>

namespace cucore::detail {

/// Those with a resource: the allocations that are to be freed.
inline std::atomic<std::size_t> live_buffers{0};

}  // namespace cucore::detail
